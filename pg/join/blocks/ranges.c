/*
 * ranges.c - ranges of integers, and of the types that are stored as integers.
 */
#include "join/blocks/blocks.h"

#include "utils/lsyscache.h"

/* The integers of all ranges are this many times those that their ends let pass besides; and the
 * buckets of a set in a byte, that of the smallest one which has so many. */
#define CKFP_SET_PRECISION 100
#define CKFP_BUCKETS_OF_BYTE 2

bool
ckfp_ranges_serve(const ckfp_ranges *ranges, const ckfp_join_index *index)
{
	return ranges->integers || (ranges->less.fn_oid == get_opcode(index->less) &&
								ranges->collation == index->collation);
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

void
ckfp_ranges_sort(ckfp_ranges *ranges)
{
	ckfp_range *range = ranges->range;
	int last = 0;

	qsort(range, ranges->ranges, sizeof(ckfp_range), ckfp_compare_ranges);
	for (int i = 1; i < ranges->ranges; i++)
		if (range[i].low <= range[last].high || range[i].low - 1 == range[last].high)
			range[last].high = Max(range[last].high, range[i].high);
		else
			range[++last] = range[i];
	ranges->ranges = Min(ranges->ranges, last + 1);
}

void
ckfp_ranges_to_set(ckfp_ranges *ranges)
{
	if (ranges->ranges > 0)
		ckfp_integers_reach(&ranges->set, (ckfp_range){ranges->range[0].low,
													   ranges->range[ranges->ranges - 1].high});
	for (int i = 0; i < ranges->ranges; i++)
		ckfp_integers_add_range(&ranges->set, ranges->range[i]);
}

double
ckfp_ranges_integers(const ckfp_ranges *ranges)
{
	double integers = 0;

	for (int i = 0; i < ranges->ranges; i++)
		integers += (double)ranges->range[i].high - (double)ranges->range[i].low + 1;
	return integers;
}

int
ckfp_ranges_merge(ckfp_range *range, int n, int limit)
{
	uint64 *gaps;
	uint64 smallest = PG_UINT64_MAX;
	int equal = 0;
	int last = 0;

	if (n <= limit)
		return n;
	gaps = palloc(n * sizeof(uint64));
	for (int i = 1; i < n; i++)
		gaps[i - 1] = (uint64)range[i].low - (uint64)range[i - 1].high;
	qsort(gaps, n - 1, sizeof(uint64), ckfp_compare_gaps);
	/* The limit - 1 largest gaps stay. `smallest` is the smallest gap that stays, and `equal` the
	 * number of gaps of this size that stay. */
	for (int i = 0; i < limit - 1; i++)
	{
		equal = gaps[i] == smallest ? equal + 1 : 1;
		smallest = gaps[i];
	}
	pfree(gaps);
	for (int i = 1; i < n; i++)
	{
		uint64 gap = (uint64)range[i].low - (uint64)range[last].high;

		if (gap > smallest || (gap == smallest && equal-- > 0))
			range[++last] = range[i];
		else
			range[last].high = range[i].high;
	}
	return last + 1;
}

/* The ranges into a set. A bucket at an end of a range passes integers beside it: there are so many
 * buckets that these are few beside the integers of the ranges, and no more, as each costs time. */
static void
ckfp_ranges_make_set(ckfp_ranges *ranges, double integers)
{
	double ends = 2.0 * ranges->ranges * CKFP_SET_PRECISION;
	double buckets = 0;

	if (ranges->ranges > 0)
		buckets =
			ends *
			((double)ranges->range[ranges->ranges - 1].high - (double)ranges->range[0].low + 1) /
			integers;
	ckfp_integers_init(&ranges->set, ranges->set.context,
					   (size_t)Min(buckets / CKFP_BUCKETS_OF_BYTE, CKFP_SET_BYTES));
	ckfp_ranges_to_set(ranges);
}

void
ckfp_ranges_complete(ckfp_ranges *ranges)
{
	double integers;

	ckfp_ranges_sort(ranges);
	integers = ckfp_ranges_integers(ranges);
	if (ranges->n == 0)
		ranges->n = integers;
	ranges->few = integers <= CKFP_FEW_KEYS ? (int)integers : 0;
	if (!ranges->many)
		ckfp_ranges_make_set(ranges, integers);
	ranges->ranges = ckfp_ranges_merge(ranges->range, ranges->ranges, CKFP_RANGES_MOST);
}
