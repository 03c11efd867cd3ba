/*
 * table.c - what is known of a table: what reading it costs, what its statistics say about keys,
 * and how much of it a scan has read.
 */
#include "join/blocks/blocks.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include <math.h>

/* The rows of a page, if nothing is known. */
#define CKFP_ROWS_OF_PAGE 100

double
ckfp_scan_cost(double rows, double blocks)
{
	return rows * CKFP_ROW_NS + blocks * CKFP_PAGE_NS;
}

double
ckfp_rows_in(Relation table, double blocks)
{
	const FormData_pg_class *class = table->rd_rel;

	return blocks * (class->relpages > 0 && class->reltuples > 0
						 ? class->reltuples / class->relpages
						 : CKFP_ROWS_OF_PAGE);
}

double
ckfp_table_cost(Relation table, double row)
{
	double blocks = RelationGetNumberOfBlocks(table);

	return ckfp_scan_cost(0, blocks) + ckfp_rows_in(table, blocks) * row;
}

double
ckfp_scan_share(TableScanDesc scan)
{
	const HeapScanDescData *heap = (HeapScanDesc)scan;
	ParallelBlockTableScanDesc parallel = (ParallelBlockTableScanDesc)scan->rs_parallel;
	double done;
	double all;

	if (parallel != NULL)
	{
		all = parallel->phs_nblocks;
		done = (double)pg_atomic_read_u64(&parallel->phs_nallocated);
	}
	else
	{
		if (!heap->rs_inited || !BlockNumberIsValid(heap->rs_cblock))
			return 0;
		all = heap->rs_nblocks;
		done = ckfp_number_of(heap->rs_cblock, heap->rs_startblock, heap->rs_nblocks) + 1.0;
	}
	return done < all ? done / all : 1;
}

/* --------------------------------------------------------------------- statistics */

/* The share of the rows of a histogram that are in ranges. Its column can have another type than
 * the keys. */
static double
ckfp_histogram_share(const ckfp_ranges *ranges, const AttStatsSlot *slot)
{
	int16 length = get_typlen(slot->valuetype);
	double share = 0;
	int first = 0;

	for (int i = 1; i < slot->nvalues; i++)
	{
		double from = (double)ckfp_integer_of(slot->values[i - 1], length);
		double to = (double)ckfp_integer_of(slot->values[i], length);

		while (first < ranges->ranges && (double)ranges->range[first].high < from)
			first++;
		for (int r = first; r < ranges->ranges && (double)ranges->range[r].low <= to; r++)
		{
			double low = Max((double)ranges->range[r].low, from);
			double high = Min((double)ranges->range[r].high, to);

			if (low <= high)
				share += (high - low + 1) / (to - from + 1);
		}
	}
	return Min(share / (slot->nvalues - 1), 1);
}

ckfp_statistics
ckfp_statistics_of(Relation table, AttrNumber column, const ckfp_ranges *ranges, double rows)
{
	ckfp_statistics statistics = {.each = rows / 200, .share = 1};
	HeapTuple tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(RelationGetRelid(table)),
									  Int16GetDatum(column), BoolGetDatum(false));
	double distinct;
	AttStatsSlot slot;

	if (!HeapTupleIsValid(tuple))
		return statistics;
	distinct = ((Form_pg_statistic)GETSTRUCT(tuple))->stadistinct;
	statistics.each = distinct < 0 ? -1 / distinct : rows / Max(distinct, 1);
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		statistics.correlation = fabs(slot.numbers[0]);
		free_attstatsslot(&slot);
	}
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_HISTOGRAM, InvalidOid, ATTSTATSSLOT_VALUES))
	{
		if (slot.nvalues > 1 && ranges->integers)
			statistics.share = ckfp_histogram_share(ranges, &slot);
		free_attstatsslot(&slot);
	}
	ReleaseSysCache(tuple);
	return statistics;
}
