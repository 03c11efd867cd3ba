/*
 * cost.c - what a filter costs, and what it saves, in nanoseconds.
 *
 * The figures were measured on one machine. Only their ratios matter, and the safety margins.
 */
#include "join/base/join.h"

#include <math.h>

#include "access/sysattr.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"

#define CKFP_LOOKUP_MISS_NS 30.0 /* a lookup in a larger filter */
#define CKFP_COLUMN_NS 2.0       /* reaching the next column of a row */
#define CKFP_BUILD_NS 110.0      /* gathering a key and adding it to the filter */

#define CKFP_MAP_NS 60.0    /* finding the partition of a key in one table */
#define CKFP_READ_NS 40.0   /* reading a row in a scan */
#define CKFP_CALL_NS 100.0  /* calling the function of a column (monotone.h) */
#define CKFP_GATHER_NS 50.0 /* gathering a key for ranges */

/* Planning a filter, and preparing it when the query starts; and each scan that uses it. */
#define CKFP_PREPARE_NS 25e3
#define CKFP_PREPARE_SCAN_NS 5e3

/* Safety margins, since estimates are rough. If an estimate is wrong, the lookups are soon
 * suspended, but what gathering the keys has cost is lost. */
#define CKFP_LOOKUP_MARGIN 2.0
#define CKFP_BUILD_MARGIN 3.0
#define CKFP_MAP_MARGIN 24.0 /* this cost is lost if in the end all partitions have keys */
#define CKFP_PREPARE_MARGIN 4.0
#define CKFP_CALL_MARGIN 8.0 /* this cost is lost if in the end no row is between the ranges */

#define CKFP_SPILL_NS 350.0      /* writing to a file and reading it back */
#define CKFP_OTHER_JOIN_NS 275.0 /* a nested loop with an index, or a merge join */
#define CKFP_FOREIGN_NS 900.0    /* transfer from another server */

/* The cost of a lookup in a hash table, which grows with its size because of cache misses. */
static const struct
{
	double bytes; /* the largest size */
	double ns;
} ckfp_lookup_costs[] = {{64e3, 40.0}, {1e6, 65.0}, {8e6, 190.0}, {INFINITY, 275.0}};

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
ckfp_hash_rows(const Hash *hash)
{
	return hash->plan.parallel_aware ? hash->rows_total : hash->plan.plan_rows;
}

double
ckfp_cost_of_join(const Join *join)
{
	const Plan *inner = innerPlan(join);
	double width = inner->plan_width + CKFP_ROW_BYTES;
	int i = 0;

	if (!IsA(join, HashJoin))
		return CKFP_OTHER_JOIN_NS;
	/* processes that share a table use the memory of all of them */
	if (inner->plan_rows * width > ckfp_hash_memory())
		return CKFP_SPILL_NS;
	while (ckfp_hash_rows((const Hash *)inner) * width > ckfp_lookup_costs[i].bytes)
		i++;
	return ckfp_lookup_costs[i].ns;
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

/* The cost of a lookup in a filter of so many keys. */
static double
ckfp_cost_of_lookup(double keys)
{
	return keys * CKFP_KEY_BYTES > CKFP_CACHE_BYTES ? CKFP_LOOKUP_MISS_NS : CKFP_LOOKUP_NS;
}

double
ckfp_cost_of_reaching(const Plan *scan, const AttrNumber *columns, int n)
{
	Bitmapset *members = NULL;
	int reached;
	int last = 0;

	for (int i = 0; i < n; i++)
		last = Max(last, columns[i]);
	pull_varattnos((Node *)scan->qual, ((const Scan *)scan)->scanrelid, &members);
	reached = bms_prev_member(members, -1) + FirstLowInvalidHeapAttributeNumber;
	bms_free(members);
	return Max(last - Max(reached, 0), 0) * CKFP_COLUMN_NS;
}

double
ckfp_cost_of_drop(const ckfp_join_record *record, const Plan *scan, const AttrNumber *columns)
{
	double cost = ckfp_cost_of_lookup(record->build_rows) +
				  ckfp_cost_of_reaching(scan, columns, record->columns);

	return record->pass < 1 ? cost / (1 - record->pass) : INFINITY;
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

/* ckfp_cost_pays() counts that each key is mapped once for all scans, or twice if these read
 * partitions of partitions. It does not know how many tables with bounds of their own there are, by
 * each of which the keys are mapped. What that costs is limited here. */
double
ckfp_cost_of_keys(const ckfp_join_record *record, double share)
{
	double scan = record->skipping / Max(record->partitions, 1);

	if (ckfp_join_mode_setting != CKFP_JOIN_AUTO || share >= 1)
		return INFINITY;
	return scan / (CKFP_MAP_MARGIN * CKFP_MAP_NS * (1 - share));
}

/* The saving if all rows are between the ranges, in ns per process. */
static double
ckfp_saving_of_ranges(const ckfp_join_record *record)
{
	return record->saving + Max(record->skipping, record->reading);
}

double
ckfp_cost_of_calls(const ckfp_join_record *record, double share)
{
	return share * ckfp_saving_of_ranges(record) / (CKFP_CALL_MARGIN * CKFP_CALL_NS);
}

bool
ckfp_cost_is_small(const ckfp_join_record *record, double share)
{
	double most = record->saving;

	foreach_ptr (const ckfp_join_target, target, record->targets)
		most += share * target->reading;
	return ckfp_join_mode_setting == CKFP_JOIN_AUTO && share < 1 &&
		   most < CKFP_PREPARE_MARGIN *
					  (CKFP_PREPARE_NS + list_length(record->targets) * CKFP_PREPARE_SCAN_NS);
}

bool
ckfp_cost_ranges_pay(const ckfp_join_record *record)
{
	return ckfp_join_mode_setting != CKFP_JOIN_AUTO ||
		   record->build_rows / record->builders * CKFP_GATHER_NS * CKFP_BUILD_MARGIN <
			   ckfp_saving_of_ranges(record);
}

bool
ckfp_cost_fits(double keys)
{
	return keys * 2 * sizeof(uint64) <= ckfp_join_memory * 1024.0;
}

bool
ckfp_cost_pays(const ckfp_join_record *record, double keys)
{
	double pass = Min(record->pass * Max(keys / Max(record->build_rows, 1), 1), 1);
	double lookup = ckfp_cost_of_lookup(keys);
	double build = CKFP_BUILD_NS + record->levels * CKFP_MAP_NS;
	double skipped = ckfp_share_skipped(record, keys, pass);
	double costs = CKFP_LOOKUP_MARGIN * record->lookups * lookup * (1 - skipped) +
				   CKFP_BUILD_MARGIN * keys / record->builders * build;

	return keys <= Max(record->probe_rows, record->read) / 2 && pass <= ckfp_join_max_pass &&
		   (1 - pass) * record->saving + skipped * record->skipping > costs;
}
