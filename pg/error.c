/*
 * error.c - every error sentence of the PostgreSQL extension.
 *
 * The primary message says what is wrong, with the values; SQLite's errors
 * begin with the same words.  DETAIL and HINT say what to do about it.
 */
#include "error.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

#define CKFP_OPTIONS                                                                               \
	"Options are kind=deletable|set, bucket_size=2|4|8, layout=semi_sorted|plain (semi_sorted "    \
	"needs bucket_size=4) and seed=<64-bit integer>."

/* Where a merge or a growth stopped. */
static int
ckfp_errdetail_fill(const ckf_filter *filter)
{
	return errdetail("It has " UINT64_FORMAT " items at a false positive rate of %.3g.",
					 filter->count, ckf_fpr(filter));
}

/* Errors of parameters, all 22023. */
static void
ckfp_error_parameters(ckf_status status, ckfp_subject about)
{
	switch (status)
	{
		case CKF_BAD_CAPACITY:
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("capacity must be from 1 to " INT64_FORMAT ", not " INT64_FORMAT,
								   (int64)CKF_MAX_CAPACITY, about.params->capacity)));
			break;
		case CKF_BAD_FPR:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("false positive rate must be greater than 0 and less than 1, not %g",
							about.params->fpr)));
			break;
		case CKF_BAD_TARGET:
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity " INT64_FORMAT " at a false positive rate of %g is too precise",
						about.params->capacity, about.params->fpr),
				 errdetail("The quotient of capacity and rate must not pass 2^%d.", CKF_MAX_PREFIX),
				 errhint("Lower the capacity or raise the false positive rate.")));
			break;
		case CKF_BAD_OPTION:
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("bad cuckoofilter option \"%.*s\"", (int)about.option_size,
								   about.option),
							errhint(CKFP_OPTIONS)));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot merge cuckoofilters of different seeds"),
					 errdetail("The seeds are " INT64_FORMAT " and " INT64_FORMAT ".",
							   (int64)about.filter->seed, (int64)about.other->seed),
					 errhint("Build filters that are to be merged with the same seed option.")));
	}
}

void
ckfp_error(ckf_status status, ckfp_subject about)
{
	int sqlstate = about.sqlstate ? about.sqlstate : ERRCODE_DATA_CORRUPTED;

	switch (status)
	{
		case CKF_BAD_CAPACITY:
		case CKF_BAD_FPR:
		case CKF_BAD_TARGET:
		case CKF_BAD_OPTION:
		case CKF_SEED_DIFFERS:
			ckfp_error_parameters(status, about);
			break;
		case CKF_BAD_BYTES:
			ereport(ERROR,
					(errcode(sqlstate),
					 errmsg("not a cuckoofilter: the bytes are damaged or of something else")));
			break;
		case CKF_BAD_VERSION:
			ereport(ERROR,
					(errcode(sqlstate), errmsg("cuckoofilter of an unknown format or hash version"),
					 errhint("It needs a newer release of cuckoofilter.")));
			break;
		case CKF_IS_SET:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("cannot remove from a cuckoofilter of kind set"),
					 errdetail("Removing an item from a set could take away another item."),
					 errhint("Build it with kind=deletable, and merge with cuckoofilter_sum.")));
			break;
		case CKF_PRECISION:
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
							errmsg("cuckoofilter has no precision left"),
							ckfp_errdetail_fill(about.filter),
							errhint("Build it with a larger capacity.")));
			break;
		case CKF_OK:
		case CKF_MORE:
		case CKF_ROOM:
			break; /* no failures */
	}
	elog(ERROR, "unexpected cuckoofilter status %d", (int)status);
	pg_unreachable();
}

void
ckfp_error_too_large(const ckf_filter *filter)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		 errmsg("cuckoofilter would be larger than %zu bytes", (size_t)(MaxAllocSize - VARHDRSZ)),
		 ckfp_errdetail_fill(filter),
		 errhint("Spread the items over several filters, or build them with a lower capacity "
				 "or a higher rate.")));
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

void
ckfp_error_base64(void)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					errmsg("not a cuckoofilter: the text is not base64")));
	pg_unreachable();
}

void
ckfp_error_no_hash(Oid type)
{
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
					errmsg("type %s has no hash function for cuckoofilter", format_type_be(type))));
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
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("support function of a cuckoofilter aggregate was called outside of one")));
	pg_unreachable();
}
