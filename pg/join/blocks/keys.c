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

static uint64
ckfp_higher_bits(int64 integer, int shift)
{
	return ((uint64)integer - (uint64)PG_INT64_MIN) >> shift;
}

/* Add a range to the bucket in which it begins. False if there is none. */
static bool
ckfp_buckets_add(struct ckfp_buckets *buckets, ckfp_range range)
{
	uint64 at = ckfp_higher_bits(range.low, buckets->shift) - buckets->first;

	if (at >= CKFP_BUCKETS)
		return false;
	buckets->range[at].low = Min(buckets->range[at].low, range.low);
	buckets->range[at].high = Max(buckets->range[at].high, range.high);
	return true;
}

/* Move all ranges into buckets, which have half as much room on both sides at least. */
static void
ckfp_buckets_fill(ckfp_ranges *ranges)
{
	struct ckfp_buckets *buckets = ranges->buckets;
	int64 low;
	int64 high;

	ckfp_ranges_sort(ranges);
	low = ranges->range[0].low;
	high = ranges->range[ranges->ranges - 1].high;
	buckets->shift = 0;
	while (ckfp_higher_bits(high, buckets->shift) - ckfp_higher_bits(low, buckets->shift) >=
		   CKFP_BUCKETS / 2)
		buckets->shift++;
	/* wraps around below 0 */
	buckets->first = ckfp_higher_bits(low, buckets->shift) - CKFP_BUCKETS / 4;
	for (int i = 0; i < CKFP_BUCKETS; i++)
		buckets->range[i] = (ckfp_range){PG_INT64_MAX, PG_INT64_MIN};
	for (int i = 0; i < ranges->ranges; i++)
		ckfp_buckets_add(buckets, ranges->range[i]);
	ranges->ranges = 0;
}

/* Move all ranges out of the buckets, if there are any. */
static void
ckfp_buckets_empty(ckfp_ranges *ranges)
{
	const struct ckfp_buckets *buckets = ranges->buckets;

	for (int i = 0; buckets != NULL && i < CKFP_BUCKETS; i++)
		if (buckets->range[i].high >= buckets->range[i].low)
			ranges->range[ranges->ranges++] = buckets->range[i];
}

/* ---------------------------------------------------------------------- gathering */

/* Make room for another integer. Where most of them are equal or side by side, sorting makes some.
 * False if there is none: the integers are in buckets from now on. */
static bool
ckfp_ranges_make_room(ckfp_keys *keys, ckfp_ranges *ranges)
{
	if (ranges->room < CKFP_VALUES)
	{
		size_t size;

		ranges->room = Max(4 * ranges->room, CKFP_VALUES_FIRST);
		size = ranges->room * sizeof(ckfp_range);
		ranges->range = ranges->range == NULL ? MemoryContextAlloc(keys->context, size)
											  : repalloc(ranges->range, size);
		return true;
	}
	ckfp_ranges_sort(ranges);
	if (ranges->ranges <= CKFP_FEW_KEYS && ranges->sorts++ < CKFP_SORTS)
		return true;
	ranges->n = ckfp_ranges_integers(ranges);
	ranges->room = 0;
	ranges->buckets = MemoryContextAlloc(keys->context, sizeof(*ranges->buckets));
	ckfp_buckets_fill(ranges);
	return false;
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
		int64 integer = ckfp_integer_of(value, ranges->length);
		ckfp_range range = {integer, integer};

		if (ranges->buckets == NULL && ckfp_ranges_make_room(keys, ranges))
		{
			ranges->range[ranges->ranges++] = range;
			return;
		}
		if (!ckfp_buckets_add(ranges->buckets, range))
		{
			ckfp_buckets_empty(ranges);
			ranges->range[ranges->ranges++] = range;
			ckfp_buckets_fill(ranges);
		}
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

void
ckfp_keys_finish(ckfp_keys *keys)
{
	if (keys->state != CKFP_KEYS_GATHERING)
		return;
	for (int i = 0; i < keys->columns; i++)
		if (keys->column[i] != NULL)
		{
			ckfp_buckets_empty(keys->column[i]);
			ckfp_ranges_complete(keys->column[i]);
		}
	keys->state = ckfp_keys_contribute(keys) ? CKFP_KEYS_WAITING : CKFP_KEYS_KNOWN;
}
