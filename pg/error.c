/*
 * error.c - every error of the PostgreSQL extension.
 *
 * The primary message says what is wrong, with the values; SQLite's errors begin with the same
 * words. DETAIL and HINT say what to do about it. messages.h has the sentences that both databases
 * share.
 */
#include "error.h"

#include "messages.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* From PostgreSQL 16 on, a caller can receive an input error instead of having it raised. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define errsave(soft, ...) ereport(ERROR, __VA_ARGS__)
#endif

CKF_LIKE_PRINTF static void
ckfp_write(ckf_writer *writer, ckf_part_of_error part, const char *format, ...)
{
	StringInfoData text;
	va_list arguments;
	int needed;

	(void)writer;
	initStringInfo(&text);
	for (;;)
	{
		va_start(arguments, format);
		needed = appendStringInfoVA(&text, format, arguments);
		va_end(arguments);
		if (needed == 0)
			break;
		enlargeStringInfo(&text, needed);
	}
	if (part == CKF_MESSAGE)
		errmsg_internal("%s", text.data);
	else if (part == CKF_DETAIL)
		errdetail_internal("%s", text.data);
	else if (part == CKF_HINT)
		errhint("%s", text.data);
	pfree(text.data);
}

/* Fill in the error report for a failed call of the engine. `input` is the SQLSTATE of bytes of
 * input; 0: they are a stored value. */
static int
ckfp_describe(ckf_status status, const ckf_about *about, int input)
{
	static const int sqlstates[] = {[CKF_FAULT_PARAMETER] = ERRCODE_INVALID_PARAMETER_VALUE,
									[CKF_FAULT_BYTES] = ERRCODE_DATA_CORRUPTED,
									[CKF_FAULT_STATE] = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
									[CKF_FAULT_LIMIT] = ERRCODE_PROGRAM_LIMIT_EXCEEDED,
									[CKF_FAULT_INTERNAL] = ERRCODE_INTERNAL_ERROR};
	ckf_writer writer = {ckfp_write, CKF_SAY_BAD_FPR("%.15g"), CKF_SAY_BAD_TARGET("%g"), true};
	ckf_fault fault = ckf_describe(&writer, status, about);

	if (status == CKF_BAD_BYTES && input == ERRCODE_INVALID_TEXT_REPRESENTATION)
		errhint(CKF_HINT_FIRST);
	return errcode(fault == CKF_FAULT_BYTES && input != 0 ? input : sqlstates[fault]);
}

void
ckfp_error(ckf_status status, ckf_about about)
{
	ereport(ERROR, (ckfp_describe(status, &about, 0)));
}

void
ckfp_error_input(ckf_status status, int sqlstate, struct Node *soft)
{
	errsave(soft, (ckfp_describe(status, &(ckf_about){0}, sqlstate)));
}

void
ckfp_error_base64(bool hex, struct Node *soft)
{
	errsave(soft,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg(CKF_SAY_NOT_BASE64),
			 hex ? errhint("The text is hexadecimal. Convert it by decode(text, "
						   "'hex')::cuckoofilter, or cast text that begins with \\x to bytea, "
						   "and then to cuckoofilter.")
				 : errhint(CKF_HINT_FIRST)));
}

void
ckfp_error_not_integer(double capacity)
{
	if (capacity == rint(capacity) && !isinf(capacity))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(CKF_SAY_BAD_CAPACITY("%.17g"), (long long)CKF_MAX_CAPACITY, capacity)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg(CKF_SAY_FRACTION("%.17g"), capacity),
			 capacity > 0 && capacity < 1 ? errhint(CKF_HINT_FRACTION) : 0));
}

void
ckfp_error_too_large(const ckf_filter *filter)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg(CKF_SAY_TOO_LARGE, (long long)(MaxAllocSize - VARHDRSZ)),
					errdetail(CKF_DETAIL_FILL, (unsigned long long)filter->count, ckf_fpr(filter)),
					errhint(CKF_HINT_TOO_LARGE)));
}

void
ckfp_error_state_too_large(const ckf_filter *state)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the state of a cuckoofilter aggregate is too large to be stored or sent"),
			 errdetail("It has %llu items and %zu bytes; the limit is %zu bytes.",
					   (unsigned long long)state->count, state->size, (size_t)MaxAllocSize),
			 errhint("Set max_parallel_workers_per_gather to 0, so that the aggregate runs in one "
					 "process.")));
}

void
ckfp_error_no_text(size_t size)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("cuckoofilter of %zu bytes is too large for its text form", size),
					errhint("Use COPY in binary format.")));
}

/* Report that the filter cannot have an item of this class. */
_Noreturn static void
ckfp_error_unlike(const ckf_filter *filter, unsigned item_class, const char *hint)
{
	char held[CKF_HELD_SIZE];

	if (filter->item_classes & CKF_ITEM_OLD)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg(CKF_SAY_OLD),
						errhint(CKF_HINT_OLD)));
	ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg(CKF_SAY_UNLIKE, ckf_describe_held(held, filter->item_classes),
						   ckf_describe_item(item_class)),
					errhint("%s", hint)));
}

void
ckfp_error_class(const ckf_filter *filter, unsigned item_class, bool array)
{
	static const char *const types[] = {"bigint", "text", "uuid or bytea", "date or timestamp",
										"timestamptz"};
	unsigned held = filter->item_classes;
	const char *before = ", such as ";
	StringInfoData hint;

	initStringInfo(&hint);
	appendStringInfoString(&hint, "Cast the item to the type of the items that were added");
	for (size_t i = 0; i < lengthof(types); i++)
	{
		if (!(held >> i & 1))
			continue;
		appendStringInfo(&hint, "%s%s", before, types[i]);
		before = " or ";
	}
	appendStringInfoChar(&hint, '.');
	if (array)
		appendStringInfoString(
			&hint, " To look up, add or remove the elements of an array, call "
				   "cuckoofilter_contains_any, cuckoofilter_contains_all, cuckoofilter_add_all or "
				   "cuckoofilter_remove_all.");
	/* text under a nondeterministic collation is of another class than text under others */
	else if ((held | item_class) & CKF_ITEM_TEXT && (held | item_class) & CKF_ITEM_OTHER)
		appendStringInfoString(&hint, " A string also needs their collation: use COLLATE.");
	if (held & CKF_ITEM_OTHER)
		appendStringInfoString(&hint, " If they were added with a value, call "
									  "cuckoofilter_contains_pair(filter, item, value), or the "
									  "function for adding or removing a pair.");
	ckfp_error_unlike(filter, item_class, hint.data);
}

void
ckfp_error_pair(const ckf_filter *filter)
{
	ckfp_error_unlike(filter, CKF_ITEM_OTHER,
					  "The items were added without a value: look up an item by "
					  "cuckoofilter_contains(filter, item), or build a filter of pairs with "
					  "cuckoofilter_agg_pair.");
}

void
ckfp_error_no_hash(Oid type, bool short_hash)
{
	const char *name = format_type_be(type);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 short_hash
				 ? errmsg("type %s has no extended (64-bit) hash function for cuckoofilter", name)
				 : errmsg("type %s has no hash function for cuckoofilter", name),
			 errhint("Cast the item to a type that has one, such as text.")));
}

void
ckfp_error_filter_item(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH), errmsg(CKF_SAY_FILTER_ITEM),
			 errhint("Merge two filters by the operator | or by cuckoofilter_union, intersect "
					 "them by cuckoofilter_intersect; filters have no difference. To use "
					 "the bytes of a filter as an item, cast it to bytea.")));
}

void
ckfp_error_no_type(void)
{
	ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
					errmsg("could not determine the type of the cuckoofilter item")));
}

void
ckfp_error_array_literal(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDETERMINATE_DATATYPE),
			 errmsg("an untyped literal in braces could be an array or one cuckoofilter item"),
			 errhint("Cast it to an array type, such as text[], to pass the items of an array, or "
					 "to text to pass one item.")));
}

void
ckfp_error_no_collation(void)
{
	ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
					errmsg("could not determine which collation to use for the cuckoofilter item"),
					errhint("Use the COLLATE clause to set the collation explicitly.")));
}

void
ckfp_error_window(void)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_INDETERMINATE_COLLATION),
		 errmsg("could not determine which collation to use for the cuckoofilter item"),
		 errdetail("Several aggregates of the same window have arguments of these types, but of "
				   "different collations."),
		 errhint("Call cuckoofilter_agg(ROW(item, value)) FILTER (WHERE item IS NOT NULL AND "
				 "value IS NOT NULL) instead.")));
}

void
ckfp_error_parts(int parts)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg(CKF_SAY_BAD_PARTS, CKF_MOST_PARTS, (long long)parts)));
}

void
ckfp_error_not_aggregate(void)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		 errmsg("support function of a cuckoofilter aggregate was called outside an aggregate")));
}

void
ckfp_error_not_loaded(void)
{
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("library \"cuckoofilter_join\" must be loaded"),
					errhint("Add it to shared_preload_libraries to count the join filters of all "
							"sessions, or call cuckoofilter_join_load() to count those of this "
							"session.")));
}
