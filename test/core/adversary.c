/*
 * adversary.c - hashes that an attacker chooses for the filter.  Every insert takes a bounded
 * amount of work and memory, a refusal is clear and changes nothing, and no item in the filter is
 * ever denied.  If the attacker does not know the seed, the items are like random ones.
 *
 * Work is counted, not timed: the rebuilds that a host runs, their steps, and the size of the
 * memory that they request.
 */
#include "attack.h"
#include "history.h"

#include <stdlib.h>
#include <string.h>

enum
{
	FIRST_ITEMS = 100,   /* make a table */
	ITEMS = 2500,        /* of an attack */
	MOST_REFUSALS = 20,  /* until it ends */
	MOST_STEPS = 56,     /* for one insert: two for each build, also those that fail */
	MOST_JOBS = 60,      /* for all of an attack */
	OTHERS = 40,         /* items that are no attack, sent after one */
	MOST_STATE = 530000, /* bytes of an aggregate's state of few items */
	SLACK = 64           /* FORMAT.md, section 5: 2 n + 64 buckets */
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

/* Aggregates and bulk builds always end in a filter, no larger than its hashes. */
static void
run_builds(const void *arg)
{
	const plan *p = arg;
	const shape *s = &p->shape;
	ckf_params params = params_of(s->capacity, s->fpr, s->set, s->plain, s->bucket_size);
	size_t n = few_rounds(ITEMS);
	uint64_t *hashes = check_alloc(n * sizeof *hashes);
	uint64_t largest, distinct;
	history like;
	attacker a;
	owned o, bulk;
	model m;

	start(&like, p);
	attacker_start(&a, p->how);
	for (size_t i = 0; i < n; i++)
		hashes[i] = attacker_next(&a, &like.filter.filter);
	driven.largest = 0;
	build_aggregate(&o, &params, hashes, n);
	largest = driven.largest;
	model_of_distinct(&m, &o, hashes, n);
	model_check(&m, &o);
	distinct = m.truth.filled;
	check_note("%llu items in %zu bytes, at most %llu on the way", (unsigned long long)distinct,
			   o.filter.size, (unsigned long long)largest);
	CHECK(largest <= MOST_STATE, "a state of %llu bytes", (unsigned long long)largest);
	CHECK(o.filter.size <= CKF_HEADER_SIZE + 8 * distinct, "%zu bytes", o.filter.size);
	check_memory(&o.filter, distinct);
	build_bulk(&bulk, &params, hashes, n);
	CHECK(owned_same_bytes(&o, &bulk), "the bulk build differs from the aggregate");
	model_free(&m);
	owned_free(&o);
	owned_free(&bulk);
	history_free(&like);
	free(hashes);
}

/* A merge succeeds or is refused. It never changes its inputs. */
static void
check_merge(ckf_status status, owned *result, const history *in, bool sum)
{
	model inputs[2] = {in[0].model, in[1].model}, m;

	CHECK(status == CKF_OK || status == CKF_PRECISION, "merge: status %d", status);
	if (status == CKF_OK)
	{
		model_merge(&m, inputs, 2, sum, &result->filter);
		model_check(&m, result);
		check_memory(&result->filter, in[0].model.count + in[1].model.count);
		model_free(&m);
		owned_free(result);
	}
	for (int i = 0; i < 2; i++)
		model_check(&in[i].model, &in[i].filter);
}

static void
run_merges(const void *arg)
{
	const plan *p = arg;
	history in[2];
	ckf_params params;

	for (int i = 0; i < 2; i++)
	{
		start(&in[i], p);
		(void)send_all(&in[i], p->how, few_rounds(ITEMS / 2));
	}
	ckf_params_default(&params);
	for (int sum = 0; sum < 2; sum++)
	{
		owned result, state;

		check_merge(run_rebuild(&result, sum ? CKF_SUM : CKF_UNION, &in[0].filter, &in[1].filter),
					&result, in, sum);
		owned_state(&state, &params);
		for (int i = 0; i < 2; i++)
			CHECK(owned_collect(&state, &in[i].filter, sum ? CKF_MERGE_SUM : CKF_MERGE_UNION) ==
					  CKF_OK,
				  "collect");
		check_merge(run_rebuild(&result, CKF_FINISH_SUM, &state, NULL), &result, in, sum);
		owned_free(&state);
	}
	for (int i = 0; i < 2; i++)
		history_free(&in[i]);
}

/* -------------------------------------------------------------- the seed */

enum
{
	VALUES = 600,
	NEAR_BITS = 11, /* that the chosen items' hashes share under seed 0 */
	COPIES = 3
};

/* Items, found by trying, whose hashes are near each other under seed 0. */
static void
choose_values(int64_t *values)
{
	size_t n = 0;

	for (int64_t value = 0; n < VALUES; value++)
		if (ckf_hash_integer(value, 0) >> (64 - NEAR_BITS) == 5)
			values[n++] = value;
}

/* Add each value several times to a table. Returns the bytes in the end. */
static size_t
size_with(const int64_t *values, uint64_t seed, unsigned *refused)
{
	plan p = {EQUAL_ITEMS, {1000, 0.01, false, false, 4, UNIFORM, 0}, true};
	history h;
	size_t size;

	start(&h, &p);
	*refused = 0;
	for (unsigned i = 0; i < VALUES * COPIES && *refused < MOST_REFUSALS; i++)
		*refused += insert(&h, ckf_hash_integer(values[i / COPIES], seed)) != CKF_OK;
	model_check(&h.model, &h.filter);
	size = h.filter.filter.size;
	history_free(&h);
	return size;
}

/* The items are chosen against seed 0, so a filter with this seed soon refuses them. With
 * another seed they are stored as well as 1, 2, 3 .. */
static void
run_secret(const void *arg)
{
	int64_t chosen[VALUES], plain[VALUES];
	unsigned refused;
	uint64_t secret = check_random();
	size_t with_chosen, with_plain;

	(void)arg;
	choose_values(chosen);
	for (int64_t i = 0; i < VALUES; i++)
		plain[i] = i + 1;
	(void)size_with(chosen, 0, &refused);
	CHECK(refused > 0, "the attack on a known seed does nothing");
	with_chosen = size_with(chosen, secret, &refused);
	CHECK(refused == 0, "%u of the chosen items refused under a secret seed", refused);
	with_plain = size_with(plain, secret, &refused);
	CHECK(refused == 0, "%u of plain items refused", refused);
	check_note("chosen %zu, plain %zu bytes under a secret seed", with_chosen, with_plain);
	CHECK(with_chosen < with_plain * 2 && with_plain < with_chosen * 2,
		  "chosen items take %zu bytes, plain ones %zu", with_chosen, with_plain);
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
	if (!p->from_table)
		return;
	check_case(run_builds, p, "builds of %s, %s %s, capacity %lld", what, layout, kind, capacity);
	check_case(run_merges, p, "merges of %s, %s %s, capacity %lld", what, layout, kind, capacity);
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
	check_case(run_secret, NULL, "a secret seed");
	return check_end();
}
