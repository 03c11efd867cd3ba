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
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* From PostgreSQL 16 on, a caller can receive an input error instead of having it raised. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define errsave(soft, ...) ereport(ERROR, __VA_ARGS__)
#endif

/* The number of items and the false positive rate at which a filter stopped growing. */
static int
ckfp_errdetail_fill(const ckf_filter *filter)
{
	return errdetail(CKF_DETAIL_FILL, (unsigned long long)filter->count, ckf_fpr(filter));
}

/* A merge that fails because one filter is too coarse. The error names that filter. */
static int
ckfp_describe_coarse(const ckf_refusal *refusal, const ckfp_subject *about)
{
	const ckf_filter *coarse = refusal->input == 1 ? about->other : about->filter;
	unsigned long long items = refusal->items;

	if (refusal->input < 0)
	{
		errmsg(CKF_SAY_COARSEST, items);
		errdetail(CKF_DETAIL_COARSEST, (long long)refusal->capacity, refusal->fpr, refusal->limit);
		return errhint(CKF_HINT_COARSEST);
	}
	errmsg(CKF_SAY_COARSE, refusal->input == 0 ? CKF_FIRST : CKF_SECOND, items);
	errdetail(CKF_DETAIL_COARSE, (unsigned long long)coarse->count, ckf_fpr(coarse),
			  (long long)coarse->capacity, refusal->fpr, refusal->limit);
	return errhint(CKF_HINT_COARSE, items);
}

/* A filter, or the result of a merge, has no precision left. */
static int
ckfp_describe_precision(const ckfp_subject *about)
{
	ckf_refusal refusal = {.cause = CKF_FULL};

	errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED);
	if (about->rebuild)
		ckf_rebuild_refusal(about->rebuild, &refusal);
	switch (refusal.cause)
	{
		case CKF_COARSE:
			return ckfp_describe_coarse(&refusal, about);
		case CKF_CROWDED:
			errmsg(CKF_SAY_CROWDED);
			errdetail(CKF_DETAIL_FILL, (unsigned long long)refusal.items, refusal.fpr);
			return errhint(CKF_HINT_CROWDED);
		case CKF_CROWDED_HASHES:
			errmsg(CKF_SAY_CROWDED_HASHES);
			errdetail(CKF_DETAIL_FILL, (unsigned long long)refusal.items, refusal.fpr);
			return errhint(CKF_HINT_CROWDED_HASHES);
		case CKF_FULL:
			break;
	}
	errmsg(CKF_SAY_PRECISION);
	if (about->rebuild)
		errdetail(CKF_DETAIL_FILL, (unsigned long long)refusal.items, refusal.fpr);
	else
		ckfp_errdetail_fill(about->filter);
	return errhint(CKF_HINT_PRECISION);
}

/* Fill in the error report for a parameter error. All of them have SQLSTATE 22023. */
static int
ckfp_describe_parameters(ckf_status status, const ckfp_subject *about)
{
	errcode(ERRCODE_INVALID_PARAMETER_VALUE);
	switch (status)
	{
		case CKF_BAD_CAPACITY:
			return errmsg(CKF_SAY_BAD_CAPACITY, (long long)CKF_MAX_CAPACITY,
						  (long long)about->params->capacity);
		case CKF_BAD_FPR:
			if (about->order)
				errhint(CKF_HINT_SWAPPED, about->order);
			else if (about->params->fpr >= 1)
				errhint(CKF_HINT_PERCENT);
			return errmsg(CKF_SAY_BAD_FPR("%g"), about->params->fpr);
		case CKF_BAD_TARGET:
			errmsg(CKF_SAY_BAD_TARGET("%g"), (long long)about->params->capacity,
				   about->params->fpr);
			errdetail(CKF_DETAIL_BAD_TARGET, CKF_MAX_PREFIX);
			return errhint(CKF_HINT_BAD_TARGET);
		case CKF_BAD_OPTION:
		case CKF_OPTION_TWICE:
			errmsg(CKF_SAY_BAD_OPTION, (int)about->option_size, about->option);
			return errhint("%s", status == CKF_OPTION_TWICE ? CKF_HINT_OPTION_TWICE
															: CKF_HINT_BAD_OPTION);
		case CKF_UNLIKE_SIZES:
			errmsg(CKF_SAY_UNLIKE_SIZES, (unsigned long long)about->filter->count,
				   (unsigned long long)about->other->count,
				   about->comparison->coarse == 0 ? CKF_FIRST : CKF_SECOND);
			errdetail(CKF_DETAIL_UNLIKE_SIZES, about->comparison->error);
			return errhint(CKF_HINT_UNLIKE_SIZES, (long long)about->comparison->capacity);
		default:
			errmsg(CKF_SAY_SEED_DIFFERS);
			errdetail(CKF_DETAIL_SEED_DIFFERS, (long long)about->filter->seed,
					  (long long)about->other->seed);
			return errhint(CKF_HINT_SEED_DIFFERS);
	}
}

/* Fill in the error report for a failed call of the engine. */
static int
ckfp_describe(ckf_status status, const ckfp_subject *about)
{
	switch (status)
	{
		case CKF_BAD_CAPACITY:
		case CKF_BAD_FPR:
		case CKF_BAD_TARGET:
		case CKF_BAD_OPTION:
		case CKF_OPTION_TWICE:
		case CKF_SEED_DIFFERS:
		case CKF_UNLIKE_SIZES:
			return ckfp_describe_parameters(status, about);
		case CKF_BAD_BYTES:
			errcode(about->sqlstate ? about->sqlstate : ERRCODE_DATA_CORRUPTED);
			return errmsg(CKF_SAY_BAD_BYTES);
		case CKF_BAD_VERSION:
			errcode(about->sqlstate ? about->sqlstate : ERRCODE_DATA_CORRUPTED);
			errmsg(CKF_SAY_BAD_VERSION);
			return errhint(CKF_HINT_BAD_VERSION);
		case CKF_UNFINISHED:
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
			errmsg(CKF_SAY_UNFINISHED);
			return errhint(CKF_HINT_UNFINISHED);
		case CKF_IS_SET:
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
			errmsg(CKF_SAY_IS_SET);
			errdetail(CKF_DETAIL_IS_SET);
			return errhint(CKF_HINT_IS_SET);
		case CKF_OLD_ITEMS:
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
			errmsg(CKF_SAY_OLD_ITEMS);
			return errhint(CKF_HINT_OLD_ITEMS);
		case CKF_PRECISION:
			return ckfp_describe_precision(about);
		case CKF_OK:
		case CKF_MORE:
		case CKF_ROOM:
		case CKF_FEED:
			break; /* no failures */
	}
	return errmsg_internal(CKF_SAY_UNEXPECTED, (int)status);
}

void
ckfp_error(ckf_status status, ckfp_subject about)
{
	ereport(ERROR, (ckfp_describe(status, &about)));
	pg_unreachable();
}

void
ckfp_error_input(ckf_status status, int sqlstate, struct Node *soft)
{
	ckfp_subject about = {.sqlstate = sqlstate};

	errsave(soft, (ckfp_describe(status, &about)));
}

void
ckfp_error_base64(struct Node *soft)
{
	errsave(soft, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg(CKF_SAY_NOT_BASE64)));
}

void
ckfp_error_hex(struct Node *soft)
{
	errsave(soft,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg(CKF_SAY_NOT_BASE64),
			 errhint("The text is hexadecimal. Convert it by decode(text, 'hex')::cuckoofilter, "
					 "or cast text that begins with \\x to bytea, and then to cuckoofilter.")));
}

void
ckfp_error_not_integer(double capacity)
{
	if (capacity == rint(capacity) && !isinf(capacity))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(CKF_SAY_HUGE_CAPACITY("%.17g"), (long long)CKF_MAX_CAPACITY, capacity)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg(CKF_SAY_FRACTION("%.17g"), capacity),
			 capacity > 0 && capacity < 1 ? errhint(CKF_HINT_FRACTION) : 0));
	pg_unreachable();
}

void
ckfp_error_too_large(const ckf_filter *filter)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg(CKF_SAY_TOO_LARGE, (long long)(MaxAllocSize - VARHDRSZ)),
					ckfp_errdetail_fill(filter), errhint(CKF_HINT_TOO_LARGE)));
	pg_unreachable();
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
	pg_unreachable();
}

void
ckfp_error_no_text(size_t size)
{
	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("cuckoofilter of %zu bytes is too large for its text form", size),
					errhint("Use COPY in binary format.")));
	pg_unreachable();
}

/* The classes of the items in a filter, as words. */
static char *
ckfp_describe_held(const ckf_filter *filter)
{
	static const char *const words[] = {CKF_WORDS_HELD};
	StringInfoData list;
	unsigned left = filter->item_classes & (CKF_ITEM_HASH - 1);
	int i;

	initStringInfo(&list);
	for (i = 0; left >> i != 0; i++)
		if (left >> i & 1)
		{
			if (list.len > 0)
				appendStringInfoString(&list, left >> i == 1 ? CKF_WORDS_AND : ", ");
			appendStringInfoString(&list, words[i]);
		}
	return list.data;
}

/* Report that the filter cannot have an item of this class. advice: how the HINT begins; item: the
 * argument for cuckoofilter_hash. */
_Noreturn static void
ckfp_error_unlike(const ckf_filter *filter, unsigned item_class, const char *advice,
				  const char *item)
{
	static const char *const words[] = {CKF_WORDS_ITEM};

	if (filter->item_classes & CKF_ITEM_OLD)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg(CKF_SAY_OLD),
						errhint(CKF_HINT_OLD)));
	ereport(
		ERROR,
		(errcode(ERRCODE_DATATYPE_MISMATCH),
		 errmsg(CKF_SAY_UNLIKE, ckfp_describe_held(filter),
				words[pg_rightmost_one_pos32(item_class)]),
		 errhint("%s To use an item of another type on purpose, call "
				 "cuckoofilter_contains_hash(filter, cuckoofilter_hash(%s, seed)), or the function "
				 "for adding or removing a hash.",
				 advice, item)));
	pg_unreachable();
}

void
ckfp_error_class(const ckf_filter *filter, unsigned item_class)
{
	ckfp_error_unlike(
		filter, item_class,
		filter->item_classes & CKF_ITEM_OTHER
			? "Cast the item to the type of the items that were added; a string may need COLLATE. "
			  "If they were added with a value, call cuckoofilter_contains_pair(filter, item, "
			  "value), or the function for adding or removing a pair."
			: "Cast the item to the type of the items that were added; a string may need COLLATE.",
		"item");
}

void
ckfp_error_pair(const ckf_filter *filter)
{
	ckfp_error_unlike(filter, CKF_ITEM_OTHER,
					  "The items were added without a value: look up an item by "
					  "cuckoofilter_contains(filter, item), or build a filter of pairs with "
					  "cuckoofilter_agg_pair.",
					  "ROW(item, value)");
}

void
ckfp_error_no_hash(Oid type)
{
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
					errmsg("type %s has no hash function for cuckoofilter", format_type_be(type)),
					errhint("Cast the item to a type that has one, such as text.")));
	pg_unreachable();
}

void
ckfp_error_no_type(void)
{
	ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
					errmsg("could not determine the type of the cuckoofilter item")));
	pg_unreachable();
}

void
ckfp_error_array_literal(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDETERMINATE_DATATYPE),
			 errmsg("an untyped literal in braces could be an array or one cuckoofilter item"),
			 errhint("Cast it to an array type, such as text[], to pass the items of an array, or "
					 "to text to pass one item.")));
	pg_unreachable();
}

void
ckfp_error_no_collation(void)
{
	ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
					errmsg("could not determine which collation to use for the cuckoofilter item"),
					errhint("Use the COLLATE clause to set the collation explicitly.")));
	pg_unreachable();
}

void
ckfp_error_not_aggregate(void)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		 errmsg("support function of a cuckoofilter aggregate was called outside an aggregate")));
	pg_unreachable();
}

void
ckfp_error_not_loaded(void)
{
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("library \"cuckoofilter_join\" must be loaded"),
					errhint("Add it to shared_preload_libraries to count the join filters of all "
							"sessions, or call cuckoofilter_join_load() to count those of this "
							"session.")));
	pg_unreachable();
}
