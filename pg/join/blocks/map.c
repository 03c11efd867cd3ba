/*
 * map.c - keys back to ranges of the column of which they are a monotone function.
 *
 * No function has an inverse here. The least value of the column for which the function reaches a
 * key is found by bisection, with the function itself. Most keys are as far from each other as
 * their values of the column are, so the first guess is nearly always right.
 *
 * Where clocks are set back, the function falls again. A value for which it reaches a key can then
 * be up to a day below the one that bisection finds, or that much above: ranges are wider by that.
 */
#include "join/base/monotone.h"
#include "join/blocks/blocks.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

struct ckfp_map
{
	const ckfp_join_record *record;
	ckfp_limits limits;
	int16 length;          /* of the values of the column */
	int16 key_length;      /* of the keys, if they are integers; else 0 */
	FmgrInfo less;         /* compares keys that are not integers */
	int64 scale;           /* the distance of two values, by that of their keys */
	int64 last_key;        /* the integer that was mapped last */
	int64 last;            /* the value of the column that `last_key` was mapped to */
	ExprState *state;      /* the function */
	ExprContext *econtext; /* has the argument of the function */
	ckfp_ranges ranges;    /* those of the keys */
};

void
ckfp_key_ranges_map_to(ckfp_key_ranges *keys, const ckfp_join_record *record, Expr *function,
					   EState *estate)
{
	ckfp_map *map = palloc0(sizeof(*map));
	ckfp_ranges *gathered = palloc0(sizeof(*gathered));
	Oid left;

	map->record = record;
	map->limits = ckfp_monotone_limits(record->source.probe);
	map->length = get_typlen(record->source.probe);
	op_input_types(record->column[0].equality, &left, &gathered->type);
	get_typlenbyval(gathered->type, &gathered->length, &gathered->by_value);
	gathered->integers = ckfp_type_is_integer(gathered->type);
	if (gathered->integers)
		map->key_length = get_typlen(left);
	map->scale = left == DATEOID && map->length == sizeof(int64) ? USECS_PER_DAY : 1;
	fmgr_info(get_opcode(lookup_type_cache(left, TYPECACHE_LT_OPR)->lt_opr), &map->less);
	fmgr_info_copy(&gathered->less, &map->less, CurrentMemoryContext);
	map->state = ExecInitExpr(function, NULL);
	map->econtext = CreateExprContext(estate);
	map->ranges.type = record->source.probe;
	map->ranges.length = map->ranges.probe_length = map->length;
	map->ranges.by_value = map->ranges.integers = true;
	keys->column[0] = gathered;
	keys->by_value = gathered->by_value;
	keys->map = map;
	keys->state = CKFP_RANGES_NEW;
}

Datum
ckfp_map_value(ckfp_map *map, int64 source)
{
	bool isnull;

	ResetExprContext(map->econtext);
	map->econtext->caseValue_datum = ckfp_integer_datum(source, map->length);
	map->econtext->caseValue_isNull = false;
	return ExecEvalExprSwitchContext(map->state, map->econtext, &isnull);
}

bool
ckfp_map_computes(const ckfp_map *map, int64 source)
{
	return source >= map->limits.low && source <= map->limits.high;
}

/* What is to be reached: an integer; or a value, which is to be exceeded, perhaps. */
typedef struct ckfp_goal
{
	int64 integer;
	Datum value;
	bool exceed;
} ckfp_goal;

/* Does the function reach a goal for this value of the column? */
static bool
ckfp_map_reaches(ckfp_map *map, int64 source, const ckfp_goal *goal)
{
	Datum value = ckfp_map_value(map, source);

	if (map->key_length != 0)
		return ckfp_integer_of(value, map->key_length) >= goal->integer;
	return goal->exceed ? DatumGetBool(FunctionCall2(&map->less, goal->value, value))
						: !DatumGetBool(FunctionCall2(&map->less, value, goal->value));
}

/* The value of the column for which an integer is reached, if it is as far from the last one as the
 * keys are. */
static int64
ckfp_map_guess(const ckfp_map *map, const ckfp_goal *goal)
{
	int64 distance;
	int64 guess;

	if (map->key_length == 0 || pg_sub_s64_overflow(goal->integer, map->last_key, &distance) ||
		pg_mul_s64_overflow(distance, map->scale, &distance) ||
		pg_add_s64_overflow(map->last, distance, &guess))
		return map->limits.least;
	return guess;
}

/* The first value of the column between the limits for which a goal is reached; or the value after
 * the upper limit. */
static int64
ckfp_map_first(ckfp_map *map, const ckfp_goal *goal)
{
	int64 low = map->limits.low - 1; /* below what is reached */
	int64 high = map->limits.high + 1;
	int64 guess = ckfp_map_guess(map, goal);

	if (ckfp_map_computes(map, guess) && ckfp_map_reaches(map, guess, goal))
		high = guess;
	if (high == guess && ckfp_map_computes(map, guess - 1) &&
		!ckfp_map_reaches(map, guess - 1, goal))
		low = guess - 1;
	while ((uint64)high - (uint64)low > 1)
	{
		int64 middle = (int64)((uint64)low + ((uint64)high - (uint64)low) / 2);

		if (ckfp_map_reaches(map, middle, goal))
			high = middle;
		else
			low = middle;
	}
	map->last_key = goal->integer;
	map->last = high;
	return high;
}

/* The values of the column that can have keys from one goal up to before another one. Beyond the
 * limits all values can. */
static ckfp_range
ckfp_map_range(ckfp_map *map, const ckfp_goal *from, const ckfp_goal *to)
{
	int64 step = map->record->days * USECS_PER_DAY;
	int64 low = ckfp_map_first(map, from);
	int64 high = to == NULL ? map->limits.high + 1 : ckfp_map_first(map, to);

	CHECK_FOR_INTERRUPTS();
	return (ckfp_range){
		low - step <= map->limits.low ? map->limits.least : low - step,
		high + step > map->limits.high ? map->limits.greatest : high - 1 + step,
	};
}

/* The range of integers, or of other keys from the least to the greatest one. */
static ckfp_range
ckfp_map_integers(ckfp_map *map, ckfp_range keys)
{
	ckfp_goal from = {.integer = keys.low};
	ckfp_goal to = {.integer = keys.high + 1};

	return ckfp_map_range(map, &from, keys.high == PG_INT64_MAX ? NULL : &to);
}

static ckfp_range
ckfp_map_others(ckfp_map *map, const ckfp_ranges *gathered)
{
	ckfp_goal from = {.value = gathered->least};
	ckfp_goal to = {.value = gathered->greatest, .exceed = true};

	return ckfp_map_range(map, &from, &to);
}

const ckfp_ranges *
ckfp_key_ranges_of(const ckfp_key_ranges *keys, int key)
{
	return keys->map != NULL && keys->column[key] != NULL ? &keys->map->ranges : keys->column[key];
}

/* Map all keys. False if they cannot be mapped. */
static bool
ckfp_key_ranges_map(ckfp_key_ranges *keys)
{
	ckfp_map *map = keys->map;
	ckfp_ranges *gathered = keys->column[0];
	ckfp_ranges *ranges = &map->ranges;
	int n;

	if (gathered == NULL || (map->record->session && !ckfp_zone_is_known(session_timezone)))
		return false;
	if (gathered->integers)
		ckfp_ranges_sort(gathered);
	n = gathered->integers ? gathered->ranges : gathered->n > 0;
	memset(&ranges->least, 0, sizeof(*ranges) - offsetof(ckfp_ranges, least));
	ckfp_integers_init(&ranges->set, keys->context, CKFP_SET_BYTES);
	ranges->range = MemoryContextAlloc(keys->context, Max(n, 1) * sizeof(ckfp_range));
	for (int i = 0; i < n; i++)
	{
		ckfp_range range = gathered->integers ? ckfp_map_integers(map, gathered->range[i])
											  : ckfp_map_others(map, gathered);

		if (range.low <= range.high) /* else the function never has these keys */
			ranges->range[ranges->ranges++] = range;
	}
	if (ranges->ranges > 0)
		ranges->n = gathered->n > 0 ? gathered->n : ckfp_ranges_integers(gathered);
	ckfp_ranges_complete(ranges);
	keys->zone = map->record->session ? session_timezone : NULL;
	keys->test = (ckfp_key_test){.integers = &ranges->set, .length = map->length};
	return true;
}

void
ckfp_key_ranges_complete(ckfp_key_ranges *keys)
{
	bool known = keys->map == NULL || ckfp_key_ranges_map(keys);

	keys->state = known ? CKFP_RANGES_KNOWN : CKFP_RANGES_OFF;
	for (int i = 0; i < keys->columns && keys->map == NULL; i++)
		if (keys->column[i] != NULL)
			ckfp_ranges_complete(keys->column[i]);
}
