/*
 * steps.c - the core does a bounded amount of work between two returns to its host, so that the
 * host can check for interrupts, whatever the operation and the sources are.  Work is counted as in
 * work.c.  Memory that is filled, copied or moved is counted, too, through the linker's --wrap.
 * work_test.py builds it with lower thresholds for large inputs.
 */
#include "cuckoofilter_program.h"
#include "drive.h"
#include "forge.h"

#include <stdlib.h>
#include <string.h>

void __sanitizer_cov_trace_pc(void);
void *__real_memset(void *to, int byte, size_t n);
void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__wrap_memset(void *to, int byte, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);

enum
{
	LINE = 64, /* bytes that count as an edge */
	MOST_OF_STEP = 30000000,
	ITEMS = 1000000,       /* of a source in a full round */
	FEWEST_ITEMS = 300000, /* more than the core keeps whole here, and than its small logs have */
	SAME_BITS = 30
};

void
__sanitizer_cov_trace_pc(void)
{
	driven.edges++;
}

void *
__wrap_memset(void *to, int byte, size_t n)
{
	driven.edges += n / LINE;
	return __real_memset(to, byte, n);
}

void *
__wrap_memcpy(void *to, const void *from, size_t n)
{
	driven.edges += n / LINE;
	return __real_memcpy(to, from, n);
}

void *
__wrap_memmove(void *to, const void *from, size_t n)
{
	driven.edges += n / LINE;
	return __real_memmove(to, from, n);
}

/* ------------------------------------------------------------------ sources */

typedef enum kind
{
	SEMI_SORTED,
	PLAIN,
	SPARSE, /* a table of many segments, and an item */
	HASHES,
	FEW_COLLECTED, /* states over items */
	COLLECTED,
	SHARED,   /* whose hashes share their top bits */
	REPEATED, /* that are mostly one hash */
	KINDS
} kind;

static const char *const names[KINDS] = {"a semi-sorted table",
										 "a plain table",
										 "a table that is nearly empty",
										 "hashes",
										 "a small state",
										 "a state",
										 "a state of hashes that share 30 bits",
										 "a state of mostly one hash"};

/* How many of a source in this round. */
static size_t
items(void)
{
	uint64_t n = check_rounds(ITEMS);

	return n < FEWEST_ITEMS ? FEWEST_ITEMS : n > ITEMS ? ITEMS : (size_t)n;
}

static bool
is_state(kind k)
{
	return k >= FEW_COLLECTED;
}

static uint64_t *
hashes_of_kind(kind k, size_t n)
{
	uint64_t *hashes = check_alloc(n * sizeof *hashes);
	uint64_t base = check_random();

	for (size_t i = 0; i < n; i++)
	{
		hashes[i] = check_random();
		if (k == SHARED)
			hashes[i] = base >> (64 - SAME_BITS) << (64 - SAME_BITS) | hashes[i] >> SAME_BITS;
		if (k == REPEATED && i > n / 8) /* after others */
			hashes[i] = base;
	}
	return hashes;
}

static ckf_params
params_for(kind k)
{
	ckf_params params = params_of(0, k == HASHES ? 1e-17 : 0.001, false, k == PLAIN, 4);

	if (k == SPARSE)
		params.capacity = INT64_C(1) << 30;
	return params;
}

/* As an aggregate's state. */
static void
build_state(owned *o, kind k, size_t n)
{
	ckf_params params = params_for(k);
	uint64_t *hashes = hashes_of_kind(k, n);

	owned_state(o, &params);
	for (size_t i = 0; i < n; i++)
		CHECK(owned_add(o, hashes[i]) == CKF_OK, "add");
	free(hashes);
}

static void
build_table(owned *o, kind k)
{
	ckf_params params = params_for(k);
	const size_t n = items();
	uint64_t *hashes = hashes_of_kind(k, n);
	bool found;

	build_bulk(o, &params, hashes, n);
	for (size_t i = 1; k == SPARSE && i < n; i++)
		CHECK(ckf_remove(&o->filter, hashes[i], &found) == CKF_OK && found, "remove");
	free(hashes);
}

static void
build_source(owned *o, kind k)
{
	if (!is_state(k))
		build_table(o, k);
	else
		build_state(o, k, k == FEW_COLLECTED ? 3000 : k >= SHARED ? 2 * items() : items());
}

/* --------------------------------------------------------------------- operations */

static void
check_longest(const char *what, kind k)
{
	check_note("%s, %s: at most %llu edges", what, names[k], (unsigned long long)driven.longest);
	CHECK(driven.longest > 0, "nothing was counted");
	CHECK(driven.longest <= MOST_OF_STEP, "%s, %s: %llu edges in one step", what, names[k],
		  (unsigned long long)driven.longest);
	driven.longest = 0;
}

static void
expect_end(ckf_status status, owned *result)
{
	CHECK(status == CKF_OK || status == CKF_PRECISION, "status %d", status);
	if (status == CKF_OK)
		owned_free(result);
}

static void
run_goal(const owned *source, kind k, ckf_operation operation, const char *name, const owned *other)
{
	owned result;

	driven.longest = 0;
	expect_end(run_rebuild(&result, operation, source, other), &result);
	check_longest(name, k);
}

static void
run_hashes(const owned *source, kind k, ckf_operation operation, const char *name)
{
	static const kind crowds[] = {COLLECTED, SHARED, REPEATED};

	for (size_t i = 0; i < 3; i++)
	{
		uint64_t *hashes = hashes_of_kind(crowds[i], 2 * items());
		owned result;

		driven.longest = 0;
		expect_end(run_rebuild_hashes(&result, operation, source, hashes, 2 * items()), &result);
		check_longest(name, k);
		free(hashes);
	}
}

/* What a program that opens a filter is asked between its steps. */
typedef struct asked
{
	uint64_t times, edges; /* edges: at the last time */
} asked;

static bool
ask(void *data)
{
	asked *a = data;

	if (driven.edges - a->edges > driven.longest)
		driven.longest = driven.edges - a->edges;
	a->edges = driven.edges;
	a->times++;
	return false;
}

/* The C library checks each slot once, and asks after each step. */
static void
run_open(const owned *o, kind k, uint64_t steps, uint64_t edges)
{
	asked a = {0, driven.edges};
	cuckoofilter_error error = {.interrupted = ask, .data = &a};
	uint64_t before = driven.edges;
	cuckoofilter *filter = cuckoofilter_open(o->filter.bytes, o->filter.size, &error);

	CHECK(filter != NULL, "%s", error.message);
	before = driven.edges - before - o->filter.size / LINE; /* the library copies the bytes */
	cuckoofilter_free(filter);
	CHECK(a.times == steps - 1, "%llu steps, asked %llu times", (unsigned long long)steps,
		  (unsigned long long)a.times);
	CHECK(before <= edges + edges / 100 + 10000, "%s: %llu edges to open, %llu to check", names[k],
		  (unsigned long long)before, (unsigned long long)edges);
	check_longest("opening", k);
}

static void
run_check(const owned *o, kind k)
{
	ckf_check check = {0};
	ckf_status status = CKF_MORE;
	uint64_t steps = 0, before = driven.edges;

	for (driven.longest = 0; status == CKF_MORE; steps++)
	{
		uint64_t edges = driven.edges;

		status = ckf_check_step(&o->filter, &check);
		if (driven.edges - edges > driven.longest)
			driven.longest = driven.edges - edges;
	}
	CHECK(status == CKF_OK && steps > 1, "status %d after %llu steps", status,
		  (unsigned long long)steps);
	check_longest("check", k);
	run_open(o, k, steps, driven.edges - before);
}

static void
run_filter(const owned *o, kind k, const owned *other)
{
	run_check(o, k);
	run_goal(o, k, CKF_GROW, "growth", NULL);
	run_goal(o, k, CKF_COMPACT, "compaction", NULL);
	run_goal(o, k, CKF_UNION, "union", other);
	run_goal(o, k, CKF_SUM, "sum", other);
	run_hashes(o, k, CKF_ADD_MANY, "many more");
	run_hashes(o, k, CKF_REMOVE_MANY, "many less");
}

static void
run_state(const owned *o, kind k)
{
	run_goal(o, k, CKF_MERGE_SUM, "leaving", NULL);
	run_goal(o, k, CKF_FINISH, "end", NULL);
	run_hashes(o, k, CKF_FINISH, "end with hashes");
}

/* All that this source goes into. */
static void
run_collect(const owned *in, kind k)
{
	static const ckf_operation operations[] = {CKF_MERGE_UNION, CKF_MERGE_SUM};

	for (size_t g = 0; g < 2; g++)
	{
		owned state;
		ckf_params params;

		ckf_params_default(&params);
		owned_state(&state, &params);
		driven.longest = 0;
		CHECK(owned_collect(&state, in, operations[g]) == CKF_OK, "collect");
		CHECK(owned_collect(&state, in, operations[g]) == CKF_OK, "collect");
		expect_end(owned_rebuild(&state, CKF_FINISH_SUM, NULL), &state);
		check_longest(g == 0 ? "merging for a union" : "merging for a sum", k);
	}
}

static void
run_source(const void *arg)
{
	const kind k = *(const kind *)arg;
	owned o, other;

	build_source(&o, k);
	driven.longest = 0;
	if (is_state(k))
		run_state(&o, k);
	else
	{
		build_source(&other, SEMI_SORTED);
		run_filter(&o, k, &other);
		owned_free(&other);
	}
	if (is_state(k)) /* an aggregate over filters takes values */
		CHECK(owned_send(&o) == CKF_OK, "send");
	run_collect(&o, k);
	owned_free(&o);
}

/* A table of many segments without an item: forged, as it would take many. */
static void
run_empty(const void *arg)
{
	const forged x = {.encoding = CKF_PLAIN,
					  .b = 4,
					  .f = 8,
					  .w = 30,
					  .g = 7,
					  .c = 7,
					  .m = 32768,
					  .capacity = 1000,
					  .fpr = 0.01};
	size_t size = forged_size(&x);
	uint8_t *bytes = calloc(size, 1);
	owned o;

	(void)arg;
	CHECK(bytes != NULL, "%zu bytes", size);
	forge_header(bytes, &x);
	owned_open(&o, bytes, size, CKF_STORED);
	run_check(&o, SPARSE);
	run_goal(&o, SPARSE, CKF_COMPACT, "compaction", NULL);
	run_goal(&o, SPARSE, CKF_GROW, "growth", NULL);
	run_hashes(&o, SPARSE, CKF_ADD_MANY, "many more");
	run_collect(&o, SPARSE);
	owned_free(&o);
	free(bytes);
}

int
main(void)
{
	check_begin("core steps");
	for (kind k = 0; k < KINDS; k++)
		check_case(run_source, &k, "steps over %s", names[k]);
	check_case(run_empty, NULL, "steps over an empty table of many segments");
	return check_end();
}
