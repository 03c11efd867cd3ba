/*
 * promises.c - the parameters of a rebuild's result, compared with those that FORMAT.md,
 * section 8, gives for its inputs.  Each parameter of each input is drawn independently.
 */
#include "drive.h"

#include "filter/geometry.h"
#include "filter/header.h"
#include "rebuild/goal.h"

#include <string.h>

enum
{
	MOST = 4
};

static const ckf_goal goals[] = {CKF_GROW,         CKF_COMPACT,    CKF_UNION,       CKF_SUM,
								 CKF_INTERSECT,    CKF_COMPARE,    CKF_ADD_MANY,    CKF_REMOVE_MANY,
								 CKF_FINISH,       CKF_FINISH_FED, CKF_MERGE_UNION, CKF_MERGE_SUM,
								 CKF_FINISH_UNION, CKF_FINISH_SUM};

/* Whether the result of the goal is a set, whatever the inputs are. */
static bool
makes_set(ckf_goal goal)
{
	return goal == CKF_UNION || goal == CKF_INTERSECT || goal == CKF_COMPARE ||
		   goal == CKF_MERGE_UNION || goal == CKF_FINISH_UNION;
}

static bool
compares(ckf_goal goal)
{
	return goal == CKF_INTERSECT || goal == CKF_COMPARE;
}

static bool
merges(ckf_goal goal)
{
	return goal == CKF_MERGE_UNION || goal == CKF_MERGE_SUM || goal == CKF_FINISH_UNION ||
		   goal == CKF_FINISH_SUM;
}

static bool
has_items(const ckf_filter *in)
{
	return in->count > 0;
}

/* A filter of which only what a promise reads is set. */
static void
draw_input(ckf_filter *in, const uint8_t *bytes)
{
	static const double rates[] = {0.5, 0.05, 0.01, 1e-4, 1e-9};

	CHECK(ckf_open(in, bytes, CKF_HEADER_SIZE, CKF_STORED) == CKF_OK, "open");
	in->count = check_chance(70) ? 1 + check_below(3) : 0;
	in->seed = check_chance(80) ? 5 : check_below(8);
	in->capacity = 1 + (int64_t)check_below(4);
	in->fpr = rates[check_below(5)];
	in->c = ckf_low_bits(in->fpr);
	in->b = (uint8_t)(2 << check_below(3));
	in->w = check_chance(40) ? 64 : (uint8_t)(20 + check_below(4)); /* also of an emptied table */
	in->flags = (check_chance(30) ? CKF_FLAG_SET : 0) | (check_chance(30) ? CKF_FLAG_PLAIN : 0);
	in->item_classes = 0;
	while (in->count > 0 && in->item_classes == 0)
		for (unsigned bit = 0; bit < 7; bit++)
			in->item_classes |= (uint8_t)(check_chance(25) << bit);
	if ((in->item_classes & CKF_ITEM_HASH) && check_chance(30))
		in->item_classes |= CKF_ITEM_OLD;
	in->format = in->item_classes & CKF_ITEM_OLD ? 1 : 2;
}

/* The classes that items of both filters may have. */
static uint8_t
shared_classes(const ckf_filter *a, const ckf_filter *b)
{
	uint8_t classes = 0;

	for (unsigned bit = 0; bit < 7; bit++)
	{
		unsigned one = 1U << bit;
		bool in_a = a->item_classes & one, in_b = b->item_classes & one;
		bool any_a = a->item_classes & CKF_ITEM_HASH, any_b = b->item_classes & CKF_ITEM_HASH;

		if (one == CKF_ITEM_HASH ? in_a && in_b : (in_a && (in_b || any_b)) || (in_b && any_a))
			classes |= (uint8_t)one;
	}
	if (classes & CKF_ITEM_HASH)
		classes |= (a->item_classes | b->item_classes) & CKF_ITEM_OLD;
	return classes;
}

/* The expected result. */
static ckf_status
expect(ckf_filter *to, ckf_goal goal, const ckf_filter *in, unsigned n)
{
	bool any_items = false, started = false;
	uint64_t seed = 0;

	memset(to, 0, sizeof *to);
	for (unsigned i = 0; i < n; i++)
	{
		if (has_items(&in[i]) && any_items && in[i].seed != seed)
			return CKF_SEED_DIFFERS;
		if (has_items(&in[i]))
			seed = in[i].seed;
		any_items |= has_items(&in[i]);
	}
	if (compares(goal) && n == 2)
		for (int i = 0; i < 2; i++)
			if ((in[i].item_classes & CKF_ITEM_OLD) && (in[!i].item_classes & CKF_ITEM_OTHER))
				return CKF_OLD_ITEMS;
	for (unsigned i = 0; i < n; i++)
	{
		const ckf_filter *one = &in[i];
		uint8_t w = has_items(one) || (n == 1 && !merges(goal)) ? one->w : 64;

		to->item_classes |= one->item_classes;
		if (one->flags & CKF_FLAG_SET)
			to->flags |= CKF_FLAG_SET;
		if (any_items && !has_items(one) && !compares(goal))
			continue; /* an empty input does not change the result */
		if (one->flags & CKF_FLAG_PLAIN)
			to->flags |= CKF_FLAG_PLAIN;
		to->seed = !started || one->seed > to->seed ? one->seed : to->seed;
		to->capacity = !started || one->capacity > to->capacity ? one->capacity : to->capacity;
		to->fpr = !started || one->fpr > to->fpr ? one->fpr : to->fpr;
		to->b = !started || one->b < to->b ? one->b : to->b;
		to->w = !started || w < to->w ? w : to->w;
		started = true;
	}
	if (compares(goal) && n == 2)
		to->item_classes = shared_classes(&in[0], &in[1]);
	if (makes_set(goal))
		to->flags |= CKF_FLAG_SET;
	to->c = ckf_low_bits(to->fpr);
	return CKF_OK;
}

static void
run_promises(const void *arg)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);
	uint8_t bytes[CKF_HEADER_SIZE];

	(void)arg;
	CHECK(ckf_create(&params, bytes) == CKF_OK, "create");
	for (uint64_t round = check_rounds(20000); round > 0; round--)
	{
		ckf_goal goal = goals[check_below(sizeof goals / sizeof *goals)];
		unsigned n =
			compares(goal) ? 1 + (unsigned)check_below(2) : 1 + (unsigned)check_below(MOST);
		ckf_filter in[MOST], to, want;
		const ckf_filter *list[MOST];
		ckf_status status, wanted;

		for (unsigned i = 0; i < n; i++)
		{
			draw_input(&in[i], bytes);
			list[i] = &in[i];
		}
		wanted = expect(&want, goal, in, n);
		status = ckf_promise(&to, goal, list, n);
		CHECK(status == wanted, "status %d and not %d", status, wanted);
		if (status != CKF_OK)
			continue;
		CHECK(to.seed == want.seed, "seed %llu", (unsigned long long)to.seed);
		CHECK(to.capacity == want.capacity && to.fpr == want.fpr, "capacity and rate");
		CHECK(to.b == want.b && to.w == want.w && to.c == want.c, "b, w and c of %u inputs", n);
		CHECK(to.low_mask == (UINT64_C(1) << to.c) - 1 || n == 1, "the mask of c");
		CHECK(to.flags == want.flags, "flags %d", to.flags);
		CHECK(to.item_classes == want.item_classes, "item classes %d and not %d", to.item_classes,
			  want.item_classes);
		CHECK(to.format == CKF_FORMAT_VERSION, "format");
	}
}

/* A filter whose items are added to chunks, which keep their parameters. */
static void
run_chunks(const void *arg)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);
	uint8_t bytes[CKF_HEADER_SIZE];

	(void)arg;
	CHECK(ckf_create(&params, bytes) == CKF_OK, "create");
	for (uint64_t round = check_rounds(10000); round > 0; round--)
	{
		ckf_filter chunks, filter;
		ckf_status status, wanted = CKF_OK;
		uint8_t w;

		draw_input(&chunks, bytes);
		draw_input(&filter, bytes);
		chunks.count = 1; /* a table's chunks count as if there were items */
		w = has_items(&filter) ? filter.w : 64;
		if (has_items(&filter) && chunks.seed != filter.seed)
			wanted = CKF_SEED_DIFFERS;
		else if ((filter.flags & CKF_FLAG_SET) && !(chunks.flags & CKF_FLAG_SET))
			wanted = CKF_IS_SET;
		else if (w < chunks.w ||
				 (has_items(&filter) && filter.w == chunks.w && filter.c < chunks.c))
			wanted = CKF_PRECISION;
		status = ckf_promise_of_chunks(&chunks, &filter);
		CHECK(status == wanted, "status %d and not %d", status, wanted);
	}
}

int
main(void)
{
	check_begin("core promises");
	check_case(run_promises, NULL, "what a result promises");
	check_case(run_chunks, NULL, "what chunks take");
	return check_end();
}
