/*
 * cost.c - what a filter costs, and what it saves, in nanoseconds.
 *
 * The figures were measured on one machine. Only their ratios matter, and the safety margins.
 */
#include "cost.h"

#include <math.h>

#include "executor/hashjoin.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "optimizer/cost.h"

#define CKFP_ASK_NS 15.0      /* a lookup in a filter within the cache */
#define CKFP_ASK_MISS_NS 30.0 /* a lookup in a larger filter */
#define CKFP_BUILD_NS 110.0   /* gathering a key and adding it to the filter */

#define CKFP_MAP_NS 60.0  /* finding the partition of a key */
#define CKFP_READ_NS 40.0 /* reading a row in a scan */

/* Safety margins, since estimates are rough. If an estimate is wrong, lookups end soon, but the
 * cost of the build is lost. */
#define CKFP_ASK_MARGIN 2.0
#define CKFP_BUILD_MARGIN 3.0

#define CKFP_SPILL_NS 350.0      /* writing to a file and reading it back */
#define CKFP_OTHER_JOIN_NS 275.0 /* a nested loop with an index, or a merge join */
#define CKFP_GROUP_NS 200.0      /* sorting or grouping */
#define CKFP_FOREIGN_NS 900.0    /* transfer from another server */

/* The cost of a lookup in a hash table, which grows with its size because of cache misses. */
static const struct
{
	double bytes; /* the largest size */
	double ns;
} ckfp_lookup[] = {{64e3, 40.0}, {1e6, 65.0}, {8e6, 190.0}, {INFINITY, 275.0}};

#define CKFP_CACHE_BYTES 1e6

/* Bytes per row in a hash table, in addition to its columns. */
#define CKFP_ROW_BYTES 40.0

/* Bytes per key in a filter. */
#define CKFP_KEY_BYTES 1.4

static double
ckfp_hash_memory(void)
{
#if PG_VERSION_NUM >= 150000
	return (double)get_hash_memory_limit();
#else
	return work_mem * 1024.0 * hash_mem_multiplier;
#endif
}

double
ckfp_cost_of_join(const Join *join)
{
	const Plan *inner = innerPlan(join);
	double bytes = inner->plan_rows * (inner->plan_width + CKFP_ROW_BYTES);
	int i = 0;

	if (!IsA(join, HashJoin))
		return CKFP_OTHER_JOIN_NS;
	if (bytes > ckfp_hash_memory())
		return CKFP_SPILL_NS;
	while (bytes > ckfp_lookup[i].bytes)
		i++;
	return ckfp_lookup[i].ns;
}

double
ckfp_cost_of_grouping(const Plan *plan)
{
	return CKFP_GROUP_NS;
}

double
ckfp_cost_of_scan(const Plan *plan)
{
	return IsA(plan, ForeignScan) && ckfp_join_remote ? CKFP_FOREIGN_NS : 0;
}

double
ckfp_cost_of_reading(const Plan *plan)
{
	return IsA(plan, ForeignScan) ? CKFP_FOREIGN_NS : CKFP_READ_NS;
}

/* The share of the scans of partitions that is skipped. Keys of hash partitions are spread over
 * all of them. Keys of other partitions are often together; where they are not, this soon shows. */
static double
ckfp_share_skipped(const ckfp_join_record *record, double keys, double pass)
{
	if (record->partitions == 0)
		return 0;
	return record->scattered ? pow(1 - 1.0 / record->partitions, keys) : 1 - pass;
}

bool
ckfp_cost_pays(const ckfp_join_record *record, double keys)
{
	double pass = Min(record->pass * Max(keys / Max(record->build_rows, 1), 1), 1);
	double ask = keys * CKFP_KEY_BYTES > CKFP_CACHE_BYTES ? CKFP_ASK_MISS_NS : CKFP_ASK_NS;
	double build = CKFP_BUILD_NS + (record->partitions > 0 ? CKFP_MAP_NS : 0);
	double skipped = ckfp_share_skipped(record, keys, pass);
	double costs =
		CKFP_ASK_MARGIN * record->asked * ask * (1 - skipped) + CKFP_BUILD_MARGIN * keys * build;

	return keys * 2 * sizeof(uint64) <= ckfp_join_memory * 1024.0 &&
		   keys <= Max(record->probe_rows, record->read) / 2 && pass <= ckfp_join_max_pass &&
		   (1 - pass) * record->saving + skipped * record->skipping > costs;
}
