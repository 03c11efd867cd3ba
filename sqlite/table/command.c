/*
 * command.c - INSERT INTO seen(seen) VALUES('optimize'), and the other commands.
 */
#include "methods.h"

#include "cuckoofilter_host.h"
#include "messages.h"

#include <string.h>

/* ------------------------------------------------------------------- merge */

/* A command as host of a check. */
typedef struct ckfs_command_host
{
	ckf_host host;
	sqlite3 *db;
} ckfs_command_host;

static bool
ckfs_command_stops(ckf_host *host)
{
	return ckfs_is_interrupted(((ckfs_command_host *)host)->db);
}

/* Check each slot of an untrusted filter. */
static int
ckfs_check_filter(ckfs_table *table, const ckf_filter *filter)
{
	ckfs_command_host host = {{.stops = ckfs_command_stops}, table->db};
	ckf_status status = ckf_host_check(&host.host, filter);

	if (status == CKF_MORE)
		return SQLITE_INTERRUPT;
	return status == CKF_OK ? SQLITE_OK : ckfs_table_status(table, status, (ckf_about){0});
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
		return ckfs_table_set_error(
			table, ckfs_type_error_text("cuckoofilter", CKFS_SAY_FILTER, value, ""));
	bytes = sqlite3_value_blob(value);
	size = (size_t)sqlite3_value_bytes(value);
	*filter = local;
	if (size == sizeof(ckfs_name))
	{
		*pinned = ckfs_handle_pin(&table->connection->handles, bytes, filter);
		if (*pinned)
			return ckfs_check_filter(table, *filter);
		if (ckfs_is_handle(bytes))
			return ckfs_table_fail(table, SQLITE_ERROR, "%s", CKFS_SAY_NO_HANDLE);
	}
	status = ckf_open(local, bytes, size, CKF_STORED);
	if (status != CKF_OK)
		return ckfs_table_status(table, status, (ckf_about){0});
	return ckfs_check_filter(table, local);
}

/* Report why the items of the filter cannot be added to the table. */
static int
ckfs_refuse_filter(ckfs_table *table, const ckf_filter *filter, ckf_status status)
{
	ckf_filter mine = {.seed = table->params.seed};

	if (status == CKF_IS_SET)
		return ckfs_table_fail(table, SQLITE_ERROR,
							   CKF_SAY_MERGE_SET
							   "; merge deletable filters, or create the table with kind=set",
							   table->name);
	if (status != CKF_PRECISION)
		return ckfs_table_status(table, status, (ckf_about){.filter = &mine, .other = filter});
	return ckfs_table_fail(table, SQLITE_ERROR,
						   CKF_SAY_MERGE_COARSE "; a capacity of %lld at a rate of %g is enough",
						   table->name, (long long)filter->capacity, filter->fpr,
						   (long long)ckf_chunks_capacity(&table->chunks), table->params.fpr);
}

/* Add the items of the filter, all of them or none. */
static int
ckfs_merge_items(ckfs_table *table, ckf_prefixes *prefixes, unsigned item_classes)
{
	const uint64_t *items;
	size_t n, done;
	ckf_status status;
	int total = sqlite3_total_changes(table->db);
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && (status = ckf_prefixes_next(prefixes, &items, &n)) == CKF_MORE)
	{
		rc = ckfs_is_interrupted(table->db)
				 ? SQLITE_INTERRUPT
				 : ckfs_write_items(table, items, n, ckf_prefixes_whole(prefixes), item_classes,
									&done);
	}
	if (rc == SQLITE_OK && status != CKF_OK)
		rc = ckfs_table_status(table, status, (ckf_about){0});
	return ckfs_end_change(table, total, rc);
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
		rc = ckfs_merge_items(table, prefixes,
							  filter->item_classes | (filter->number_forms & ~CKF_FORM_ROUNDED)
														 << 8);
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
		rc = ckfs_write_pending(table);
	if (rc == SQLITE_OK)
		rc = ckfs_merge_filter(table, filter);
	ckfs_handle_unpin(pinned);
	return rc;
}

/* ---------------------------------------------------------------- commands */

int
ckfs_command(ckfs_table *table, sqlite3_value *command, sqlite3_value *item)
{
	static const struct
	{
		const char *name;
		int (*run)(ckfs_table *);
		bool reads; /* after the pending adds are written */
	} commands[] = {
		{"optimize", ckfs_write_packed, true},
		{"delete-all", ckfs_delete_all, false},
		{"integrity-check", ckfs_check_table, true},
	};
	const char *name = (const char *)sqlite3_value_text(command);
	int rc = SQLITE_OK;
	size_t i;

	if (!name)
		return SQLITE_NOMEM;
	if (sqlite3_stricmp(name, "merge") == 0)
		return ckfs_merge(table, item);
	for (i = 0; i < sizeof commands / sizeof *commands; i++)
		if (sqlite3_stricmp(name, commands[i].name) == 0)
		{
			if (sqlite3_value_type(item) != SQLITE_NULL)
				return ckfs_table_fail(table, SQLITE_ERROR,
									   "command '%s' of cuckoofilter table %s takes no item",
									   commands[i].name, table->name);
			if (commands[i].reads)
				rc = ckfs_write_pending(table);
			return rc == SQLITE_OK ? commands[i].run(table) : rc;
		}
	return ckfs_table_fail(
		table, SQLITE_ERROR,
		"invalid command \"%s\" for cuckoofilter table %s: commands are 'optimize', 'delete-all', "
		"'integrity-check', and 'merge' with a filter as item",
		name, table->name);
}
