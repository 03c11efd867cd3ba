/*
 * cost.c - what a filter costs, and what it saves, in nanoseconds.
 *
 * The figures are measured, on one machine; what counts is their ratio, and the
 * threefold margin that must be left over.
 */
#include "cost.h"

#include "executor/hashjoin.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "optimizer/cost.h"

#define CKFP_ASK_NS 25.0    /* to ask a filter once */
#define CKFP_BUILD_NS 110.0 /* to gather a key, and to build with it */
#define CKFP_MARGIN 3.0

#define CKFP_LOOKUP_NS 100.0  /* in a hash table that the cache holds, */
#define CKFP_MISS_NS 275.0    /* in one that it does not, */
#define CKFP_SPILL_NS 350.0   /* and where the row goes to a file and back */
#define CKFP_GROUP_NS 200.0   /* to be sorted or grouped */
#define CKFP_FOREIGN_NS 900.0 /* to come from another server */

#define CKFP_CACHE_BYTES (1024 * 1024.0)

/* Bytes of a row in a hash table, beside its columns. */
#define CKFP_ROW_BYTES 40.0

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

	if (!IsA(join, HashJoin))
		return CKFP_MISS_NS;
	if (bytes > ckfp_hash_memory())
		return CKFP_SPILL_NS;
	return bytes > CKFP_CACHE_BYTES ? CKFP_MISS_NS : CKFP_LOOKUP_NS;
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
	double costs = record->asked * CKFP_ASK_NS + keys * CKFP_BUILD_NS;

	return keys * 2 * sizeof(uint64) <= ckfp_join_memory * 1024.0 &&
		   keys <= record->probe_rows / 2 && pass <= ckfp_join_max_pass &&
		   (1 - pass) * record->saving > CKFP_MARGIN * costs;
}
