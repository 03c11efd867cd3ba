/*
 * lockstep.c - random histories of every operation on filters of every shape, compared with the
 * exact model of model.h.
 */
#include "history.h"

enum
{
	HISTORIES = 2,
	OPERATIONS = 50
};

static void
run_history(const void *arg)
{
	const shape *s = arg;

	for (uint64_t i = check_rounds(HISTORIES); i > 0; i--)
	{
		history h;

		driven_numbers = check_chance(50);
		history_start(&h, s, check_chance(50) ? 0 : check_random());
		for (int op = 0; op < OPERATIONS; op++)
			history_operate(&h);
		model_check(&h.model, &h.filter);
		history_free(&h);
	}
}

/* Two filters of merges of unlike shapes. */
static void
run_merges(const void *arg)
{
	const shape *shapes = arg;

	for (uint64_t i = check_rounds(400); i > 0; i--)
	{
		history h;
		shape a = shapes[check_below(4)], b = shapes[check_below(4)];

		a.set = check_chance(30);
		b.set = check_chance(30);
		driven_numbers = check_chance(50);
		history_start(&h, &a, check_random());
		for (uint64_t n = check_below(4); n > 0; n--)
			history_add_new(&h);
		if (check_chance(50))
			history_add_again(&h);
		history_merge(&h, check_chance(50), &b);
		for (uint64_t n = check_below(3); n > 0; n--)
		{
			shape other = history_unlike(&b, check_chance(30));

			history_merge(&h, check_chance(50), &other);
		}
		model_check(&h.model, &h.filter);
		if (!h.model.set)
			history_remove_some(&h);
		history_rehouse(&h, check_chance(50) ? CKF_GROW : CKF_COMPACT);
		history_add_new(&h);
		model_check(&h.model, &h.filter);
		history_free(&h);
	}
}

/* One item over and over: 2 b copies, then saturated for good. */
static void
run_saturation(const void *arg)
{
	shape s = *(const shape *)arg;

	for (uint64_t i = check_rounds(20); i > 0; i--)
	{
		history h;
		uint64_t hash = history_hash(&s);

		history_start(&h, &s, 0);
		for (uint64_t n = check_below(3); n > 0; n--)
			history_add_new(&h);
		for (unsigned n = 0; n < 2U * s.bucket_size + 3; n++)
			history_add(&h, hash);
		for (unsigned n = 0; n < 2U * s.bucket_size + 3; n++)
			history_remove(&h, hash);
		history_rehouse(&h, CKF_GROW);
		model_check(&h.model, &h.filter);
		history_free(&h);
	}
}

static const struct
{
	int64_t capacity;
	double fpr;
	unsigned burst;
} targets[] = {{1, 0.5, 30},
			   {10, 0.01, 60},
			   {300, 0.3, 300},
			   {1000, 0.01, 800},
			   {20000, 0.001, 1500},
			   {5000, 1e-6, 1500},
			   {1 << 20, 0.05, 1500},
			   {1000000000, 0.001, 1500},
			   {INT64_C(1) << 40, 0x1p-15, 1500}};

static const struct
{
	const char *name;
	bool plain;
	uint8_t bucket_size;
} layouts[] = {{"semi-sorted", false, 4},
			   {"plain b=2", true, 2},
			   {"plain b=4", true, 4},
			   {"plain b=8", true, 8}};

static const char *const source_names[] = {"uniform", "clustered", "sequential"};

/* Where ROUNDS is for less than one history of each shape: a sample of the shapes. */
static bool
in_sample(void)
{
	uint64_t percent = check_rounds(100 * HISTORIES);

	return percent >= 100 || check_chance((unsigned)percent);
}

int
main(void)
{
	shape mixed[4];

	check_begin("core lockstep");
	for (size_t l = 0; l < 4; l++)
	{
		for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
			for (unsigned variant = 0; variant < 6; variant++)
			{
				shape s = {targets[t].capacity, targets[t].fpr,         variant % 2 == 1,
						   layouts[l].plain,    layouts[l].bucket_size, (source)(variant / 2),
						   targets[t].burst};

				if (in_sample())
					check_case(run_history, &s, "%s %s, capacity %lld, fpr %g, %s", layouts[l].name,
							   s.set ? "set" : "deletable", (long long)s.capacity, s.fpr,
							   source_names[s.from]);
			}
		mixed[l] =
			(shape){5000, 0.01, false, layouts[l].plain, layouts[l].bucket_size, UNIFORM, 700};
		check_case(run_saturation, &mixed[l], "saturation, %s", layouts[l].name);
	}
	check_case(run_merges, mixed, "merges of unlike shapes");
	return check_end();
}
