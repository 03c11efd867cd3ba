/*
 * keys.c - the keys of a build side, while they are gathered.
 *
 * Integers, dates and timestamps give ranges: of few keys all that they need, of others up to 64,
 * with the largest gaps between them. So that this costs next to nothing for many keys, too, they
 * are first gathered as they are, and then in buckets of equal width. Of other types the least and
 * the greatest key are kept.
 */
#include "join/blocks/blocks.h"

#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* So many integers are gathered as they are, at first and at most. */
#define CKFP_VALUES_FIRST 256
#define CKFP_VALUES 16384

/* They are sorted at most so often, where most of them are equal. */
#define CKFP_SORTS 8

/* So many keys of other types, which are compared one by one, are worth it. */
#define CKFP_OTHER_KEYS 32768

#define CKFP_BUCKETS 4096

/* Integers count from the least one on, as unsigned numbers. Bucket i has those whose higher bits
 * are first + i. One without keys has no range: its high is less than its low. */
struct ckfp_buckets
{
	uint64 first;
	int shift;
	ckfp_range range[CKFP_BUCKETS];
};

/* ----------------------------------------------------------------------- the keys of a join */

void
ckfp_keys_init(ckfp_keys *keys, MemoryContext parent, const ckfp_join_record *record, int node)
{
	keys->context = AllocSetContextCreate(parent, "keys of a join", ALLOCSET_SMALL_SIZES);
	keys->columns = record->columns;
	keys->node = node;
	keys->by_value = true;
	keys->worth = Max(record->block_rows / CKFP_KEYS_SHARE, 1);
	keys->always = ckfp_join_mode_setting != CKFP_JOIN_AUTO;
}

bool
ckfp_keys_want(ckfp_keys *keys, const ckfp_join_record *record, const ckfp_join_index *index)
{
	Oid type = record->column[index->key].build;
	MemoryContext context = MemoryContextGetParent(keys->context);
	ckfp_ranges *ranges = keys->column[index->key];

	if (ranges != NULL)
		return ckfp_ranges_serve(ranges, index);
	ranges = MemoryContextAllocZero(context, sizeof(*ranges));
	ranges->type = type;
	get_typlenbyval(type, &ranges->length, &ranges->by_value);
	ranges->integers = ckfp_type_is_integer(type);
	fmgr_info_cxt(get_opcode(index->less), &ranges->less, context);
	ranges->collation = index->collation;
	keys->column[index->key] = ranges;
	keys->by_value &= ranges->by_value;
	return true;
}

void
ckfp_keys_start(ckfp_keys *keys)
{
	if (keys->state == CKFP_KEYS_OFF)
		return;
	MemoryContextReset(keys->context);
	keys->state = CKFP_KEYS_NEW;
	keys->builds++;
	for (int i = 0; i < keys->columns; i++)
	{
		ckfp_ranges *ranges = keys->column[i];

		if (ranges != NULL)
			memset(&ranges->least, 0, sizeof(*ranges) - offsetof(ckfp_ranges, least));
	}
}

/* ------------------------------------------------------------------------- buckets */

static void ckfp_buckets_add(ckfp_keys *keys, ckfp_ranges *ranges, ckfp_range range);

static uint64
ckfp_higher_bits(int64 integer, int shift)
{
	return ((uint64)integer - (uint64)PG_INT64_MIN) >> shift;
}

/* Make buckets for integers from `low` to `high`, with half as much room on both sides at least. */
static void
ckfp_buckets_make(ckfp_keys *keys, ckfp_ranges *ranges, int64 low, int64 high)
{
	struct ckfp_buckets *before = ranges->buckets;
	struct ckfp_buckets *buckets = MemoryContextAlloc(keys->context, sizeof(*buckets));

	buckets->shift = 0;
	while (ckfp_higher_bits(high, buckets->shift) - ckfp_higher_bits(low, buckets->shift) >=
		   CKFP_BUCKETS / 2)
		buckets->shift++;
	/* wraps around below 0 */
	buckets->first = ckfp_higher_bits(low, buckets->shift) - CKFP_BUCKETS / 4;
	for (int i = 0; i < CKFP_BUCKETS; i++)
		buckets->range[i] = (ckfp_range){PG_INT64_MAX, PG_INT64_MIN};
	ranges->buckets = buckets;
	for (int i = 0; before != NULL && i < CKFP_BUCKETS; i++)
		if (before->range[i].high >= before->range[i].low)
			ckfp_buckets_add(keys, ranges, before->range[i]);
	if (before != NULL)
		pfree(before);
}

/* Add a range to the bucket in which it begins. */
static void
ckfp_buckets_add(ckfp_keys *keys, ckfp_ranges *ranges, ckfp_range range)
{
	struct ckfp_buckets *buckets = ranges->buckets;
	uint64 at = ckfp_higher_bits(range.low, buckets->shift) - buckets->first;

	if (at >= CKFP_BUCKETS)
	{
		int64 low = range.low;
		int64 high = range.high;

		for (int i = 0; i < CKFP_BUCKETS; i++)
		{
			low = Min(low, buckets->range[i].low);
			high = Max(high, buckets->range[i].high);
		}
		ckfp_buckets_make(keys, ranges, low, high);
		ckfp_buckets_add(keys, ranges, range);
		return;
	}
	buckets->range[at].low = Min(buckets->range[at].low, range.low);
	buckets->range[at].high = Max(buckets->range[at].high, range.high);
}

/* ---------------------------------------------------------------------- gathering */

static int
ckfp_compare_integers(const void *a, const void *b)
{
	int64 one = *(const int64 *)a;
	int64 other = *(const int64 *)b;

	return (one > other) - (one < other);
}

/* Sort the gathered integers, and keep one of those that are equal. */
static void
ckfp_ranges_sort(ckfp_ranges *ranges)
{
	int last = 0;

	if (ranges->values == 0)
		return;
	qsort(ranges->value, ranges->values, sizeof(int64), ckfp_compare_integers);
	for (int i = 1; i < ranges->values; i++)
		if (ranges->value[i] != ranges->value[last])
			ranges->value[++last] = ranges->value[i];
	ranges->values = last + 1;
}

/* There is no room for another integer. Where most of them are equal, sorting makes some. */
static void
ckfp_ranges_make_room(ckfp_keys *keys, ckfp_ranges *ranges)
{
	if (ranges->room < CKFP_VALUES)
	{
		size_t size;

		ranges->room = Max(4 * ranges->room, CKFP_VALUES_FIRST);
		size = ranges->room * sizeof(int64);
		ranges->value = ranges->value == NULL ? MemoryContextAlloc(keys->context, size)
											  : repalloc(ranges->value, size);
		return;
	}
	ckfp_ranges_sort(ranges);
	if (ranges->values <= CKFP_FEW_KEYS && ranges->sorts++ < CKFP_SORTS)
		return;
	ckfp_buckets_make(keys, ranges, ranges->value[0], ranges->value[ranges->values - 1]);
	for (int i = 0; i < ranges->values; i++)
		ckfp_buckets_add(keys, ranges, (ckfp_range){ranges->value[i], ranges->value[i]});
	ranges->n = ranges->values;
	ranges->values = 0;
}

static void
ckfp_ranges_keep(const ckfp_keys *keys, const ckfp_ranges *ranges, Datum *kept, Datum value)
{
	MemoryContext caller = MemoryContextSwitchTo(keys->context);

	if (!ranges->by_value && ranges->n > 0)
		pfree(DatumGetPointer(*kept));
	*kept = ranges->length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value))
								 : datumCopy(value, ranges->by_value, ranges->length);
	MemoryContextSwitchTo(caller);
}

static bool
ckfp_ranges_are_ordered(ckfp_ranges *ranges, Datum one, Datum other)
{
	return DatumGetBool(FunctionCall2Coll(&ranges->less, ranges->collation, one, other));
}

void
ckfp_ranges_add_slow(ckfp_keys *keys, ckfp_ranges *ranges, Datum value)
{
	if (ranges->integers)
	{
		int64 integer = ckfp_ranges_integer(ranges, value);

		if (ranges->buckets == NULL)
			ckfp_ranges_make_room(keys, ranges);
		if (ranges->buckets == NULL)
		{
			ranges->value[ranges->values++] = integer;
			return;
		}
		ckfp_buckets_add(keys, ranges, (ckfp_range){integer, integer});
	}
	else
	{
		if (ranges->n == 0 || ckfp_ranges_are_ordered(ranges, value, ranges->least))
			ckfp_ranges_keep(keys, ranges, &ranges->least, value);
		if (ranges->n == 0 || ckfp_ranges_are_ordered(ranges, ranges->greatest, value))
			ckfp_ranges_keep(keys, ranges, &ranges->greatest, value);
	}
	if (++ranges->n > (ranges->integers ? keys->worth : CKFP_OTHER_KEYS) && !keys->always)
		ckfp_keys_give_up(keys);
}

/* ------------------------------------------------------------------------ the end */

static void
ckfp_ranges_finish(const ckfp_keys *keys, ckfp_ranges *ranges)
{
	ckfp_range *range;
	int n;

	ckfp_ranges_sort(ranges);
	range = MemoryContextAlloc(keys->context, Max(ranges->values, CKFP_BUCKETS) * sizeof(*range));
	for (n = 0; n < ranges->values; n++)
		range[n] = (ckfp_range){ranges->value[n], ranges->value[n]};
	ranges->distinct = ranges->n + n;
	for (int i = 0; ranges->buckets != NULL && i < CKFP_BUCKETS; i++)
		if (ranges->buckets->range[i].high >= ranges->buckets->range[i].low)
			range[n++] = ranges->buckets->range[i];
	ckfp_ranges_set(ranges, range, n);
}

void
ckfp_keys_finish(ckfp_keys *keys)
{
	if (keys->state != CKFP_KEYS_GATHERING)
		return;
	for (int i = 0; i < keys->columns; i++)
		if (keys->column[i] != NULL)
			ckfp_ranges_finish(keys, keys->column[i]);
	keys->state = ckfp_keys_contribute(keys) ? CKFP_KEYS_WAITING : CKFP_KEYS_KNOWN;
}
