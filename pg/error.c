/*
 * error.c - how the errors of the engine are reported, and those of the classes of items.
 *
 * The primary message says what is wrong, with the values; SQLite's errors begin with the same
 * words. DETAIL and HINT say what to do about it. messages.h has the sentences that both databases
 * share.
 */
#include "error.h"

#include "messages.h"

#include "lib/stringinfo.h"

/* From PostgreSQL 16 on, a caller can receive an input error instead of having it raised. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define errsave(soft, ...) ereport(ERROR, __VA_ARGS__)
#endif

CKF_LIKE_PRINTF static void
ckfp_write(ckf_writer *writer, ckf_error_field part, const char *format, ...)
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
