/*
 * bounds.c - the bounds that the condition of a bitmap sets to a column, such as a range of time.
 * Keys beyond them have no rows that the scan returns, so no index is searched for them.
 */
#include "join/base/monotone.h"
#include "join/blocks/blocks.h"

#include "access/genam.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#if PG_VERSION_NUM < 180000
#define index_beginscan(table, index, snapshot, instrument, keys, orders)                          \
	index_beginscan(table, index, snapshot, keys, orders)
#endif

/* The first value of a column for which a condition, which is monotone, is `met`; or the value
 * after the upper limit. */
static int64
ckfp_bounds_first(ScanKey key, Oid type, bool met)
{
	ckfp_limits limits = ckfp_monotone_limits(type);
	int16 length = get_typlen(type);
	int64 low = limits.low - 1;
	int64 high = limits.high + 1;

	while ((uint64)high - (uint64)low > 1)
	{
		int64 middle = (int64)((uint64)low + ((uint64)high - (uint64)low) / 2);

		if (DatumGetBool(FunctionCall2(&key->sk_func, ckfp_integer_datum(middle, length),
									   key->sk_argument)) == met)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Apply a condition. Beyond the limits all values are left. False if it is no bound: one that
 * depends on the time zone is not monotone. */
static bool
ckfp_bounds_apply(ScanKey key, Oid type, ckfp_range *left)
{
	ckfp_limits limits = ckfp_monotone_limits(type);
	bool lower = key->sk_strategy >= BTGreaterEqualStrategyNumber;
	int64 first;

	if ((key->sk_flags & (SK_ISNULL | SK_SEARCHARRAY | SK_ROW_HEADER)) != 0 ||
		key->sk_strategy == BTEqualStrategyNumber ||
		func_volatile(key->sk_func.fn_oid) != PROVOLATILE_IMMUTABLE)
		return false;
	first = ckfp_bounds_first(key, type, lower);
	if (lower && first > limits.low)
		left->low = Max(left->low, first);
	if (!lower && first <= limits.high)
		left->high = Min(left->high, first - 1);
	return true;
}

/* Leave the parts of ranges that are in another one. */
static void
ckfp_bounds_leave(ckfp_ranges *ranges, ckfp_range within)
{
	double before = ckfp_ranges_integers(ranges);
	const ckfp_range *range = ranges->range;
	int n = ranges->ranges;
	double left;

	ranges->range = palloc(Max(n, 1) * sizeof(ckfp_range));
	ranges->ranges = 0;
	for (int i = 0; i < n; i++)
	{
		ckfp_range part = {Max(range[i].low, within.low), Min(range[i].high, within.high)};

		if (part.low <= part.high)
			ranges->range[ranges->ranges++] = part;
	}
	left = ckfp_ranges_integers(ranges);
	ranges->n *= left / before;
	ranges->few = left <= CKFP_FEW_KEYS ? (int)left : 0;
}

bool
ckfp_bounds_cut(ScanState *scan, Relation index, AttrNumber column, ckfp_ranges *ranges,
				bool *covers)
{
	BitmapIndexScanState *child = (BitmapIndexScanState *)outerPlanState(scan);
	AttrNumber attribute = index->rd_index->indkey.values[column - 1];
	Oid type = index->rd_opcintype[column - 1];
	ckfp_range left = {PG_INT64_MIN, PG_INT64_MAX};
	int bounds = 0;

	*covers = false;
	/* Not if the executor searches BRIN for each element of an array: a key is that of one element.
	 * Types up to INT4OID: integers of several lengths are the same ones. */
	if (!IsA(scan, BitmapHeapScanState) || !IsA(child, BitmapIndexScanState) ||
		child->biss_NumArrayKeys != 0 || !ranges->integers || !ckfp_type_is_integer(type) ||
		(type != ranges->type && (type > INT4OID || ranges->type > INT4OID)))
		return false;
	/* compute what the condition is compared with, as the child itself would do now */
	if (child->ss.ps.chgParam != NULL ||
		(!child->biss_RuntimeKeysReady && child->biss_NumRuntimeKeys != 0))
	{
		MemoryContext caller = MemoryContextSwitchTo(scan->ps.state->es_query_cxt);

		ExecReScan(&child->ss.ps);
		MemoryContextSwitchTo(caller);
	}
	for (int i = 0; i < child->biss_NumScanKeys; i++)
	{
		ScanKey key = &child->biss_ScanKeys[i];
		Relation own = child->biss_RelationDesc;

		if (key->sk_attno > 0 && own->rd_index->indkey.values[key->sk_attno - 1] == attribute &&
			own->rd_opfamily[key->sk_attno - 1] == index->rd_opfamily[column - 1])
			bounds += ckfp_bounds_apply(key, type, &left);
	}
	if (bounds > 0)
		ckfp_bounds_leave(ranges, left);
	*covers = bounds > 0 && bounds == child->biss_NumScanKeys &&
			  child->biss_RelationDesc->rd_rel->relam != BRIN_AM_OID;
	return bounds > 0;
}

bool
ckfp_bounds_have_few(ScanState *scan, double most)
{
	BitmapIndexScanState *child = (BitmapIndexScanState *)outerPlanState(scan);
	IndexScanDesc rows =
		index_beginscan(scan->ss_currentRelation, child->biss_RelationDesc,
						scan->ps.state->es_snapshot, NULL, child->biss_NumScanKeys, 0);
	double n = 0;

	index_rescan(rows, child->biss_ScanKeys, child->biss_NumScanKeys, NULL, 0);
	while (n < most && index_getnext_tid(rows, ForwardScanDirection) != NULL)
		n++;
	index_endscan(rows);
	return n < most;
}
