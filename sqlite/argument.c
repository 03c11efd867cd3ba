/*
 * argument.c - convert SQL values to filters, hashes and parameters.
 */
#include "argument.h"

#include "connection.h"
#include "error.h"
#include "owned.h"

#include "messages.h"

#include <string.h>

/* The rest of the messages for text, which may be the name of a filter table, for arguments in the
 * wrong order, and for a capacity that seems to be a rate. */
#define CKFS_REST_TABLE ": ask a filter table by EXISTS (SELECT 1 FROM name WHERE item = ..)"
#define CKFS_REST_ORDER ": the filter is the first argument, the item the second"
#define CKFS_REST_FRACTION                                                                         \
	": cuckoofilter_create and cuckoofilter_bytes take the capacity before the rate, aggregates "  \
	"after it"

const ckf_filter *
ckfs_filter(sqlite3_context *ctx, sqlite3_value *arg, ckf_trust trust, ckf_filter *local)
{
	ckfs_handles *handles;
	const void *bytes;
	int size;
	ckf_status status;

	switch (sqlite3_value_type(arg))
	{
		case SQLITE_NULL:
			return NULL;
		case SQLITE_BLOB:
			bytes = sqlite3_value_blob(arg);
			size = sqlite3_value_bytes(arg);
			if (size == (int)sizeof(ckfs_name))
			{
				handles = &ckfs_user_data(ctx)->connection->handles;
				if (handles->last_filter && trust == CKF_STORED &&
					memcmp(bytes, &handles->last, sizeof(ckfs_name)) == 0)
					return handles->last_filter;
				return ckfs_handle_filter(ctx, handles, bytes, trust);
			}
			status = ckf_open(local, bytes, (size_t)size, CKF_STORED);
			if (status == CKF_OK)
				return trust == CKF_STORED || ckfs_check_slots(ctx, local) ? local : NULL;
			ckfs_error(ctx, status, (ckf_about){0});
			return NULL;
		default:
			ckfs_error_type(ctx, "cuckoofilter", CKFS_SAY_FILTER, arg,
							sqlite3_value_type(arg) == SQLITE_TEXT ? CKFS_REST_TABLE : "");
			return NULL;
	}
}

/* Whether a BLOB is a filter. */
static bool
ckfs_is_filter(const void *bytes, size_t size)
{
	ckf_filter filter;

	return size >= CKF_HEADER_SIZE && ckf_open(&filter, bytes, size, CKF_STORED) == CKF_OK;
}

int
ckfs_hash_value(sqlite3_value *value, uint64_t seed, ckfs_hashed *hashed)
{
	const void *bytes;
	size_t size;
	ckf_class cls = CKF_CLASS_BYTES;

	hashed->is_filter = false;
	switch (sqlite3_value_type(value))
	{
		case SQLITE_INTEGER:
			hashed->hash = ckf_hash_integer(sqlite3_value_int64(value), seed);
			hashed->item_class = CKF_ITEM_NUMBER;
			return SQLITE_OK;
		case SQLITE_FLOAT:
			hashed->hash = ckf_hash_real(sqlite3_value_double(value), seed);
			hashed->item_class = CKF_ITEM_NUMBER;
			return SQLITE_OK;
		case SQLITE_NULL:
			return SQLITE_DONE;
		case SQLITE_TEXT:
			bytes =
				sqlite3_value_text(value); /* in UTF-8, whatever the encoding of the database is */
			cls = CKF_CLASS_TEXT;
			break;
		default:
			bytes = sqlite3_value_blob(value);
	}
	size = (size_t)sqlite3_value_bytes(value);
	/* an empty BLOB has no bytes, but text always has some */
	if (!bytes && (cls == CKF_CLASS_TEXT || size > 0))
		return SQLITE_NOMEM;
	if (cls == CKF_CLASS_BYTES && size == sizeof(ckfs_name) && ckfs_is_handle(bytes))
		return SQLITE_MISMATCH;
	hashed->hash = ckf_hash_bytes(cls, bytes, size, seed);
	hashed->item_class = ckf_item_class_of(cls);
	hashed->is_filter = cls == CKF_CLASS_BYTES && ckfs_is_filter(bytes, size);
	return SQLITE_OK;
}

/* Whether a value is a filter, perhaps of an unknown version, or a handle, open or not. */
static bool
ckfs_is_filter_or_handle(sqlite3_value *value)
{
	ckfs_hashed hashed;
	ckf_filter filter;

	return ckfs_hash_value(value, 0, &hashed) == SQLITE_MISMATCH ||
		   (sqlite3_value_type(value) == SQLITE_BLOB &&
			ckf_open(&filter, sqlite3_value_blob(value), (size_t)sqlite3_value_bytes(value),
					 CKF_STORED) != CKF_BAD_BYTES);
}

void
ckfs_explain_order(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	if (argc == 0)
		sqlite3_result_error(ctx, "the first argument must be a cuckoofilter", -1);
	if (argc < 2 || sqlite3_value_type(argv[0]) == SQLITE_NULL ||
		ckfs_is_filter_or_handle(argv[0]) || !ckfs_is_filter_or_handle(argv[1]))
		return;
	if (sqlite3_value_type(argv[0]) == SQLITE_BLOB)
		sqlite3_result_error(ctx, CKF_SAY_BAD_BYTES CKFS_REST_ORDER, -1);
	else
		ckfs_error_type(ctx, "cuckoofilter", CKFS_SAY_FILTER, argv[0], CKFS_REST_ORDER);
}

bool
ckfs_hash_item(sqlite3_context *ctx, sqlite3_value **values, uint64_t seed, ckfs_hashed *hashed)
{
	int rc = ckfs_hash_value(values[0], seed, hashed);

	if (rc == SQLITE_NOMEM)
		sqlite3_result_error_nomem(ctx);
	if (rc == SQLITE_MISMATCH)
		ckfs_error_filter_item(ctx);
	return rc == SQLITE_OK;
}

bool
ckfs_hash_pair(sqlite3_context *ctx, sqlite3_value **values, uint64_t seed, ckfs_hashed *hashed)
{
	ckfs_hashed item, value;

	if (!ckfs_hash_item(ctx, values, seed, &item) || !ckfs_hash_item(ctx, values + 1, seed, &value))
		return false;
	hashed->hash = ckf_hash_pair(item.hash, value.hash, seed);
	hashed->item_class = CKF_ITEM_OTHER;
	hashed->is_filter = item.is_filter || value.is_filter;
	return true;
}

/* Whether the value is an integer, perhaps as REAL. */
static bool
ckfs_is_integer(sqlite3_value *value, int64_t *number)
{
	double real;

	switch (sqlite3_value_type(value))
	{
		case SQLITE_INTEGER:
			*number = sqlite3_value_int64(value);
			return true;
		case SQLITE_FLOAT: /* drivers whose only numbers are doubles bind 5 as 5.0 */
			real = sqlite3_value_double(value);
			if (real >= -CKF_EXACT && real <= CKF_EXACT && real == (double)(int64_t)real)
			{
				*number = (int64_t)real;
				return true;
			}
	}
	return false;
}

bool
ckfs_integer(sqlite3_context *ctx, sqlite3_value *value, const char *what, int64_t *number)
{
	if (ckfs_is_integer(value, number))
		return true;
	ckfs_error_type(ctx, what, "an integer", value, "");
	return false;
}

bool
ckfs_hash_given(sqlite3_context *ctx, sqlite3_value **values, uint64_t seed, ckfs_hashed *hashed)
{
	int64_t number;

	(void)seed; /* the caller's hash includes it */
	if (sqlite3_value_type(values[0]) == SQLITE_NULL ||
		!ckfs_integer(ctx, values[0], "hash", &number))
		return false;
	hashed->hash = (uint64_t)number;
	hashed->item_class = CKF_ITEM_HASH;
	hashed->is_filter = false;
	return true;
}

bool
ckfs_capacity(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params)
{
	double real = sqlite3_value_double(value);

	if (ckfs_is_integer(value, &params->capacity))
		return true;
	if (sqlite3_value_type(value) != SQLITE_FLOAT)
		ckfs_error_type(ctx, "capacity", "an integer", value, "");
	else if ((real > CKF_EXACT || real < -CKF_EXACT) && real - real == 0) /* a large integer */
		ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_BAD_CAPACITY("%!.17g"),
										 (long long)CKF_MAX_CAPACITY, real));
	else
		ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_FRACTION("%!.17g%s"), real,
										 real > 0 && real < 1 ? CKFS_REST_FRACTION : ""));
	return false;
}

bool
ckfs_fpr(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params)
{
	int type = sqlite3_value_type(value);

	if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
	{
		ckfs_error_type(ctx, "false positive rate", "a number", value, CKFS_REST_PERCENT);
		return false;
	}
	params->fpr = sqlite3_value_double(value);
	return true;
}

bool
ckfs_options(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params)
{
	ckf_about subject = {0};
	const char *text;
	ckf_status status;

	if (sqlite3_value_type(value) != SQLITE_TEXT)
	{
		ckfs_error_type(ctx, "options", "TEXT", value, "");
		return false;
	}
	text = (const char *)sqlite3_value_text(value);
	if (!text)
	{
		sqlite3_result_error_nomem(ctx);
		return false;
	}
	status = ckf_params_parse(params, text, (size_t)sqlite3_value_bytes(value), &subject.option,
							  &subject.option_size);
	if (status == CKF_OK)
		return true;
	ckfs_error(ctx, status, subject);
	return false;
}
