/*
 * change.c - adds and removals.  Each is an edit of the engine, whose parts become rows.
 *
 * Other sessions change the table, too.  A change reads its chunk in a snapshot of its own, edits
 * it, and replaces the row.  If another transaction has replaced this row meanwhile,
 * table_tuple_update waits for it and reports so.  Then the change is repeated: it finds the row in
 * a new snapshot, which knows the splits of that transaction, locks its latest version, and edits
 * this one.  So no change is lost.  The new chunks of a split are in the range of a row that the
 * transaction has replaced, so nobody else inserts their ids.
 *
 * In REPEATABLE READ and SERIALIZABLE there is no newer snapshot: it is an error, as of UPDATE.
 */
#include "table/table.h"

#include "error.h"
#include "messages.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* The bytes of a part, as a value. */
typedef union ckfp_part_bytes
{
	struct varlena value;
	char bytes[VARHDRSZ + CKF_CHUNK_MAX];
	int64 aligned;
} ckfp_part_bytes;

/* The edit of this session. It is in use only within one change, which runs no other code. */
static ckf_edit *
ckfp_edit(void)
{
	static ckf_edit *edit;

	if (unlikely(edit == NULL))
		edit = MemoryContextAlloc(TopMemoryContext, CKF_EDIT_SIZE);
	return edit;
}

static ckf_status
ckfp_next_part(ckfp_table *table, ckfp_part_bytes *bytes, ckf_chunk_part *part)
{
	ckf_status status = ckf_edit_next(table->edit, bytes->bytes + VARHDRSZ, part);

	CHECK_FOR_INTERRUPTS();
	if (status != CKF_OK && status != CKF_MORE && status != CKF_FEED)
		ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start), "wrong items");
	return status;
}

/* ------------------------------------------------------------- an empty table */

void
ckfp_write_first(ckfp_table *table)
{
	ckfp_part_bytes bytes;
	ckf_chunk_part part;
	size_t taken;

	table->edit = ckfp_edit();
	(void)ckf_edit_add(table->edit, &table->form->chunks, NULL, NULL, 0, true, &taken);
	(void)ckf_edit_next(table->edit, bytes.bytes + VARHDRSZ, &part);
	ckfp_insert_row(table, &part, &bytes.value);
}

_Noreturn static void
ckfp_error_serialization(void)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("could not serialize access due to concurrent update")));
}

/*
 * Begin a table that has no rows, after TRUNCATE for example, with a row that covers all hashes.
 * Sessions that do so wait for each other; the lock is not one that other changes need.
 */
static void
ckfp_begin_table(ckfp_table *table)
{
	bool begun;

	LockRelation(table->heap, ShareUpdateExclusiveLock);
	PushActiveSnapshot(GetLatestSnapshot());
	begun = ckfp_find(table, 0, GetActiveSnapshot());
	PopActiveSnapshot();
	if (!begun)
		ckfp_write_first(table);
	else if (IsolationUsesXactSnapshot())
		ckfp_error_serialization();
}

/* ------------------------------------------------------------ finding a chunk */

/*
 * Find the chunk of a hash as it is now, and lock its latest version if told to. The snapshot stays
 * the active one.
 */
static void
ckfp_find_to_change(ckfp_table *table, uint64 hash, bool lock)
{
	for (;;)
	{
		TM_FailureData failure;
		TM_Result result;
		int flags = IsolationUsesXactSnapshot() ? 0 : TUPLE_LOCK_FLAG_FIND_LAST_VERSION;

		CHECK_FOR_INTERRUPTS();
		CommandCounterIncrement(); /* to see the changes of this transaction */
		PushActiveSnapshot(GetTransactionSnapshot());
		if (unlikely(!ckfp_find(table, hash, GetActiveSnapshot())))
			ckfp_begin_table(table);
		else if (!lock)
			return;
		else
		{
			ItemPointerData found = table->row->tts_tid;

			result = table_tuple_lock(table->heap, &found, GetActiveSnapshot(), table->row,
									  GetCurrentCommandId(true), LockTupleNoKeyExclusive,
									  LockWaitBlock, flags, &failure);
			if (result == TM_Ok)
				ckfp_read_row(table);
			if (result == TM_Ok && ckf_chunk_covers(&table->chunk, hash))
				return;
			if (result != TM_Ok && IsolationUsesXactSnapshot())
				ckfp_error_serialization();
			/* else the row was deleted or has split meanwhile */
		}
		PopActiveSnapshot();
	}
}

/* ----------------------------------------------------------------- the limit */

typedef struct ckfp_limit
{
	ckf_reserve reserve; /* the first member */
	ckfp_table *table;
} ckfp_limit;

static int
ckfp_estimate(ckf_reserve *reserve, uint64_t hash, double *copies)
{
	ckfp_table *table = ((ckfp_limit *)reserve)->table;

	*copies = 0;
	if (ckfp_find(table, hash, GetActiveSnapshot()))
		*copies = (double)table->chunk.count * (double)((uint64)1 << table->chunk.depth);
	return 0;
}

static int
ckfp_count(ckf_reserve *reserve, uint64_t *copies)
{
	ckfp_table *table = ((ckfp_limit *)reserve)->table;

	*copies = 0;
	ckfp_start_rows(table, GetActiveSnapshot());
	while (ckfp_next_row(table))
		*copies += table->chunk.count;
	ckfp_end_rows(table);
	return 0;
}

void
ckfp_reserve(ckfp_table *table, uint64 hash, uint64 n)
{
	ckfp_limit limit = {{.chunks = &table->form->chunks,
						 .allowed = &table->form->allowed,
						 .estimate = ckfp_estimate,
						 .count = ckfp_count},
						table};
	uint64_t copies = 0;
	bool full;

	if (table->form->allowed >= n)
	{
		table->form->allowed -= n;
		return;
	}
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	(void)ckf_host_reserve(&limit.reserve, hash, n, &full, &copies);
	PopActiveSnapshot();
	if (full)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						n > 1 ? errmsg(CKF_SAY_TABLE_LACKS, RelationGetRelationName(table->heap),
									   (unsigned long long)n)
							  : errmsg(CKF_SAY_TABLE_FULL, RelationGetRelationName(table->heap)),
						errdetail(CKF_DETAIL_FILL, (unsigned long long)copies,
								  ckf_chunks_fpr(&table->form->chunks, copies)),
						errhint("Create it with a capacity of at least %llu.",
								(unsigned long long)(copies + n))));
}

/* ------------------------------------------------------------------- changes */

void
ckfp_lock_order(const ckfp_table *table, bool ascending)
{
	LockDatabaseObject(RelationRelationId, RelationGetRelid(table->heap), 0,
					   ascending ? ShareLock : ExclusiveLock);
}

/* Write the parts of an edit. The first one replaces the row of the chunk. false: another
 * transaction has replaced the row before, and nothing was written. */
static bool
ckfp_write_parts(ckfp_table *table)
{
	ckfp_part_bytes bytes;
	ckf_chunk_part part;
	TM_Result result;

	if (ckfp_next_part(table, &bytes, &part) == CKF_OK)
		return true; /* nothing has changed */
	result = ckfp_replace_row(table, &part, &bytes.value);
	if (result == TM_Updated || result == TM_Deleted)
	{
		if (IsolationUsesXactSnapshot())
			ckfp_error_serialization();
		return false;
	}
	if (result != TM_Ok)
		elog(ERROR, "unexpected table_tuple_update status: %u", result);
	while (ckfp_next_part(table, &bytes, &part) == CKF_MORE)
		ckfp_insert_row(table, &part, &bytes.value);
	return true;
}

/* The distinct hashes among the first ones of a list that the chunk certainly does not have. */
static size_t
ckfp_count_fresh(const ckf_chunk *chunk, const ckfp_items *items)
{
	size_t fresh = 0;

	for (size_t i = 0; i < items->count && ckf_chunk_covers(chunk, items->at[i]); i++)
		fresh += (i == 0 || items->at[i] != items->at[i - 1]) &&
				 !ckf_chunk_contains(chunk, items->at[i]);
	return fresh;
}

/* Change the chunk of the first item by all items in its range. Returns their number. */
static size_t
ckfp_change_chunk(ckfp_table *table, ckfp_items *items, bool remove)
{
	const ckf_chunks *chunks = &table->form->chunks;
	bool written = false;
	size_t fresh = 0;
	size_t taken;

	for (bool lock = false; !written; lock = true)
	{
		ckf_status status;

		ckfp_find_to_change(table, items->at[0], lock);
		if (remove)
			status = ckf_edit_remove(table->edit, chunks, &table->chunk, items->at, items->count,
									 &taken);
		else
		{
			fresh = items->whole ? ckfp_count_fresh(&table->chunk, items) : 0;
			status = ckf_edit_add(table->edit, chunks, &table->chunk, items->at, items->count,
								  items->whole, &taken);
		}
		if (status == CKF_IS_SET)
			ckfp_error(status, (ckf_about){0});
		if (status != CKF_OK)
			ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start), "wrong items");
		written = ckfp_write_parts(table);
		PopActiveSnapshot();
	}
	items->fresh += fresh;
	items->stored += ckf_edit_stored(table->edit);
	return taken;
}

static void
ckfp_skip(ckfp_items *items, size_t n)
{
	items->at += n;
	items->count -= n;
}

void
ckfp_change(ckfp_table *table, ckfp_items *added, ckfp_items *removed)
{
	ckfp_items none = {0};

	added = added != NULL ? added : &none;
	removed = removed != NULL ? removed : &none;
	table->edit = ckfp_edit();
	while (added->count > 0 || removed->count > 0)
	{
		bool remove = added->count == 0 || (removed->count > 0 && removed->at[0] <= added->at[0]);
		ckfp_items *items = remove ? removed : added;

		ckfp_skip(items, ckfp_change_chunk(table, items, remove));
	}
}

/* -------------------------------------------------------------------- packing */

static void
ckfp_delete_row(ckfp_table *table)
{
	TM_FailureData failure;
	TM_Result result =
		table_tuple_delete(table->heap, &table->row->tts_tid, GetCurrentCommandId(true),
						   GetActiveSnapshot(), InvalidSnapshot, true, &failure, false);

	if (result != TM_Ok)
		ckfp_error_serialization();
}

void
ckfp_pack(ckfp_table *table)
{
	ckfp_part_bytes bytes;
	ckf_chunk_part part;
	ckf_status status;

	table->edit = ckfp_edit();
	ckf_edit_pack(table->edit, &table->form->chunks);
	ckfp_start_rows(table, GetActiveSnapshot());
	while ((status = ckfp_next_part(table, &bytes, &part)) != CKF_OK)
		if (status == CKF_MORE)
			ckfp_insert_row(table, &part, &bytes.value);
		else
		{
			bool found = ckfp_next_row(table);

			if (ckf_edit_feed(table->edit, found ? &table->chunk : NULL) != CKF_OK)
				ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start),
								   CKF_SAY_GAP);
			if (found)
				ckfp_delete_row(table);
		}
	if (ckfp_next_row(table))
		ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start),
						   CKF_SAY_GAP);
	ckfp_end_rows(table);
}

void
ckfp_empty_table(ckfp_table *table)
{
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	ckfp_start_rows(table, GetActiveSnapshot());
	while (ckfp_next_row(table))
		ckfp_delete_row(table);
	ckfp_end_rows(table);
	ckfp_write_first(table);
	PopActiveSnapshot();
	table->form->allowed = 0;
}
