/*
 * monotone.c - the list of monotone functions.
 *
 * Left out are functions that fail for values of usual columns: date to timestamp past 294276 AD,
 * arithmetic of integers that overflows. So are those of time zones that a setting can define anew.
 */
#include "join/base/integers.h"
#include "join/base/monotone.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include <ctype.h>

/* What an argument of a function must be. All but CKFP_IS_COLUMN are constants. */
typedef enum ckfp_argument
{
	CKFP_IS_NONE,
	CKFP_IS_COLUMN, /* the column, or a monotone function of it */
	CKFP_IS_UNIT,   /* a unit of date_trunc */
	CKFP_IS_FIELD,  /* a field of extract that never falls while time passes */
	CKFP_IS_ZONE,   /* a time zone */
	CKFP_IS_DAYS,   /* a number of days */
	CKFP_IS_SPAN,   /* an interval of days and hours */
	CKFP_IS_HOURS,  /* an interval of hours alone: a day of a time zone may not have 24 */
	CKFP_IS_DIVISOR /* an integer above 0 */
} ckfp_argument;

/* How a function depends on a time zone: one that is an argument, or the session's. From PostgreSQL
 * 18 on it looks for the name among the abbreviations of the session's zone first. */
typedef enum ckfp_zone
{
	CKFP_ZONE_NONE,
	CKFP_ZONE_ARGUMENT,
	CKFP_ZONE_SESSION,
	CKFP_ZONE_OF_SESSION = PG_VERSION_NUM >= 180000 ? CKFP_ZONE_ARGUMENT : CKFP_ZONE_SESSION
} ckfp_zone;

#define CKFP_ARGUMENTS 3

typedef struct ckfp_function
{
	Oid oid;
	ckfp_zone zone;
	uint8 argument[CKFP_ARGUMENTS];
} ckfp_function;

static const ckfp_function ckfp_functions[] = {
	{F_DATE_TIMESTAMP, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_DATE_TIMESTAMPTZ, CKFP_ZONE_SESSION, {CKFP_IS_COLUMN}},
	{F_TIMESTAMP_TIMESTAMPTZ, CKFP_ZONE_SESSION, {CKFP_IS_COLUMN}},
	{F_TIMEZONE_TEXT_TIMESTAMPTZ, CKFP_ZONE_ARGUMENT, {CKFP_IS_ZONE, CKFP_IS_COLUMN}},
	{F_DATE_TRUNC_TEXT_TIMESTAMP, CKFP_ZONE_NONE, {CKFP_IS_UNIT, CKFP_IS_COLUMN}},
	{F_DATE_TRUNC_TEXT_TIMESTAMPTZ, CKFP_ZONE_SESSION, {CKFP_IS_UNIT, CKFP_IS_COLUMN}},
	{F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT,
	 CKFP_ZONE_ARGUMENT,
	 {CKFP_IS_UNIT, CKFP_IS_COLUMN, CKFP_IS_ZONE}},
	{F_EXTRACT_TEXT_DATE, CKFP_ZONE_NONE, {CKFP_IS_FIELD, CKFP_IS_COLUMN}},
	{F_EXTRACT_TEXT_TIMESTAMP, CKFP_ZONE_NONE, {CKFP_IS_FIELD, CKFP_IS_COLUMN}},
	{F_EXTRACT_TEXT_TIMESTAMPTZ, CKFP_ZONE_SESSION, {CKFP_IS_FIELD, CKFP_IS_COLUMN}},
	{F_DATE_PART_TEXT_TIMESTAMP, CKFP_ZONE_NONE, {CKFP_IS_FIELD, CKFP_IS_COLUMN}},
	{F_DATE_PART_TEXT_TIMESTAMPTZ, CKFP_ZONE_SESSION, {CKFP_IS_FIELD, CKFP_IS_COLUMN}},
	{F_DATE_PLI, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_DAYS}},
	{F_DATE_MII, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_DAYS}},
	{F_TIMESTAMP_PL_INTERVAL, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_SPAN}},
	{F_TIMESTAMP_MI_INTERVAL, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_SPAN}},
	{F_TIMESTAMPTZ_PL_INTERVAL, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_HOURS}},
	{F_TIMESTAMPTZ_MI_INTERVAL, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_HOURS}},
	{F_INT4_INT2, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_INT8_INT2, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_INT8_INT4, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_NUMERIC_INT2, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_NUMERIC_INT4, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_NUMERIC_INT8, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_FLOAT8_INT2, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_FLOAT8_INT4, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_FLOAT8_INT8, CKFP_ZONE_NONE, {CKFP_IS_COLUMN}},
	{F_INT24DIV, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_DIVISOR}},
	{F_INT4DIV, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_DIVISOR}},
	{F_INT48DIV, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_DIVISOR}},
	{F_INT8DIV, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_DIVISOR}},
	{F_INT84DIV, CKFP_ZONE_NONE, {CKFP_IS_COLUMN, CKFP_IS_DIVISOR}},
};

/* The words that are listed, each between spaces. A function with another spelling is not used. A
 * century is too long where several functions are one inside another. */
#define CKFP_UNITS " second minute hour day week month quarter year decade "
#define CKFP_FIELDS " year isoyear decade century millennium epoch julian "

/* The functions are computed for timestamps from 3991 BC to 287198 AD, and the same dates. They
 * fail for none of these, as there are limits: to the number of functions that are one inside
 * another, to those of them that use time zones, and to the days, and the hours, that one adds. A
 * function also subtracts at most so much, or a decade. */
#define CKFP_LOW INT64CONST(-189000000000000000)
#define CKFP_HIGH INT64CONST(9000000000000000000)
#define CKFP_MOST_FUNCTIONS 16
#define CKFP_MOST_ZONES 2
#define CKFP_MOST_SPAN 400

/* ------------------------------------------------------------------- constants */

static bool
ckfp_is_word(const char *word, const char *words)
{
	char *lower = psprintf(" %s ", word);

	for (char *c = lower; *c != '\0'; c++)
		*c = (char)pg_tolower((unsigned char)*c);
	return strchr(word, ' ') == NULL && strstr(words, lower) != NULL;
}

/* In the database of time zones no clock steps back by more than a day: that is the step of Alaska
 * in 1867. But a zone can also be written as its rule, where each offset is a number, as in
 * "XXX-24YYY+24". */
bool
ckfp_zone_is_known(pg_tz *zone)
{
	const char *c = pg_get_timezone_name(zone);
	long offset;
	int numbers = 0;

	if (pg_get_timezone_offset(zone, &offset))
		return true; /* it has no steps */
	for (; *c != '\0'; c++)
		numbers += isdigit((unsigned char)c[0]) && !isdigit((unsigned char)c[1]);
	return numbers < 2;
}

/* Is it a time zone, and no abbreviation of one? Abbreviations are shorter, and the setting
 * timezone_abbreviations can redefine them. PostgreSQL's own files do not redefine UTC. */
static bool
ckfp_is_zone(const char *name)
{
	pg_tz *zone = pg_tzset(name);

	return zone != NULL && ckfp_zone_is_known(zone) &&
		   (strlen(name) > TOKMAXLEN || pg_strcasecmp(name, "UTC") == 0);
}

static bool
ckfp_is_short(const Interval *interval)
{
	int64 days = interval->time / USECS_PER_DAY;

	return interval->month == 0 && interval->day >= -CKFP_MOST_SPAN &&
		   interval->day <= CKFP_MOST_SPAN && days > -CKFP_MOST_SPAN && days < CKFP_MOST_SPAN;
}

static bool
ckfp_constant_is(const Const *constant, ckfp_argument argument)
{
	Datum value;

	if (!IsA(constant, Const) || constant->constisnull)
		return false;
	value = constant->constvalue;
	switch (argument)
	{
		case CKFP_IS_UNIT:
			return ckfp_is_word(TextDatumGetCString(value), CKFP_UNITS);
		case CKFP_IS_FIELD:
			return ckfp_is_word(TextDatumGetCString(value), CKFP_FIELDS);
		case CKFP_IS_ZONE:
			return ckfp_is_zone(TextDatumGetCString(value));
		case CKFP_IS_DAYS:
			return DatumGetInt32(value) >= -CKFP_MOST_SPAN &&
				   DatumGetInt32(value) <= CKFP_MOST_SPAN;
		case CKFP_IS_SPAN:
			return ckfp_is_short(DatumGetIntervalP(value));
		case CKFP_IS_HOURS:
			return ckfp_is_short(DatumGetIntervalP(value)) && DatumGetIntervalP(value)->day == 0;
		default:
			return ckfp_integer_of(value, (int16)constant->constlen) > 0;
	}
}

/* ------------------------------------------------------------------- functions */

static const ckfp_function *
ckfp_function_of(const Expr *expression, List **arguments)
{
	Oid oid = InvalidOid;

	if (IsA(expression, FuncExpr))
	{
		oid = ((const FuncExpr *)expression)->funcid;
		*arguments = ((const FuncExpr *)expression)->args;
	}
	else if (IsA(expression, OpExpr))
	{
		oid = ((const OpExpr *)expression)->opfuncid;
		*arguments = ((const OpExpr *)expression)->args;
	}
	for (size_t i = 0; i < lengthof(ckfp_functions) && OidIsValid(oid); i++)
		if (ckfp_functions[i].oid == oid)
			return &ckfp_functions[i];
	return NULL;
}

/* Is it a value of a domain, read as one of its base type? Users can create casts that read a value
 * as one of another type, which may have another order. */
static bool
ckfp_is_of_domain(const Expr *expression)
{
	const RelabelType *relabel = (const RelabelType *)expression;

	return IsA(expression, RelabelType) &&
		   getBaseType(exprType((Node *)relabel->arg)) == getBaseType(relabel->resulttype);
}

bool
ckfp_monotone_of(Expr *expression, int varno, ckfp_monotone *monotone)
{
	*monotone = (ckfp_monotone){0};
	for (int functions = 0; functions <= CKFP_MOST_FUNCTIONS; functions++)
	{
		List *arguments;
		const ckfp_function *function;

		while (ckfp_is_of_domain(expression))
			expression = ((RelabelType *)expression)->arg;
		monotone->leaf = expression;
		if (IsA(expression, Var))
			return ((Var *)expression)->varno == varno && ((Var *)expression)->varattno > 0;
		if (IsA(expression, CaseTestExpr))
			return true;
		function = ckfp_function_of(expression, &arguments);
		if (function == NULL)
			return false;
		for (int i = 0; i < list_length(arguments); i++)
			if (function->argument[i] == CKFP_IS_COLUMN)
				expression = list_nth(arguments, i);
			else if (!ckfp_constant_is(list_nth(arguments, i), function->argument[i]))
				return false;
		if (function->zone != CKFP_ZONE_NONE && ++monotone->days > CKFP_MOST_ZONES)
			return false;
		monotone->session |= function->zone >= CKFP_ZONE_OF_SESSION;
	}
	return false;
}

/* Replace the leaf of an expression, its column or a CaseTestExpr. */
static Node *
ckfp_replace_leaf(Node *node, void *leaf)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) || IsA(node, CaseTestExpr))
		return copyObject((Node *)leaf);
	return expression_tree_mutator(node, ckfp_replace_leaf, leaf);
}

Expr *
ckfp_monotone_abstract(Expr *expression, const Expr *column)
{
	CaseTestExpr *leaf = makeNode(CaseTestExpr);

	leaf->typeId = getBaseType(exprType((const Node *)column));
	leaf->typeMod = -1;
	return (Expr *)ckfp_replace_leaf((Node *)expression, leaf);
}

Expr *
ckfp_monotone_compose(Expr *outer, Expr *inner)
{
	return (Expr *)ckfp_replace_leaf((Node *)outer, inner);
}

Expr *
ckfp_monotone_apply(Expr *function, Index relation, AttrNumber column)
{
	ckfp_monotone monotone;

	(void)ckfp_monotone_of(function, 0, &monotone);
	return ckfp_monotone_compose(
		function,
		(Expr *)makeVar((int)relation, column, exprType((Node *)monotone.leaf), -1, InvalidOid, 0));
}

/* ------------------------------------------------------------------------- types */

bool
ckfp_monotone_note(Expr *function, ckfp_join_record *record)
{
	ckfp_monotone monotone;
	Oid type;

	if (!ckfp_monotone_of(function, 0, &monotone))
		return false;
	type = exprType((Node *)monotone.leaf);
	record->source = (ckfp_join_column){
		.equality = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr,
		.build = type,
		.probe = type,
	};
	record->days = monotone.days;
	record->session = monotone.session;
	return ckfp_type_is_integer(type);
}

bool
ckfp_monotone_is_key(Oid equality)
{
	Oid left;
	Oid right;

	if (equality >= FirstNormalObjectId)
		return false;
	op_input_types(equality, &left, &right);
	return (ckfp_type_is_integer(left) && ckfp_type_is_integer(right)) ||
		   (left == right && (left == NUMERICOID || left == FLOAT8OID));
}

ckfp_limits
ckfp_monotone_limits(Oid type)
{
	int unused = 8 * (int)(sizeof(int64) - get_typlen(type)); /* bits */
	int64 greatest = PG_INT64_MAX >> unused;
	int64 least = -greatest - 1;

	if (type == TIMESTAMPOID || type == TIMESTAMPTZOID)
		return (ckfp_limits){least, CKFP_LOW, CKFP_HIGH, greatest};
	if (type == DATEOID)
		return (ckfp_limits){least, CKFP_LOW / USECS_PER_DAY, CKFP_HIGH / USECS_PER_DAY, greatest};
	return (ckfp_limits){least, least + 1, greatest - 1, greatest};
}
