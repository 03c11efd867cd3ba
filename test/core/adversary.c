/*
 * adversary.c - hashes that an attacker chooses for the filter.  Every insert takes a bounded
 * amount of work and memory, a refusal is clear and changes nothing, and no item in the filter is
 * ever denied.
 *
 * Work is counted, not timed: the rebuilds that a host runs, and their steps.
 */
#include "attack.h"
#include "history.h"

#include <stdlib.h>
#include <string.h>

enum
{
	FIRST_ITEMS = 100,  /* make a table */
	ITEMS = 2500,       /* of an attack */
	MOST_REFUSALS = 20, /* until it ends */
	MOST_STEPS = 56,    /* for one insert: two for each build, also those that fail */
	MOST_JOBS = 60,     /* for all of an attack */
	OTHERS = 40,        /* items that are no attack, sent after one */
	SLACK = 64          /* FORMAT.md, section 5: 2 n + 64 buckets */
};

typedef struct plan
{
	attack how;
	shape shape;
	bool from_table;
} plan;

/* A share of ITEMS for ROUNDS below 100. More items would exceed the number of hashes that a
 * filter keeps whole. A table that is built from these has room for all of them, even if most
 * are copies that it does not store. */
static uint64_t
few_rounds(uint64_t full)
{
	uint64_t rounds = check_rounds(full);

	return rounds < full ? rounds : full;
}

static uint64_t
buckets_of(const ckf_filter *t)
{
	return (uint64_t)t->m << t->g;
}

/* No table is larger than the number of its items allows, however crowded its buckets are. */
static void
check_memory(const ckf_filter *t, uint64_t items)
{
	CHECK(buckets_of(t) <= 2 * items + SLACK, "%llu buckets a half for %llu items",
		  (unsigned long long)buckets_of(t), (unsigned long long)items);
}

/* A table of FIRST_ITEMS random items, or an empty filter. */
static void
start(history *h, const plan *p)
{
	const shape *s = &p->shape;
	ckf_params params = params_of(s->capacity, s->fpr, s->set, s->plain, s->bucket_size);
	uint64_t hashes[FIRST_ITEMS];

	h->shape = s;
	h->seed = 0;
	for (size_t i = 0; i < FIRST_ITEMS; i++)
		hashes[i] = check_random();
	build_aggregate(&h->filter, &params, hashes, p->from_table ? FIRST_ITEMS : 0);
	model_of_distinct(&h->model, &h->filter, hashes, p->from_table ? FIRST_ITEMS : 0);
}

/* One insert, and what it may cost. */
static ckf_status
insert(history *h, uint64_t hash)
{
	uint64_t steps = driven.steps;
	ckf_status status = history_add(h, hash);

	CHECK(driven.steps - steps <= MOST_STEPS, "%llu steps for one insert",
		  (unsigned long long)(driven.steps - steps));
	check_memory(&h->filter.filter, h->model.count);
	return status;
}

/* A refused insert changes no byte, however often it is repeated. */
static void
insert_refused(history *h, uint64_t hash)
{
	owned before;

	owned_copy(&before, &h->filter);
	CHECK(insert(h, hash) == CKF_PRECISION, "the refusal does not last");
	CHECK(owned_same_bytes(&before, &h->filter), "a refused insert changed the filter");
	owned_free(&before);
}

/* Send n items of an attack, or fewer if many are refused. Returns how many were refused. */
static unsigned
send_all(history *h, attack how, uint64_t n)
{
	attacker a;
	unsigned refused = 0;

	attacker_start(&a, how);
	for (uint64_t i = 0; i < n && refused < MOST_REFUSALS; i++)
	{
		uint64_t hash = attacker_next(&a, &h->filter.filter);

		if (insert(h, hash) == CKF_OK)
			continue;
		refused++;
		insert_refused(h, hash);
	}
	return refused;
}

/* After an attack is refused for crowded buckets, other items can still be added. */
static void
insert_others(history *h)
{
	unsigned taken = 0;

	for (unsigned i = 0; i < OTHERS; i++)
		taken += insert(h, check_random()) == CKF_OK;
	CHECK(taken > OTHERS * 3 / 4, "%u of %u other items find room", taken, (unsigned)OTHERS);
}

static void
remove_half(history *h)
{
	uint64_t key;
	uint32_t copies;

	for (size_t at = 0; map_next(&h->model.truth, &at, &key, &copies);)
		for (uint32_t i = 0; i < (copies + 1) / 2; i++)
			history_remove(h, key);
}

static void
run_inserts(const void *arg)
{
	const plan *p = arg;
	uint64_t jobs = driven.jobs;
	unsigned refused;
	history h;
	ckf_info info;

	start(&h, p);
	refused = send_all(&h, p->how, few_rounds(ITEMS));
	ckf_get_info(&h.filter.filter, &info);
	check_note("%llu copies in %llu bytes, load %.3f; %u refused, %llu jobs",
			   (unsigned long long)info.count, (unsigned long long)info.bytes, info.load_factor,
			   refused, (unsigned long long)(driven.jobs - jobs));
	CHECK(driven.jobs - jobs <= MOST_JOBS + 2 * refused, "%llu jobs",
		  (unsigned long long)(driven.jobs - jobs));
	model_check(&h.model, &h.filter);
	if (refused > 0 && info.fpr < p->shape.fpr)
		insert_others(&h);
	history_rehouse(&h, CKF_COMPACT);
	model_check(&h.model, &h.filter);
	if (!p->shape.set)
		remove_half(&h);
	model_check(&h.model, &h.filter);
	history_free(&h);
}

static const struct
{
	const char *name;
	bool plain;
	uint8_t bucket_size;
} layouts[] = {{"semi-sorted", false, 4},
			   {"plain b=2", true, 2},
			   {"plain b=4", true, 4},
			   {"plain b=8", true, 8}};

/* With much precision, and with hardly any. */
static const struct
{
	int64_t capacity;
	double fpr;
} targets[] = {{1000000, 0.01}, {300, 0.01}};

static void
check_plan(const plan *p, const char *layout)
{
	const char *kind = p->shape.set ? "set" : "deletable";
	const char *what = attack_names[p->how];
	long long capacity = (long long)p->shape.capacity;

	check_case(run_inserts, p, "inserts of %s, %s %s, capacity %lld, from a %s", what, layout, kind,
			   capacity, p->from_table ? "table" : "new filter");
}

int
main(void)
{
	check_begin("core adversary");
	for (unsigned how = 0; how < ATTACKS; how++)
		for (unsigned variant = 0; variant < 4 * 2 * 2; variant++)
		{
			unsigned l = variant % 4, t = variant / 4 % 2;
			shape s = {targets[t].capacity,
					   targets[t].fpr,
					   variant >= 8,
					   layouts[l].plain,
					   layouts[l].bucket_size,
					   UNIFORM,
					   0};

			for (int from_table = 0; from_table < 2; from_table++)
				check_plan(&(plan){(attack)how, s, from_table}, layouts[l].name);
		}
	return check_end();
}
