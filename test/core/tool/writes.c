/*
 * writes.c - the C writer's side of the comparison with writer.py.
 *
 *   writes emit N   N random cases, a line each
 *   writes large    a few cases of tables of several segments
 *
 * A line is "case NUMBERS KIND RESULT ...", NUMBERS driven_numbers of drive.h, RESULT a filter in
 * hex or why there is none:
 *
 *   aggregate RESULT CAPACITY FPR SEED SET PLAIN B HASHES    FPR as its 64 bits
 *   union | sum | union_agg | sum_agg RESULT FILTER ...
 *   intersect_agg RESULT FILTER ...
 *   compare OVERLAP:JACCARD FILTER FILTER
 *   compact | grow RESULT FILTER
 *   change RESULT FILTER +HASH:FOUND -HASH:FOUND ...         single adds and removals
 *   add_all | remove_all RESULT FILTER HASHES
 *
 * HASHES are 16 digits each, without blanks between, or "-".
 */
#include "attack.h"
#include "tsv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	MOST_ITEMS = 150000, /* of an input */
	MOST_OF_A_CASE = 20000,
	MOST_INPUTS = 24,
	POOL = 64, /* hashes that the inputs of a case may share */
	MOST_CHANGES = 400
};

/* What the inputs of a case draw from in common. */
typedef struct common
{
	uint64_t seed;
	uint64_t pool[POOL];
	size_t budget; /* items that the inputs may still have */
} common;

/* ------------------------------------------------------------------ print */

static void
print_filter(const owned *o)
{
	print_hex(o->bytes, o->filter.size);
}

static void
print_hashes(const uint64_t *hashes, size_t n)
{
	printf(n == 0 ? " -" : " ");
	for (size_t i = 0; i < n; i++)
		printf("%016llx", (unsigned long long)hashes[i]);
}

static void
print_refused(ckf_status status)
{
	switch (status)
	{
		case CKF_PRECISION:
			printf("precision");
			break;
		case CKF_OLD_ITEMS:
			printf("old");
			break;
		case CKF_UNLIKE_SIZES:
			printf("sizes");
			break;
		default:
			CHECK(status == CKF_SEED_DIFFERS, "status %d", status);
			printf("seeds");
	}
}

static void
print_result(const char *kind, ckf_status status, const owned *result)
{
	printf("case %d %s ", driven_numbers, kind);
	if (status == CKF_OK)
		print_filter(result);
	else
		print_refused(status);
}

static void
print_inputs(const owned *inputs, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		printf(" ");
		print_filter(&inputs[i]);
	}
	printf("\n");
}

/* An aggregate: a large set whose hashes crowd may be refused. */
static ckf_status
aggregate(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	owned state;
	ckf_status status;

	owned_state(&state, params);
	for (size_t i = 0; i < n; i++)
		CHECK(owned_add(&state, hashes[i]) == CKF_OK, "adding to a state");
	status = run_rebuild(o, CKF_FINISH, &state, NULL);
	owned_free(&state);
	return status;
}

/* ------------------------------------------------------------------- draw */

/* From both sides of where small filters change their form. */
static size_t
random_size(common *any)
{
	uint64_t kind = check_below(100);
	size_t n = kind < 8    ? 0
			   : kind < 14 ? 1
			   : kind < 24 ? 2 + check_below(6)
			   : kind < 34 ? 8 + check_below(2)
			   : kind < 65 ? 8 + check_below(40)
			   : kind < 70 ? 56 + check_below(3)
			   : kind < 88 ? 50 + check_below(500)
			   : kind < 95 ? 500 + check_below(3500)
			   : kind < 98 ? 4093 + check_below(7)
						   : 4000 + check_below(5000);

	if (n > any->budget)
		n = check_below(any->budget < 40 ? any->budget + 1 : 40);
	any->budget -= n;
	return n;
}

static ckf_params
random_params(const common *any)
{
	static const uint8_t sizes[] = {2, 4, 4, 8};
	ckf_params params;
	unsigned shift = 24 + (unsigned)check_below(40);
	int precision = (int)check_below(check_chance(30) ? 30 : 12);

	/* one draw a statement: every machine draws the same */
	ckf_params_default(&params);
	params.capacity = check_chance(50) ? 1 : 1 + (int64_t)(check_random() >> shift);
	params.set = check_chance(30);
	params.plain = check_chance(40);
	params.bucket_size = sizes[check_below(4)];
	params.fpr = fmin(0.95, ldexp((double)(1 + check_below(255)) / 256, -precision));
	if (check_chance(30))
		params.fpr = CKF_DEFAULT_FPR;
	if (check_chance(8))
		params.fpr = fmax(ldexp(params.fpr, -44), 0x1p-54);
	while (params.capacity > 1 && (double)params.capacity / params.fpr > 0x1p50)
		params.capacity /= 2;
	params.seed = check_chance(4) ? check_random() : any->seed;
	return params;
}

/* Hashes as they come, near each other, of few prefixes, or shared. */
static void
draw_hashes(const common *any, uint64_t *hashes, size_t n)
{
	unsigned near = (unsigned)check_below(100), shared = (unsigned)check_below(60);
	unsigned bits = 4 + (unsigned)check_below(24);
	uint64_t base = check_random();

	near = near < 60 || n > 10000 ? 0 : near;
	for (size_t i = 0; i < n; i++)
	{
		hashes[i] = check_random();
		if (check_chance(shared))
			hashes[i] = any->pool[check_below(POOL)] ^ check_chance(10);
		else if (near > 80 && check_chance(near))
			hashes[i] = base + (check_below(1 + n / 4) << (64 - bits)) + check_below(5);
		else if (check_chance(near / 2))
			hashes[i] >>= check_below(64);
		if (check_chance(1))
			hashes[i] = check_chance(50) ? 0 : UINT64_MAX - check_below(2);
	}
}

/* Hashes that crowd in the very table that as many others would get. */
static void
crowding_hashes(const ckf_params *params, uint64_t *hashes, size_t n)
{
	static const attack ways[] = {SIDE_BY_SIDE, ONE_PAIR, ONE_BUCKET, EQUAL_TAGS, COUNTING_UP};
	attacker attacker;
	owned o;

	if (aggregate(&o, params, hashes, n) != CKF_OK)
		return;
	attacker_start(&attacker, ways[check_below(sizeof ways / sizeof *ways)]);
	for (size_t i = check_below(n / 2 + 1); i < n; i++)
		hashes[i] = attacker_next(&attacker, &o.filter);
	owned_free(&o);
}

static size_t
random_items(common *any, const ckf_params *params, uint64_t *hashes)
{
	size_t n = random_size(any);

	draw_hashes(any, hashes, n);
	if (n < 600 && check_chance(15))
		crowding_hashes(params, hashes, n);
	return n;
}

static void merge_another(owned *o, common *any);

/* Items enter by an aggregate, or one by one. */
static void
random_filter(owned *o, common *any)
{
	ckf_params params = random_params(any);
	uint64_t *hashes = check_alloc(MOST_ITEMS * sizeof *hashes);
	size_t n = random_items(any, &params, hashes);
	bool found;

	if ((n < 10000 && check_chance(40)) || aggregate(o, &params, hashes, n) != CKF_OK)
	{
		owned_create(o, &params);
		for (size_t i = 0; i < n; i++)
			if (owned_add(o, hashes[i]) != CKF_OK)
				break;
	}
	if (check_chance(40))
	{
		for (uint64_t i = check_below(12); n > 0 && i > 0; i--)
			(void)owned_add(o, hashes[check_below(n < 3 ? n : 3)]);
		for (uint64_t i = check_chance(30) ? check_below(n + 1) : 0; !params.set && i > 0; i--)
			CHECK(owned_remove(o, hashes[i - 1], &found) == CKF_OK, "remove");
	}
	if (check_chance(5))
		(void)owned_rebuild(o, check_chance(50) ? CKF_GROW : CKF_COMPACT, NULL);
	if (check_chance(15))
		owned_make_old(o);
	free(hashes);
	if (check_chance(10))
		merge_another(o, any);
}

/* Merge it with another filter, if they may be. */
static void
merge_another(owned *o, common *any)
{
	owned other, merged;

	random_filter(&other, any);
	if (run_rebuild(&merged, check_chance(50) ? CKF_SUM : CKF_UNION, o, &other) == CKF_OK)
	{
		owned_free(o);
		*o = merged;
	}
	owned_free(&other);
}

/* n different hashes, up to 4,096, that stay such as they enter one by one. */
static void
exact_filter(owned *o, common *any, size_t n)
{
	ckf_params params = random_params(any);

	params.seed = any->seed;
	owned_create(o, &params);
	while (o->filter.count < n)
		CHECK(owned_add(o, check_random()) == CKF_OK, "add");
	any->budget -= n;
}

/* ------------------------------------------------------------------ cases */

static void
emit_aggregate(const ckf_params *params, const uint64_t *hashes, size_t n)
{
	owned o;
	uint64_t rate;
	ckf_status status;

	status = aggregate(&o, params, hashes, n);
	print_result("aggregate", status, &o);
	memcpy(&rate, &params->fpr, sizeof rate);
	printf(" %lld %llx %llx %d %d %u", (long long)params->capacity, (unsigned long long)rate,
		   (unsigned long long)params->seed, params->set, params->plain, params->bucket_size);
	print_hashes(hashes, n);
	printf("\n");
	if (status == CKF_OK)
		owned_free(&o);
}

static void
random_aggregate(common *any)
{
	ckf_params params = random_params(any);
	uint64_t *hashes = check_alloc(MOST_ITEMS * sizeof *hashes);
	size_t n = random_items(any, &params, hashes);

	if (check_chance(50))
	{
		params.capacity = 0;
		if (check_chance(10))
			params.fpr = 1e-18;
	}
	emit_aggregate(&params, hashes, n);
	free(hashes);
}

static ckf_status
merge_all(owned *state, const owned *inputs, size_t n, ckf_operation how)
{
	ckf_params params;
	ckf_status status = CKF_OK;

	ckf_params_default(&params);
	owned_state(state, &params);
	for (size_t i = 0; status == CKF_OK && i < n; i++)
		status = owned_collect(state, &inputs[i], how);
	if (status == CKF_OK)
		status = owned_rebuild(state, CKF_FINISH_SUM, NULL);
	if (status != CKF_OK)
		owned_free(state);
	return status;
}

static void
emit_merge(const owned *inputs, size_t n, bool sum, bool aggregate)
{
	static const char *const kinds[] = {"union", "sum", "union_agg", "sum_agg"};
	owned result;
	ckf_status status =
		aggregate ? merge_all(&result, inputs, n, sum ? CKF_MERGE_SUM : CKF_MERGE_UNION)
				  : run_rebuild(&result, sum ? CKF_SUM : CKF_UNION, &inputs[0], &inputs[1]);

	print_result(kinds[2 * aggregate + sum], status, &result);
	print_inputs(inputs, n);
	if (status == CKF_OK)
		owned_free(&result);
}

static void
emit_intersection(const owned *inputs, size_t n)
{
	owned result;
	ckf_status status = run_rebuild(&result, CKF_INTERSECT, &inputs[0], NULL);

	for (size_t i = 1; status == CKF_OK && i < n; i++)
	{
		status = owned_rebuild(&result, CKF_INTERSECT, &inputs[i]);
		if (status != CKF_OK)
			owned_free(&result);
	}
	print_result("intersect_agg", status, &result);
	print_inputs(inputs, n);
	if (status == CKF_OK)
		owned_free(&result);
}

static void
emit_comparison(const owned *inputs)
{
	ckf_comparison found;
	ckf_status status = run_comparison(&found, &inputs[0], &inputs[1]);

	printf("case %d compare ", driven_numbers);
	if (status == CKF_OK)
		printf("%.17g:%.17g", found.overlap, found.jaccard);
	else
		print_refused(status);
	print_inputs(inputs, 2);
}

/* Filters of hashes from the same pool, with copies, some empty, some old. */
static void
random_intersection(common *any)
{
	owned inputs[MOST_INPUTS];
	size_t n = check_chance(50) ? 2 : 1 + check_below(4);

	for (size_t i = 0; i < n; i++)
		random_filter(&inputs[i], any);
	if (n == 2 && check_chance(50))
		emit_comparison(inputs);
	else
		emit_intersection(inputs, n);
	for (size_t i = 0; i < n; i++)
		owned_free(&inputs[i]);
}

static void
random_merge(common *any)
{
	owned inputs[MOST_INPUTS];
	bool aggregate = check_chance(60), sum = check_chance(50);
	size_t n = 2;

	if (aggregate)
		n = check_chance(15) ? 1 + check_below(MOST_INPUTS) : 1 + check_below(5);
	if (check_chance(4))
		any->budget = 0; /* all are empty */
	if (check_chance(6))
	{
		/* from both sides of the most that unions and sums keep as hashes */
		exact_filter(&inputs[0], any, 4000);
		exact_filter(&inputs[1], any, 95 + check_below(3));
		n = 2;
	}
	else
		for (size_t i = 0; i < n; i++)
			random_filter(&inputs[i], any);
	emit_merge(inputs, n, sum, aggregate);
	for (size_t i = 0; i < n; i++)
		owned_free(&inputs[i]);
}

static void
emit_job(const char *kind, ckf_operation operation, const owned *o)
{
	owned result;
	ckf_status status = run_rebuild(&result, operation, o, NULL);

	print_result(kind, status, &result);
	print_inputs(o, 1);
	if (status == CKF_OK)
		owned_free(&result);
}

static void
random_job(common *any)
{
	owned o;

	random_filter(&o, any);
	if (check_chance(50))
		emit_job("grow", CKF_GROW, &o);
	else
		emit_job("compact", CKF_COMPACT, &o);
	owned_free(&o);
}

/* A buffer with room to spare takes a few hashes above 4,096: leave none. */
static void
leave_no_room(owned *o)
{
	owned tight;

	if (o->filter.encoding != CKF_HASHES || o->filter.count < 4096)
		return;
	owned_copy(&tight, o);
	owned_free(o);
	*o = tight;
}

typedef struct change
{
	uint64_t hash;
	bool added, found;
} change;

/* Single adds and removals, up to the end of precision. */
static void
random_change(common *any)
{
	uint64_t hashes[MOST_CHANGES];
	change changes[MOST_CHANGES];
	size_t n = check_below(check_chance(30) ? MOST_CHANGES : 60), made = 0;
	ckf_status status = CKF_OK;
	owned o, before;

	if (check_chance(6))
		exact_filter(&before, any, 4096 - check_below(4));
	else
		random_filter(&before, any);
	owned_copy(&o, &before);
	draw_hashes(any, hashes, n);
	for (; status == CKF_OK && made < n; made++)
	{
		change *c = &changes[made];

		c->hash = check_chance(30) ? hashes[check_below(n < 5 ? n : 5)] : hashes[made];
		c->added = filter_is_set(&o.filter) || check_chance(70);
		leave_no_room(&o);
		status = c->added ? owned_add(&o, c->hash) : owned_remove(&o, c->hash, &c->found);
		if (c->added)
			c->found = status == CKF_OK;
	}
	print_result("change", CKF_OK, &o);
	printf(" ");
	print_filter(&before);
	for (size_t i = 0; i < made; i++)
		printf(" %c%llx:%d", changes[i].added ? '+' : '-', (unsigned long long)changes[i].hash,
			   changes[i].found);
	printf("\n");
	owned_free(&o);
	owned_free(&before);
}

static void
random_many(common *any)
{
	uint64_t *hashes = check_alloc(MOST_ITEMS * sizeof *hashes);
	owned o, before;
	size_t n;
	bool adds;
	ckf_status status;

	random_filter(&before, any);
	n = random_size(any);
	draw_hashes(any, hashes, n);
	adds = filter_is_set(&before.filter) || check_chance(60);
	owned_copy(&o, &before);
	status = adds ? owned_add_all(&o, hashes, n) : owned_remove_all(&o, hashes, n);
	print_result(adds ? "add_all" : "remove_all", status, &o);
	printf(" ");
	print_filter(&before);
	print_hashes(hashes, n);
	printf("\n");
	owned_free(&o);
	owned_free(&before);
	free(hashes);
}

static void
emit(const void *arg)
{
	for (long i = atol(arg); i > 0; i--)
	{
		common any = {.seed = check_chance(70) ? 0 : check_random(), .budget = MOST_OF_A_CASE};
		uint64_t kind = check_below(100);

		for (size_t k = 0; k < POOL; k++)
			any.pool[k] = check_random();
		driven_numbers = check_chance(40);
		if (kind < 30)
			random_aggregate(&any);
		else if (kind < 62)
			random_merge(&any);
		else if (kind < 75)
			random_intersection(&any);
		else if (kind < 85)
			random_job(&any);
		else if (kind < 95)
			random_change(&any);
		else
			random_many(&any);
	}
}

/* Tables that an aggregate's state takes in as a log, the first with the least precision. */
static void
emit_rollup(uint64_t *hashes)
{
	ckf_params params[2] = {params_of(0, 0.02, false, true, 2),
							params_of(0, 0.01, false, false, 4)};
	owned inputs[2];

	build_aggregate(&inputs[0], &params[0], hashes, 30000);
	for (params[1].seed = 0; params[1].seed < 2; params[1].seed++)
	{
		build_aggregate(&inputs[1], &params[1], hashes + 20000, 40000);
		emit_merge(inputs, 2, false, true);
		emit_merge(inputs, 2, true, true);
		owned_free(&inputs[1]);
	}
	owned_free(&inputs[0]);
}

/* A segment as large as they get, in which a build fails: the next table has two. */
static void
emit_crowded(uint64_t *hashes)
{
	enum
	{
		ITEMS = 110750,
		CROWD = 5,  /* prefixes of one pair of buckets, which has four slots */
		APART = 10, /* others of the pair between two, so that another table parts them */
		MOST_DRAWS = 20
	};
	ckf_params params = params_of(500000000, 0.01, false, false, 2);
	attacker attacker;
	bool crowded = false;
	owned o;

	/* A table that was built at the second try is no target: the first try is another table. */
	for (int draw = 0; draw < MOST_DRAWS && !crowded; draw++)
	{
		for (size_t i = 0; i < ITEMS; i++)
			hashes[i] = check_random();
		build_aggregate(&o, &params, hashes, ITEMS);
		if (o.filter.g == 0)
		{
			attacker_start(&attacker, ONE_PAIR);
			for (size_t i = 0; i < CROWD * APART; i++)
				hashes[i / APART] = attacker_next(&attacker, &o.filter);
			owned_free(&o);
			build_aggregate(&o, &params, hashes, ITEMS);
			crowded = o.filter.g > 0;
		}
		owned_free(&o);
	}
	CHECK(crowded, "no build failed");
	emit_aggregate(&params, hashes, ITEMS);
}

/* Tables of several segments: built, merged with one of another shape, and grown. */
static void
emit_large(const void *arg)
{
	enum
	{
		ITEMS = 120000,
		FEWER = 100000 /* one segment, which grows to two */
	};
	uint64_t *hashes = random_hashes(ITEMS);
	ckf_params params[2] = {params_of(0, 0.01, false, false, 2),
							params_of(1000000, 0.02, true, true, 4)};
	owned inputs[2];

	(void)arg;
	emit_crowded(hashes);
	build_aggregate(&inputs[0], &params[0], hashes, ITEMS);
	CHECK(inputs[0].filter.g > 0, "one segment");
	build_aggregate(&inputs[1], &params[1], hashes + ITEMS / 2, ITEMS / 4);
	emit_merge(inputs, 2, false, true);
	owned_free(&inputs[0]);
	owned_free(&inputs[1]);
	build_aggregate(&inputs[0], &params[0], hashes, FEWER);
	CHECK(inputs[0].filter.g == 0, "several segments");
	emit_job("grow", CKF_GROW, &inputs[0]);
	owned_free(&inputs[0]);
	emit_rollup(hashes);
	free(hashes);
}

int
main(int argc, char **argv)
{
	check_begin("writes");
	if (argc == 3 && strcmp(argv[1], "emit") == 0)
		check_case(emit, argv[2], "emit");
	else if (argc == 2 && strcmp(argv[1], "large") == 0)
		check_case(emit_large, NULL, "emit large");
	else
		fprintf(stderr, "usage: writes emit N | writes large\n");
	return check_end();
}
