/*
 * key_ranges.c - the keys of a build side, while they are gathered.
 *
 * Integers, dates and timestamps give ranges: of few keys all that they need, of others up to
 * 1,000, with the largest gaps between them. They are first gathered as they are; if there are
 * many, in a set, which costs next to nothing for each key. Of other types the least and the
 * greatest key are kept.
 */
#include "join/blocks/blocks.h"

#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* The number of integers that are gathered as they are: at first, and at most. */
#define CKFP_VALUES_FIRST 256
#define CKFP_VALUES 16384

/* The maximum number of times that they are sorted, where most of them are equal. */
#define CKFP_SORTS 8

/* The maximum number of keys of other types that are worth it: they are compared one by one. */
#define CKFP_OTHER_KEYS 32768

/* The maximum number of ranges that the set of many keys gives. */
#define CKFP_SET_RANGES 4096

/* ----------------------------------------------------------------------- the keys of a join */

void
ckfp_key_ranges_init(ckfp_key_ranges *keys, const ckfp_join_record *record, int node)
{
	keys->context =
		AllocSetContextCreate(CurrentMemoryContext, "keys of a join", ALLOCSET_SMALL_SIZES);
	keys->columns = record->columns;
	keys->node = node;
	keys->by_value = true;
	keys->worth =
		Max((record->mapped ? record->probe_rows : record->block_rows) / CKFP_KEYS_SHARE, 1);
	keys->always = ckfp_join_mode_setting != CKFP_JOIN_AUTO;
}

bool
ckfp_key_ranges_want(ckfp_key_ranges *keys, const ckfp_join_record *record,
					 const ckfp_join_index *index)
{
	Oid type = record->column[index->key].build;
	ckfp_ranges *ranges = keys->column[index->key];

	if (ranges != NULL)
		return keys->map != NULL || ckfp_ranges_serve(ranges, index);
	ranges = palloc0(sizeof(*ranges));
	ranges->type = type;
	get_typlenbyval(type, &ranges->length, &ranges->by_value);
	ranges->integers = ckfp_type_is_integer(type);
	ranges->probe_length = get_typlen(record->column[index->key].probe);
	fmgr_info(get_opcode(index->less), &ranges->less);
	ranges->collation = index->collation;
	keys->column[index->key] = ranges;
	keys->by_value &= ranges->by_value;
	return true;
}

void
ckfp_key_ranges_start(ckfp_key_ranges *keys)
{
	if (keys->state == CKFP_RANGES_OFF)
		return;
	MemoryContextReset(keys->context);
	keys->state = CKFP_RANGES_NEW;
	keys->generation++;
	keys->test.integers = NULL;
	for (int i = 0; i < keys->columns; i++)
	{
		ckfp_ranges *ranges = keys->column[i];

		if (ranges == NULL)
			continue;
		memset(&ranges->least, 0, sizeof(*ranges) - offsetof(ckfp_ranges, least));
		ckfp_integers_init(&ranges->set, keys->context, CKFP_SET_BYTES);
	}
}

/* ---------------------------------------------------------------------- gathering */

/* Make room for another integer. Where most of them are equal or side by side, sorting makes some.
 * False if there is none: the integers are in the set from now on. */
static bool
ckfp_ranges_make_room(ckfp_key_ranges *keys, ckfp_ranges *ranges)
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
	ckfp_ranges_to_set(ranges);
	ranges->ranges = 0;
	ranges->room = 0;
	ranges->many = true;
	return false;
}

static void
ckfp_ranges_keep(const ckfp_key_ranges *keys, const ckfp_ranges *ranges, Datum *kept, Datum value)
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
ckfp_ranges_add_slow(ckfp_key_ranges *keys, ckfp_ranges *ranges, Datum value)
{
	if (ranges->integers)
	{
		int64 integer = ckfp_integer_of(value, ranges->length);

		if (!ranges->many && ckfp_ranges_make_room(keys, ranges))
		{
			ranges->range[ranges->ranges++] = (ckfp_range){integer, integer};
			return;
		}
		ckfp_integers_add(&ranges->set, integer);
	}
	else
	{
		if (ranges->n == 0 || ckfp_ranges_are_ordered(ranges, value, ranges->least))
			ckfp_ranges_keep(keys, ranges, &ranges->least, value);
		if (ranges->n == 0 || ckfp_ranges_are_ordered(ranges, ranges->greatest, value))
			ckfp_ranges_keep(keys, ranges, &ranges->greatest, value);
	}
	if (++ranges->n > (ranges->integers ? keys->worth : CKFP_OTHER_KEYS) && !keys->always)
		ckfp_key_ranges_give_up(keys);
}

/* ------------------------------------------------------------------------ the end */

/* The ranges of many keys, from the set. */
static void
ckfp_ranges_of_set(ckfp_ranges *ranges)
{
	uint64 from = 0;

	while (ranges->many && ckfp_integers_next(&ranges->set, ranges->set.width / CKFP_SET_RANGES + 1,
											  &from, &ranges->range[ranges->ranges]))
		ranges->ranges++;
}

void
ckfp_key_ranges_finish(ckfp_key_ranges *keys)
{
	if (keys->state != CKFP_RANGES_GATHERING)
		return;
	for (int i = 0; i < keys->columns; i++)
		if (keys->column[i] != NULL)
			ckfp_ranges_of_set(keys->column[i]);
	if (keys->map == NULL || !ckfp_keys_are_common(keys))
		ckfp_key_ranges_complete(keys);
	if (ckfp_key_ranges_contribute(keys))
		keys->state = CKFP_RANGES_WAITING;
}
