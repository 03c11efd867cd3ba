/*
 * integers.c - a set of integers near each other, as a table of buckets.
 */
#include "join/base/integers.h"

#include "catalog/pg_type.h"

/* The smallest and the largest number of buckets. */
#define CKFP_FIRST_BUCKETS 4096
#define CKFP_BUCKETS (1 << 20)

/* The least number of buckets beside the first and the last one that are used. */
#define CKFP_LEAST_ROOM 32

/* The number of buckets for each integer, if all are known and too far for a bucket of each. At
 * least half of them are used, so one of 64 others or fewer is in a bucket with one of them. */
#define CKFP_BUCKETS_EACH 128

/* When a set is moved from a table of the largest size into another one, one of so many buckets of
 * that stays free, so that the next keys do not move it again and again. */
#define CKFP_MOVED_ROOM 4

bool
ckfp_type_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID ||
		   type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

void
ckfp_integers_init(ckfp_integers *set, MemoryContext context, size_t bytes)
{
	*set = (ckfp_integers){.context = context, .most = CKFP_BUCKETS};
	while (set->most / 4 > bytes && set->most > CKFP_FIRST_BUCKETS)
		set->most /= 2;
}

void
ckfp_integers_free(ckfp_integers *set)
{
	if (set->width > 0)
		pfree(set->some);
	if (set->waiting != NULL)
		pfree(set->waiting);
	*set = (ckfp_integers){.context = set->context, .most = set->most};
}

uint64
ckfp_bits_next(const uint8 *bits, uint64 width, uint64 at, bool set)
{
	static const uint64 none = 0;
	static const uint64 all = PG_UINT64_MAX;

	while (at < width && (CKFP_BIT(bits, at) != 0) != set)
		at += at % 64 == 0 && memcmp(bits + at / 8, set ? &none : &all, 8) == 0 ? 64 : 1;
	return at;
}

/* The integers of the buckets at the places from `from` up to `to`, without `to`. */
static ckfp_range
ckfp_integers_between(const ckfp_integers *set, uint64 from, uint64 to)
{
	uint64 low = (set->first + from) << set->shift;
	uint64 high = ((set->first + to - 1) << set->shift) + ((UINT64CONST(1) << set->shift) - 1);

	return (ckfp_range){(int64)(low + (uint64)PG_INT64_MIN), (int64)(high + (uint64)PG_INT64_MIN)};
}

bool
ckfp_integers_next(const ckfp_integers *set, uint64 gap, uint64 *from, ckfp_range *range)
{
	uint64 begin = ckfp_bits_next(set->some, set->width, *from, true);
	uint64 end;

	if (begin >= set->width)
		return false;
	*from = begin;
	do
	{
		end = ckfp_bits_next(set->some, set->width, *from, false);
		*from = ckfp_bits_next(set->some, set->width, end, true);
	} while (*from < set->width && *from - end < gap);
	*range = ckfp_integers_between(set, begin, end);
	return true;
}

/* Set the bits of the buckets with the numbers from `from` up to `to`, without `to`. */
static void
ckfp_bits_set(const ckfp_integers *set, uint8 *bits, uint64 from, uint64 to)
{
	from -= set->first;
	to -= set->first;
	while (from < to)
		if (from % 8 == 0 && to - from >= 8)
		{
			memset(bits + from / 8, 0xff, (to - from) / 8);
			from = to - to % 8;
		}
		else
		{
			CKFP_SET_BIT(bits, from);
			from++;
		}
}

/* Add the buckets of a range, which are in the table. `whole`: all of its integers; else some of
 * each bucket. */
static void
ckfp_integers_mark(ckfp_integers *set, ckfp_range range, bool whole)
{
	uint64 from = ckfp_bucket_of(range.low, set->shift);
	uint64 to = ckfp_bucket_of(range.high, set->shift) + 1;

	ckfp_bits_set(set, set->some, from, to);
	if (set->shift == 0 || !whole)
		return;
	/* the buckets at both ends, unless they are whole */
	from += ckfp_bucket_of(range.low, 0) != from << set->shift;
	to -= ckfp_bucket_of(range.high, 0) + 1 != to << set->shift;
	if (from < to)
		ckfp_bits_set(set, set->all, from, to);
}

/* Move the set into another table, which has its buckets. */
static void
ckfp_integers_move(ckfp_integers *set, int shift, uint64 first, uint64 width)
{
	ckfp_integers old = *set;
	size_t size = width / 8;
	uint64 from = 0;
	uint64 end;

	set->shift = shift;
	set->first = first;
	set->width = width;
	set->some = MemoryContextAllocZero(set->context, shift == 0 ? size : 2 * size);
	set->all = shift == 0 ? set->some : set->some + size;
	if (old.width == 0)
		return;
	if (shift == 0 && old.first >= first && old.first + old.width <= first + width)
		memcpy(set->some + (old.first - first) / 8, old.some, old.width / 8);
	else
	{
		for (; (from = ckfp_bits_next(old.some, old.width, from, true)) < old.width; from = end)
		{
			end = ckfp_bits_next(old.some, old.width, from, false);
			ckfp_integers_mark(set, ckfp_integers_between(&old, from, end), false);
		}
		for (from = 0; (from = ckfp_bits_next(old.all, old.width, from, true)) < old.width;
			 from = end)
		{
			end = ckfp_bits_next(old.all, old.width, from, false);
			ckfp_integers_mark(set, ckfp_integers_between(&old, from, end), true);
		}
	}
	pfree(old.some);
}

void
ckfp_integers_reach(ckfp_integers *set, ckfp_range range)
{
	uint64 low = ckfp_bucket_of(range.low, 0);
	uint64 high = ckfp_bucket_of(range.high, 0);
	uint64 width = CKFP_FIRST_BUCKETS;
	uint64 first;
	uint64 room = CKFP_LEAST_ROOM;
	int shift = set->shift;

	if (set->width > 0)
	{
		ckfp_range old = ckfp_integers_between(set, 0, set->width);
		uint64 from = 0;

		if (old.low <= range.low && range.high <= old.high)
			return;
		if (set->width == set->most) /* it can't be wider, so only what is used counts */
		{
			ckfp_integers_next(set, PG_UINT64_MAX, &from, &old);
			room = set->most / CKFP_MOVED_ROOM;
		}
		low = Min(low, ckfp_bucket_of(old.low, 0));
		high = Max(high, ckfp_bucket_of(old.high, 0));
	}
	while ((high >> shift) - (low >> shift) > set->most - room)
		shift++;
	first = low >> shift;
	while (width < 2 * set->width || (high >> shift) - first > width - CKFP_LEAST_ROOM)
		width *= 2;
	width = Min(width, set->most);
	first -= Min(first, (width - ((high >> shift) - first)) / 2);
	first = Min(first, (PG_UINT64_MAX >> shift) - Min(width - 1, PG_UINT64_MAX >> shift));
	ckfp_integers_move(set, shift, first - first % 8, width);
}

void
ckfp_integers_add_range(ckfp_integers *set, ckfp_range range)
{
	ckfp_integers_reach(set, range);
	ckfp_integers_mark(set, range, true);
}

/* Put the integers that wait into the table. `last`: there are no more. */
static void
ckfp_integers_settle(ckfp_integers *set, bool last)
{
	int64 *waiting = set->waiting;
	ckfp_range all = {waiting[0], waiting[0]};
	uint64 buckets = CKFP_FIRST_BUCKETS;

	for (int i = 1; i < set->waits; i++)
	{
		all.low = Min(all.low, waiting[i]);
		all.high = Max(all.high, waiting[i]);
	}
	while (buckets < (uint64)set->waits * CKFP_BUCKETS_EACH)
		buckets *= 2;
	if (last && (uint64)all.high - (uint64)all.low > set->most - CKFP_LEAST_ROOM)
		set->most = Min(set->most, buckets);
	set->waiting = NULL;
	ckfp_integers_reach(set, all);
	for (int i = 0; i < set->waits; i++)
		ckfp_integers_add(set, waiting[i]);
	pfree(waiting);
}

void
ckfp_integers_add_other(ckfp_integers *set, int64 integer)
{
	if (set->width > 0)
	{
		ckfp_integers_add_range(set, (ckfp_range){integer, integer});
		return;
	}
	if (set->waiting == NULL)
		set->waiting = MemoryContextAlloc(set->context, CKFP_WAITING * sizeof(int64));
	set->waiting[set->waits++] = integer;
	if (set->waits == CKFP_WAITING)
		ckfp_integers_settle(set, false);
}

void
ckfp_integers_finish(ckfp_integers *set)
{
	if (set->waiting != NULL)
		ckfp_integers_settle(set, true);
}
