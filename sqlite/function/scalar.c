/*
 * scalar.c - the scalar functions except cuckoofilter_info.
 *
 * How far a BLOB is checked: a function that looks up or changes single items checks the header
 * only (CKF_STORED).  It runs for each row, and opening takes nanoseconds this way, so nothing has
 * to be cached.  Damaged bytes after a valid header may give a wrong answer, but nothing worse.  A
 * function that merges filters reads all bytes anyway, and checks each slot (CKF_FOREIGN).
 */
#include "../argument.h"
#include "../connection.h"
#include "../error.h"
#include "function.h"
#include "messages.h"
#include "../owned.h"

static bool
ckfs_is_null(sqlite3_value *value)
{
	return sqlite3_value_type(value) == SQLITE_NULL;
}

/* Read capacity [, fpr [, options]]. false: one of them is NULL or invalid. */
static bool
ckfs_read_capacity_first(sqlite3_context *ctx, int argc, sqlite3_value **argv, ckf_params *params)
{
	int i;

	ckf_params_default(params);
	for (i = 0; i < argc; i++)
		if (ckfs_is_null(argv[i]))
			return false;
	return ckfs_capacity(ctx, argv[0], params) && (argc < 2 || ckfs_fpr(ctx, argv[1], params)) &&
		   (argc < 3 || ckfs_options(ctx, argv[2], params));
}

/* cuckoofilter_create(capacity [, fpr [, options]]) */
void
ckfs_sql_create(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_params params;

	if (ckfs_read_capacity_first(ctx, argc, argv, &params))
		ckfs_result_empty(ctx, &params);
}

/* cuckoofilter_bytes(capacity [, fpr [, options]]) */
void
ckfs_sql_bytes(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_params params;
	ckf_status status;
	uint64_t bytes;

	if (!ckfs_read_capacity_first(ctx, argc, argv, &params))
		return;
	status = ckf_planned_bytes(&params, &bytes);
	if (status == CKF_OK)
		sqlite3_result_int64(ctx, (int64_t)bytes);
	else
		ckfs_error(ctx, status, (ckf_about){.params = &params});
}

/* cuckoofilter_open(filter): a handle for all functions of this connection.  The handle of a handle
 * is the same handle. */
void
ckfs_sql_open(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter(ctx, argv[0], CKF_STORED, &local);

	(void)argc;
	if (filter)
		ckfs_result_handle(ctx, filter);
}

/* Whether no item of this class was ever added to the filter.  A removal would then take the copy
 * of another item. (Removals from a set are an error, which the engine reports.) */
static bool
ckfs_has_new_class(sqlite3_context *ctx, const ckf_filter *filter, unsigned item_class)
{
	return !ckfs_may_hold(ctx, filter, item_class) && !filter->deduplicated;
}

/* Whether one of the values of an item is NULL. */
static bool
ckfs_has_null(sqlite3_value **values, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (ckfs_is_null(values[i]))
			return true;
	return false;
}

/*
 * cuckoofilter_add(filter, item), _add_pair(filter, item, value), _add_hash(filter, hash), and
 * _remove, _remove_pair and _remove_hash.  NULL is never an item and changes nothing.  Otherwise a
 * trigger that adds the values of a column would lose its filter at the first NULL.
 */
void
ckfs_sql_change(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_items *items = ckfs_user_data(ctx)->items;
	ckf_operation operation = (ckf_operation)ckfs_user_data(ctx)->what;
	ckf_filter local, owned;
	const ckf_filter *filter = ckfs_filter_of_items(ctx, argc, argv, &local);
	bool nothing = ckfs_has_null(argv + 1, items->count);
	ckfs_host host = ckfs_host_of(ctx);
	ckfs_hashed item = {0};
	ckf_list list;

	if (!filter || (!nothing && !items->hash(ctx, argv + 1, filter->seed, &item)) ||
		(operation == CKF_ADD_MANY && !ckfs_is_addable(ctx, &item)))
		return;
	if (!nothing && ckfs_has_new_class(ctx, filter, item.item_class))
		nothing = operation == CKF_REMOVE_MANY;
	list = (ckf_list){&item.hash, NULL, !nothing, item.item_class};
	if (ckf_host_copy(&host.host, filter, operation == CKF_ADD_MANY, &owned) &&
		ckf_host_change_each(&host.host, operation, &owned, &list))
		ckfs_result(ctx, &owned);
}

/* Hash the arguments that are not NULL; the caller frees the list.  For removals, items of a class
 * that was never added are left out. */
static bool
ckfs_hash_list(sqlite3_context *ctx, int argc, sqlite3_value **argv, const ckf_filter *filter,
			   bool removes, ckf_list *list)
{
	uint64_t *hashes = ckfs_allocate(ctx, NULL, sizeof(uint64_t) * ((size_t)argc + 1));
	ckfs_hashed item;
	int i;

	*list = (ckf_list){.hashes = hashes};
	if (!hashes)
		return false;
	for (i = 0; i < argc; i++)
	{
		if (ckfs_is_null(argv[i]))
			continue;
		if (!ckfs_hash_item(ctx, argv + i, filter->seed, &item) ||
			(!removes && !ckfs_is_addable(ctx, &item)))
		{
			sqlite3_free(hashes);
			return false;
		}
		if (ckfs_has_new_class(ctx, filter, item.item_class) && removes)
			continue;
		hashes[list->count++] = item.hash;
		list->item_classes |= item.item_class;
	}
	return true;
}

/* cuckoofilter_add_all(filter, item, ...), _remove_all(filter, item, ...) */
void
ckfs_sql_change_all(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_operation operation = (ckf_operation)ckfs_user_data(ctx)->what;
	ckf_filter local, owned;
	const ckf_filter *filter = ckfs_filter_of_items(ctx, argc, argv, &local);
	ckfs_host host = ckfs_host_of(ctx);
	ckf_list list;
	bool ok;

	if (!filter ||
		!ckfs_hash_list(ctx, argc - 1, argv + 1, filter, operation == CKF_REMOVE_MANY, &list))
		return;
	ok = ckf_host_change(&host.host, operation, filter, &list, &owned);
	sqlite3_free((void *)(uintptr_t)list.hashes);
	if (ok)
		ckfs_result(ctx, &owned);
}

/* cuckoofilter_contains(filter, item), _contains_pair(filter, item, value),
 * _contains_hash(filter, hash) */
void
ckfs_sql_contains(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_items *items = ckfs_user_data(ctx)->items;
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter_of_items(ctx, argc, argv, &local);
	ckfs_hashed item;

	if (!filter || !items->hash(ctx, argv + 1, filter->seed, &item))
		return;
	sqlite3_result_int(ctx, ckfs_may_hold(ctx, filter, item.item_class) &&
								ckf_contains(filter, item.hash));
}

/* cuckoofilter_contains_any(filter, item, ...), _contains_all(filter, item, ...): search for an
 * item that is in the filter, or for one that is not. */
void
ckfs_sql_contains_some(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	bool wanted = ckfs_user_data(ctx)->what;
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter_of_items(ctx, argc, argv, &local);
	ckfs_hashed item;
	int i;

	if (!filter)
		return;
	for (i = 1; i < argc; i++)
	{
		if (ckfs_is_null(argv[i]))
			continue;
		if (!ckfs_hash_item(ctx, argv + i, filter->seed, &item))
			return;
		if ((ckfs_may_hold(ctx, filter, item.item_class) && ckf_contains(filter, item.hash)) ==
			wanted)
			break;
	}
	sqlite3_result_int(ctx, (i < argc) == wanted);
}

/* cuckoofilter_copies(filter, item) */
void
ckfs_sql_copies(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter_of_items(ctx, argc, argv, &local);
	ckfs_hashed item;

	if (!filter || !ckfs_hash_item(ctx, argv + 1, filter->seed, &item))
		return;
	sqlite3_result_int(
		ctx, ckfs_may_hold(ctx, filter, item.item_class) ? (int)ckf_copies(filter, item.hash) : 0);
}

/* cuckoofilter_count(filter) */
void
ckfs_sql_count(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter(ctx, argv[0], CKF_STORED, &local);

	(void)argc;
	if (filter)
		sqlite3_result_int64(ctx, (int64_t)filter->count);
}

/* cuckoofilter_fpr(filter) */
void
ckfs_sql_fpr(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter(ctx, argv[0], CKF_STORED, &local);

	(void)argc;
	if (filter)
		sqlite3_result_double(ctx, ckf_fpr(filter));
}

/* cuckoofilter_hash(item [, seed]) */
void
ckfs_sql_hash(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	int64_t seed = 0;
	ckfs_hashed item;

	if (argc > 1 && (ckfs_is_null(argv[1]) || !ckfs_integer(ctx, argv[1], "seed", &seed)))
		return;
	if (ckfs_hash_item(ctx, argv, (uint64_t)seed, &item))
		sqlite3_result_int64(ctx, (int64_t)item.hash);
}

/* cuckoofilter_part(item, parts) */
void
ckfs_sql_part(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckfs_hashed item;
	int64_t parts;

	if (ckfs_has_null(argv, argc) || !ckfs_integer(ctx, argv[1], "parts", &parts))
		return;
	if (parts < 1 || parts > CKF_MOST_PARTS)
		ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_BAD_PARTS, CKF_MOST_PARTS, (long long)parts));
	else if (ckfs_hash_item(ctx, argv, 0, &item))
		sqlite3_result_int64(ctx, ckf_part(item.hash, (uint32_t)parts));
}

/* cuckoofilter_version() */
void
ckfs_sql_version(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	(void)argv;
	sqlite3_result_text(ctx, CKF_VERSION, -1, SQLITE_STATIC);
}
