/*
 * cost.c - what a filter costs, and what it saves, in nanoseconds.
 *
 * The figures are measured, on one machine; what counts is their ratio, and
 * the margins that must be left over.
 */
#include "cost.h"

#include <math.h>

#include "executor/hashjoin.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "optimizer/cost.h"

#define CKFP_ASK_NS 15.0      /* to ask a filter once that the cache holds, */
#define CKFP_ASK_MISS_NS 30.0 /* and one that it does not */
#define CKFP_BUILD_NS 110.0   /* to gather a key, and to build with it */

/* What must be left over, since estimates are rough.  Where they are wrong, asking ends soon,
 * but what was built is lost. */
#define CKFP_ASK_MARGIN 2.0
#define CKFP_BUILD_MARGIN 3.0

#define CKFP_SPILL_NS 350.0      /* to go to a file and back */
#define CKFP_OTHER_JOIN_NS 275.0 /* by an index, or between sorted rows */
#define CKFP_GROUP_NS 200.0      /* to be sorted or grouped */
#define CKFP_FOREIGN_NS 900.0    /* to come from another server */

/* To be looked up in a hash table: the larger, the further from the processor. */
static const struct
{
	double bytes; /* up to so many */
	double ns;
} ckfp_lookup[] = {{64e3, 40.0}, {1e6, 65.0}, {8e6, 190.0}, {INFINITY, 275.0}};

#define CKFP_CACHE_BYTES 1e6

/* Bytes of a row in a hash table, beside its columns. */
#define CKFP_ROW_BYTES 40.0

/* Of a key in a filter. */
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

bool
ckfp_cost_pays(const ckfp_join_record *record, double keys)
{
	double pass = Min(record->pass * Max(keys / Max(record->build_rows, 1), 1), 1);
	double ask = keys * CKFP_KEY_BYTES > CKFP_CACHE_BYTES ? CKFP_ASK_MISS_NS : CKFP_ASK_NS;
	double costs = CKFP_ASK_MARGIN * record->asked * ask + CKFP_BUILD_MARGIN * keys * CKFP_BUILD_NS;

	return keys * 2 * sizeof(uint64) <= ckfp_join_memory * 1024.0 &&
		   keys <= record->probe_rows / 2 && pass <= ckfp_join_max_pass &&
		   (1 - pass) * record->saving > costs;
}
