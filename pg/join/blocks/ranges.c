/*
 * ranges.c - ranges of integers, and of the types that are stored as integers.
 */
#include "join/blocks/blocks.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

bool
ckfp_type_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID ||
		   type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

Datum
ckfp_ranges_datum(const ckfp_ranges *ranges, int64 value)
{
	if (ranges->length == sizeof(int64))
		return Int64GetDatum(value);
	return ranges->length == sizeof(int32) ? Int32GetDatum((int32)value)
										   : Int16GetDatum((int16)value);
}

bool
ckfp_ranges_serve(const ckfp_ranges *ranges, const ckfp_join_index *index)
{
	return ranges->integers || (ranges->less.fn_oid == get_opcode(index->less) &&
								ranges->collation == index->collation);
}

void
ckfp_ranges_set(ckfp_ranges *ranges, ckfp_range *range, int n)
{
	double integers = 0;

	n = ckfp_ranges_merge(range, n, CKFP_FEW_KEYS);
	for (int i = 0; i < n; i++)
		integers += (double)range[i].high - (double)range[i].low + 1;
	ranges->few = integers <= CKFP_FEW_KEYS ? (int)integers : 0;
	ranges->range = range;
	ranges->ranges = ranges->few > 0 ? n : ckfp_ranges_merge(range, n, CKFP_RANGES);
}

static int
ckfp_compare_ranges(const void *a, const void *b)
{
	const ckfp_range *one = a;
	const ckfp_range *other = b;

	return (one->low > other->low) - (one->low < other->low);
}

static int
ckfp_compare_gaps(const void *a, const void *b)
{
	uint64 one = *(const uint64 *)a;
	uint64 other = *(const uint64 *)b;

	return (one < other) - (one > other); /* the largest first */
}

/* Merge ranges in ascending order between which there is no other integer. */
static int
ckfp_ranges_join(ckfp_range *range, int n)
{
	int last = 0;

	for (int i = 1; i < n; i++)
		if (range[i].low <= range[last].high || range[i].low - 1 == range[last].high)
			range[last].high = Max(range[last].high, range[i].high);
		else
			range[++last] = range[i];
	return Min(n, last + 1);
}

int
ckfp_ranges_merge(ckfp_range *range, int n, int limit)
{
	uint64 *gaps;
	uint64 smallest;
	int equal = 1;
	int last = 0;

	qsort(range, n, sizeof(ckfp_range), ckfp_compare_ranges);
	n = ckfp_ranges_join(range, n);
	if (n <= limit)
		return n;
	gaps = palloc(n * sizeof(uint64));
	for (int i = 1; i < n; i++)
		gaps[i - 1] = (uint64)range[i].low - (uint64)range[i - 1].high;
	qsort(gaps, n - 1, sizeof(uint64), ckfp_compare_gaps);
	/* larger gaps than the smallest one that is left are left, and so many that are equal to it */
	smallest = limit > 1 ? gaps[limit - 2] : PG_UINT64_MAX;
	for (int i = limit - 3; i >= 0 && gaps[i] == smallest; i--)
		equal++;
	pfree(gaps);
	for (int i = 1; i < n; i++)
	{
		uint64 gap = (uint64)range[i].low - (uint64)range[last].high;

		if (gap > smallest || (limit > 1 && gap == smallest && equal-- > 0))
			range[++last] = range[i];
		else
			range[last].high = range[i].high;
	}
	return last + 1;
}
