/*
 * map.c - keys back to ranges of the column of which they are a monotone function.
 *
 * No function has an inverse here. The least value of the column for which the function reaches a
 * key is found by bisection, with the function itself. Most keys are as far from each other as
 * their values of the column are, or a multiple of that, so the first guess is nearly always right.
 * Where it is not, as days and months differ in length, the value is nearly always a whole quarter
 * of an hour: so these are tried first.
 *
 * Each call of the function is a cost, which the ranges must save. So the first keys are mapped to
 * see how many calls a key needs, and how much of the column between the least and the greatest key
 * all keys cover. Where the keys are near each other, and so wherever ranges that are widened meet,
 * nothing between them can be skipped: they become one range. If mapping all keys costs too much,
 * those nearest to each other are merged.
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

/* The first keys that are mapped, and those after which the guesses are as good as they get. */
#define CKFP_SAMPLE 16
#define CKFP_SAMPLE_FROM 4

/* About the number of calls for these. */
#define CKFP_SAMPLE_CALLS 500

/* Around a wrong guess, each step is so many times as long as the one before. */
#define CKFP_STEP 8

/* In each time zone of today, days and hours begin at a multiple of this. */
#define CKFP_QUARTER (15 * USECS_PER_MINUTE)

/* If keys cover this share of the column between them, they become one range. */
#define CKFP_COVERED 0.9

/* An integer that was mapped. */
typedef struct ckfp_mapped
{
	bool known;
	int64 key;
	int64 value; /* the value of the column that it was mapped to */
	int64 scale; /* the distance of two values, by that of their keys */
} ckfp_mapped;

struct ckfp_map
{
	const ckfp_join_record *record;
	ckfp_limits limits;
	int64 unit;            /* most values that are looked for are multiples of it */
	int16 length;          /* of the values of the column */
	int16 key_length;      /* of the keys, if they are integers; else 0 */
	FmgrInfo less;         /* compares keys that are not integers */
	ckfp_mapped last[2];   /* the last ones of keys, and of what is above keys */
	double calls;          /* the number of calls of the function */
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
	map->unit = record->source.probe == TIMESTAMPOID || record->source.probe == TIMESTAMPTZOID
					? CKFP_QUARTER
					: 1;
	map->length = get_typlen(record->source.probe);
	op_input_types(record->column[0].equality, &left, &gathered->type);
	get_typlenbyval(gathered->type, &gathered->length, &gathered->by_value);
	gathered->integers = ckfp_type_is_integer(gathered->type);
	if (gathered->integers)
		map->key_length = get_typlen(left);
	map->last[0].scale = left == DATEOID && map->length == sizeof(int64) ? USECS_PER_DAY : 1;
	map->last[1].scale = map->last[0].scale;
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

/* What is to be reached: an integer; or a value. */
typedef struct ckfp_goal
{
	int64 integer;
	Datum value;
	bool exceed; /* the value is to be exceeded; the integer is the one after a key */
} ckfp_goal;

/* Does the function reach a goal for this value of the column? */
static bool
ckfp_map_reaches(ckfp_map *map, int64 source, const ckfp_goal *goal)
{
	Datum value = ckfp_map_value(map, source);

	map->calls++;
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
	const ckfp_mapped *last = &map->last[goal->exceed && map->last[1].known];
	int64 distance;
	int64 guess;

	if (map->key_length == 0 || pg_sub_s64_overflow(goal->integer, last->key, &distance) ||
		pg_mul_s64_overflow(distance, last->scale, &distance) ||
		pg_add_s64_overflow(last->value, distance, &guess))
		return map->limits.least;
	return guess;
}

/* Remember what an integer was mapped to. If the guess was wrong, the scale is that of the last two
 * keys from here on. */
static void
ckfp_map_note(ckfp_mapped *last, int64 key, int64 value, bool guessed)
{
	int64 keys;
	int64 values;

	if (!guessed && last->known && !pg_sub_s64_overflow(key, last->key, &keys) &&
		!pg_sub_s64_overflow(value, last->value, &values) && keys > 0 && values >= keys)
		last->scale = values / keys;
	last->known = true;
	last->key = key;
	last->value = value;
}

/* Find two values near a guess, `low` for which the function is below a goal, and `high` for which
 * it reaches it. One that is not found stays. */
static void
ckfp_map_near(ckfp_map *map, const ckfp_goal *goal, int64 guess, int64 *low, int64 *high)
{
	bool below = !ckfp_map_reaches(map, guess, goal);
	int64 step = below ? 1 : -1;
	int64 next = guess;

	*(below ? low : high) = guess;
	while (!pg_add_s64_overflow(next, step, &next) && ckfp_map_computes(map, next))
	{
		bool reaches = ckfp_map_reaches(map, next, goal);

		*(reaches ? high : low) = next;
		if (reaches == below ||
			pg_mul_s64_overflow(
				step, next == guess + step ? map->last[goal->exceed].scale : CKFP_STEP, &step))
			break;
	}
}

/* The first value of the column between the limits for which a goal is reached; or the value after
 * the upper limit. */
static int64
ckfp_map_first(ckfp_map *map, const ckfp_goal *goal)
{
	int64 low = map->limits.low - 1; /* below what is reached */
	int64 high = map->limits.high + 1;
	int64 guess = ckfp_map_guess(map, goal);

	if (ckfp_map_computes(map, guess))
		ckfp_map_near(map, goal, guess, &low, &high);
	while ((uint64)high - (uint64)low > 1)
	{
		int64 middle = (int64)((uint64)low + ((uint64)high - (uint64)low) / 2);
		int64 multiple = middle - middle % map->unit;

		if (multiple > low && multiple < high)
			middle = multiple;
		else if (high % map->unit == 0)
			middle = high - 1;
		if (ckfp_map_reaches(map, middle, goal))
			high = middle;
		else
			low = middle;
	}
	ckfp_map_note(&map->last[goal->exceed], goal->integer, high, high == guess);
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
	ckfp_goal to = {.integer = keys.high + 1, .exceed = true};

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

/* What the first keys show. */
typedef struct ckfp_sample
{
	double calls; /* for a range of keys */
	double scale; /* the distance of two values of the column, by that of their keys */
	double width; /* values of the column for a key */
} ckfp_sample;

static ckfp_sample
ckfp_map_sample(ckfp_map *map, const ckfp_range *range)
{
	ckfp_sample sample = {0};
	const int n = CKFP_SAMPLE - CKFP_SAMPLE_FROM;
	ckfp_range mapped[CKFP_SAMPLE];

	for (int i = 0; i < CKFP_SAMPLE; i++)
	{
		if (i == CKFP_SAMPLE_FROM)
			map->calls = 0;
		mapped[i] = ckfp_map_integers(map, range[i]);
	}
	range += CKFP_SAMPLE_FROM;
	sample.calls = map->calls / n;
	sample.scale = ((double)mapped[CKFP_SAMPLE - 1].low - (double)mapped[CKFP_SAMPLE_FROM].low) /
				   ((double)range[n - 1].low - (double)range[0].low);
	for (int i = 0; i < n; i++)
		sample.width +=
			((double)mapped[CKFP_SAMPLE_FROM + i].high - (double)mapped[CKFP_SAMPLE_FROM + i].low +
			 1 - ((double)range[i].high - (double)range[i].low) * sample.scale) /
			n;
	return sample;
}

/* The share of the column between the least and the greatest key that ranges of keys cover. */
static double
ckfp_map_covered(const ckfp_sample *sample, const ckfp_range *range, int n)
{
	double span =
		((double)range[n - 1].high - (double)range[0].low) * sample->scale + sample->width;
	double covered = 0;

	for (int i = 0; i < n; i++)
	{
		double own = ((double)range[i].high - (double)range[i].low) * sample->scale + sample->width;

		covered +=
			i + 1 == n
				? own
				: Min(own, ((double)range[i + 1].low - (double)range[i].low) * sample->scale);
	}
	return span > 0 ? covered / span : 1;
}

/* Merge ranges of keys until mapping them costs no more than it can save. Returns their number. */
static int
ckfp_map_merge(ckfp_map *map, ckfp_range *range, int n)
{
	ckfp_sample sample = {0};
	double covered = 1;

	if (n <= CKFP_SAMPLE)
		return n;
	if (ckfp_cost_of_calls(map->record, 1) > CKFP_SAMPLE_CALLS)
	{
		sample = ckfp_map_sample(map, range);
		covered = ckfp_map_covered(&sample, range, n);
	}
	if (covered < CKFP_COVERED)
	{
		double most = ckfp_cost_of_calls(map->record, 1 - covered) / Max(sample.calls, 1);

		if (most >= n)
			return n;
		n = ckfp_ranges_merge(range, n, (int)Max(most, 1));
		covered = ckfp_map_covered(&sample, range, n);
	}
	if (covered < CKFP_COVERED)
		return n;
	range->high = range[n - 1].high;
	return 1;
}

/* Map all keys. False if they cannot be mapped. */
static bool
ckfp_key_ranges_map(ckfp_key_ranges *keys)
{
	ckfp_map *map = keys->map;
	ckfp_ranges *gathered = keys->column[0];
	ckfp_ranges *ranges = &map->ranges;
	double all;
	int n;

	if (gathered == NULL || (map->record->session && !ckfp_zone_is_known(session_timezone)))
		return false;
	if (gathered->integers)
		ckfp_ranges_sort(gathered);
	n = gathered->integers ? gathered->ranges : gathered->n > 0;
	all = gathered->n > 0 ? gathered->n : ckfp_ranges_integers(gathered);
	if (gathered->integers && !keys->always)
		n = ckfp_map_merge(map, gathered->range, n);
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
		ranges->n = all;
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
