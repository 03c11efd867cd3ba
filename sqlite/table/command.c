/*
 * command.c - INSERT INTO seen(seen) VALUES('optimize'), and the other commands.
 */
#include "table.h"

#include "../handle.h"
#include "../library.h"

#include <string.h>

/* ------------------------------------------------------------------- merge */

/* Check each slot of an untrusted filter. */
static int
ckfs_check_filter(ckfs_table *table, const ckf_filter *filter)
{
	ckf_check check = {0};
	ckf_status status;

	while ((status = ckf_check_step(filter, &check)) == CKF_MORE)
		if (ckfs_is_interrupted(table->db))
			return SQLITE_INTERRUPT;
	return status == CKF_OK ? SQLITE_OK : ckfs_table_status(table, status, (ckfs_subject){0});
}

/* Open the filter of a value.  *filter is *local, or the filter of a handle, which is pinned as
 * *pinned. */
static int
ckfs_open_filter(ckfs_table *table, sqlite3_value *value, ckf_filter *local, ckfs_handle **pinned,
				 const ckf_filter **filter)
{
	const void *bytes;
	size_t size;
	ckf_status status;

	if (sqlite3_value_type(value) != SQLITE_BLOB)
		return ckfs_table_fail(table, SQLITE_ERROR,
							   ckfs_sentence_type("cuckoofilter", CKFS_SAY_FILTER, value));
	bytes = sqlite3_value_blob(value);
	size = (size_t)sqlite3_value_bytes(value);
	*filter = local;
	if (size == sizeof(ckfs_name))
	{
		*pinned = ckfs_handle_pin(&table->connection->handles, bytes);
		if (*pinned)
		{
			*filter = ckfs_pinned_filter(*pinned);
			return ckfs_check_filter(table, *filter);
		}
		if (ckfs_is_handle(bytes))
			return ckfs_table_fail(table, SQLITE_ERROR, sqlite3_mprintf("%s", CKFS_SAY_NO_HANDLE));
	}
	status = ckf_open(local, bytes, size, CKF_STORED);
	if (status != CKF_OK)
		return ckfs_table_status(table, status, (ckfs_subject){0});
	return ckfs_check_filter(table, local);
}

/* Report why the items of the filter cannot be added to the table. */
static int
ckfs_refuse_filter(ckfs_table *table, const ckf_filter *filter, ckf_status status)
{
	ckf_filter mine = {.seed = table->params.seed};

	if (status == CKF_IS_SET)
		return ckfs_table_fail(
			table, SQLITE_ERROR,
			sqlite3_mprintf("cannot merge the filter into cuckoofilter table %s: only a "
							"table with kind=set takes a filter of kind set, since removing an "
							"item could remove another item, too; merge deletable filters, or "
							"create the table with kind=set",
							table->name));
	if (status != CKF_PRECISION)
		return ckfs_table_status(table, status, (ckfs_subject){.filter = &mine, .other = filter});
	return ckfs_table_fail(
		table, SQLITE_ERROR,
		sqlite3_mprintf(
			"cannot merge the filter into cuckoofilter table %s: it is too coarse: it has a "
			"capacity of %lld at a false positive rate of %g; a capacity of %lld at a rate of "
			"%g is enough",
			table->name, (long long)filter->capacity, filter->fpr,
			(long long)ckf_chunks_capacity(&table->chunks), table->params.fpr));
}

/* Add the items of the filter, all of them or none. */
static int
ckfs_merge_items(ckfs_table *table, ckf_prefixes *prefixes, unsigned item_classes)
{
	const uint64_t *items;
	size_t n, done;
	ckf_status status;
	bool some = false;
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && (status = ckf_prefixes_next(prefixes, &items, &n)) == CKF_MORE)
	{
		done = 0;
		rc = ckfs_is_interrupted(table->db)
				 ? SQLITE_INTERRUPT
				 : ckfs_write_items(table, items, n, ckf_prefixes_whole(prefixes), item_classes,
									&done);
		some = some || done > 0;
	}
	if (rc == SQLITE_OK && status != CKF_OK)
		rc = ckfs_table_status(table, status, (ckfs_subject){0});
	/* unless the failure rolled back the transaction */
	if (rc != SQLITE_OK && some && !sqlite3_get_autocommit(table->db))
		ckfs_break(table);
	return rc;
}

static int
ckfs_merge_filter(ckfs_table *table, const ckf_filter *filter)
{
	size_t scratch = (CKF_PREFIXES_SIZE + 7) / 8 * 8;
	uint8_t *memory = sqlite3_malloc64(scratch + ckf_prefixes_scratch(filter));
	ckf_prefixes *prefixes = (ckf_prefixes *)(void *)memory;
	ckf_status status;
	int rc;

	if (!memory)
		return SQLITE_NOMEM;
	status = ckf_prefixes_start(prefixes, &table->chunks, filter, memory + scratch);
	if (status != CKF_OK)
		rc = ckfs_refuse_filter(table, filter, status);
	else
		rc = ckfs_reserve(table, 0, filter->count);
	if (status == CKF_OK && rc == SQLITE_OK)
		rc = ckfs_merge_items(table, prefixes, filter->item_classes);
	sqlite3_free(memory);
	return rc;
}

static int
ckfs_merge(ckfs_table *table, sqlite3_value *value)
{
	const ckf_filter *filter = NULL;
	ckfs_handle *pinned = NULL;
	ckf_filter local;
	int rc = ckfs_open_filter(table, value, &local, &pinned, &filter);

	if (rc == SQLITE_OK)
		rc = ckfs_write_waiting(table);
	if (rc == SQLITE_OK)
		rc = ckfs_merge_filter(table, filter);
	ckfs_handle_unpin(pinned);
	return rc;
}

/* ---------------------------------------------------------------- commands */

static int
ckfs_integrity_command(ckfs_table *table)
{
	char *found;
	int rc = ckfs_write_waiting(table);

	if (rc == SQLITE_OK)
		rc = ckfs_check_table(table, &found);
	return rc == SQLITE_OK && found ? ckfs_table_fail(table, SQLITE_CORRUPT_VTAB, found) : rc;
}

static int
ckfs_optimize_command(ckfs_table *table)
{
	int rc = ckfs_write_waiting(table);

	return rc == SQLITE_OK ? ckfs_write_packed(table) : rc;
}

int
ckfs_command(ckfs_table *table, sqlite3_value *command, sqlite3_value *item)
{
	static const struct
	{
		const char *name;
		int (*run)(ckfs_table *);
	} commands[] = {
		{"optimize", ckfs_optimize_command},
		{"delete-all", ckfs_write_nothing},
		{"integrity-check", ckfs_integrity_command},
	};
	const char *name = (const char *)sqlite3_value_text(command);
	size_t i;

	if (!name)
		return SQLITE_NOMEM;
	if (sqlite3_stricmp(name, "merge") == 0)
		return ckfs_merge(table, item);
	for (i = 0; i < sizeof commands / sizeof *commands; i++)
		if (sqlite3_stricmp(name, commands[i].name) == 0)
			return sqlite3_value_type(item) == SQLITE_NULL
					   ? commands[i].run(table)
					   : ckfs_table_fail(
							 table, SQLITE_ERROR,
							 sqlite3_mprintf("command '%s' of cuckoofilter table %s takes no item",
											 commands[i].name, table->name));
	return ckfs_table_fail(
		table, SQLITE_ERROR,
		sqlite3_mprintf(
			"invalid command \"%s\" for cuckoofilter table %s: commands are 'optimize', "
			"'delete-all', 'integrity-check', and 'merge' with a filter as item",
			name, table->name));
}
