/*
 * change.c - adds and removals.  Each is an edit of the engine, whose pieces become rows.
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

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* The edit of this session. It is in use only within one change, which runs no other code. */
static ckf_edit *
ckfp_edit(void)
{
	static ckf_edit *edit;

	if (unlikely(edit == NULL))
		edit = MemoryContextAlloc(TopMemoryContext, CKF_EDIT_SIZE);
	return edit;
}

_Noreturn static void
ckfp_error_items(const ckfp_table *table)
{
	ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start), "wrong items");
}

static ckf_status
ckfp_next_piece(ckfp_table *table, ckf_chunk_piece *piece)
{
	ckf_status status = ckf_edit_next(ckfp_edit(), table->bytes, piece);

	CHECK_FOR_INTERRUPTS();
	if (status != CKF_OK && status != CKF_MORE && status != CKF_FEED)
		ckfp_error_items(table);
	return status;
}

/* Begin a command of its own, which sees the changes of this transaction. */
static void
ckfp_push_snapshot(void)
{
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
}

/* ------------------------------------------------------------- an empty table */

void
ckfp_write_first(ckfp_table *table)
{
	ckf_chunk_piece piece;
	size_t taken;

	(void)ckf_edit_add(ckfp_edit(), &table->form.chunks, NULL, NULL, 0, true, &taken);
	(void)ckfp_next_piece(table, &piece);
	ckfp_insert_row(table, &piece);
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
	begun = ckfp_find(table, 0);
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
	for (;; PopActiveSnapshot())
	{
		int flags = IsolationUsesXactSnapshot() ? 0 : TUPLE_LOCK_FLAG_FIND_LAST_VERSION;
		ItemPointerData found;
		TM_FailureData failure;

		CHECK_FOR_INTERRUPTS();
		ckfp_push_snapshot();
		if (unlikely(!ckfp_find(table, hash)))
		{
			ckfp_begin_table(table);
			continue;
		}
		if (!lock)
			return;
		found = table->row->tts_tid;
		if (table_tuple_lock(table->heap, &found, GetActiveSnapshot(), table->row,
							 GetCurrentCommandId(true), LockTupleNoKeyExclusive, LockWaitBlock,
							 flags, &failure) == TM_Ok)
		{
			ckfp_read_row(table);
			if (ckf_chunk_covers(&table->chunk, hash))
				return;
		}
		else if (IsolationUsesXactSnapshot())
			ckfp_error_serialization();
		/* the row was deleted or has split meanwhile */
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

	*copies = ckfp_find(table, hash)
				  ? (double)table->chunk.count * (double)((uint64)1 << table->chunk.depth)
				  : 0;
	return 0;
}

static int
ckfp_count(ckf_reserve *reserve, uint64_t *copies)
{
	ckfp_table *table = ((ckfp_limit *)reserve)->table;

	for (*copies = 0; ckfp_next_row(table);)
		*copies += table->chunk.count;
	return 0;
}

void
ckfp_reserve(ckfp_table *table, const ckfp_items *added)
{
	uint64 hash = added->count > 0 && added->at != NULL ? added->at[0] : 0;
	uint64 n = added->count;
	ckfp_limit limit = {{.chunks = &table->form.chunks,
						 .allowed = &table->form.allowed,
						 .estimate = ckfp_estimate,
						 .count = ckfp_count},
						table};
	const char *name = RelationGetRelationName(table->heap);
	uint64_t copies = 0;
	bool full;

	if (table->form.allowed >= n)
	{
		table->form.allowed -= n;
		return;
	}
	ckfp_push_snapshot();
	(void)ckf_host_reserve(&limit.reserve, hash, n, &full, &copies);
	PopActiveSnapshot();
	if (full)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						n > 1 ? errmsg(CKF_SAY_TABLE_LACKS, name, (unsigned long long)n)
							  : errmsg(CKF_SAY_TABLE_FULL, name),
						errdetail(CKF_DETAIL_FILL, (unsigned long long)copies,
								  ckf_chunks_fpr(&table->form.chunks, copies)),
						errhint("Create it with a capacity of at least %llu.",
								(unsigned long long)(copies + n))));
}

/* ------------------------------------------------------------------- changes */

void
ckfp_lock_order(const ckfp_table *table, bool ascending)
{
	LockDatabaseObject(RelationRelationId, table->form.relation, 0,
					   ascending ? ShareLock : ExclusiveLock);
}

/* Items with the most copies are added: nothing changes, now and later, unless the filter was
 * emptied since an old snapshot. */
static void
ckfp_check_saturated(const ckfp_table *table)
{
	if (IsolationUsesXactSnapshot() && !table->form.chunks.exact.deduplicated &&
		!table_tuple_satisfies_snapshot(table->heap, table->row, SnapshotSelf))
		ckfp_error_serialization();
}

/* Write the pieces of an edit. The first one replaces the row of the chunk. false: another
 * transaction has replaced the row before, and nothing was written. */
static bool
ckfp_write_pieces(ckfp_table *table, bool remove)
{
	ckf_chunk_piece piece;

	if (ckfp_next_piece(table, &piece) == CKF_OK)
	{
		if (!remove)
			ckfp_check_saturated(table);
		return true;
	}
	if (!ckfp_replace_row(table, &piece))
		return false;
	while (ckfp_next_piece(table, &piece) == CKF_MORE)
		ckfp_insert_row(table, &piece);
	return true;
}

/* The distinct hashes among the first ones of a list that the chunk certainly does not have. */
static size_t
ckfp_count_fresh(const ckf_chunk *chunk, const ckfp_items *items)
{
	size_t fresh = 0;

	if (items->whole)
		for (size_t i = 0; i < items->count && ckf_chunk_covers(chunk, items->at[i]); i++)
			fresh += (i == 0 || items->at[i] != items->at[i - 1]) &&
					 !ckf_chunk_contains(chunk, items->at[i]);
	return fresh;
}

/* Change the chunk of the first item by all items in its range, and skip these. */
static void
ckfp_change_chunk(ckfp_table *table, ckfp_items *items, bool remove)
{
	const ckf_chunks *chunks = &table->form.chunks;
	const ckf_chunk *chunk = &table->chunk;
	bool written = false;
	size_t fresh = 0;
	size_t taken;

	for (bool lock = false; !written; lock = true)
	{
		ckf_status status;

		ckfp_find_to_change(table, items->at[0], lock);
		if (!remove)
			fresh = ckfp_count_fresh(chunk, items);
		status = remove
					 ? ckf_edit_remove(ckfp_edit(), chunks, chunk, items->at, items->count, &taken)
					 : ckf_edit_add(ckfp_edit(), chunks, chunk, items->at, items->count,
									items->whole, &taken);
		if (status == CKF_IS_SET)
			ckfp_error(status, (ckf_about){0});
		if (status != CKF_OK)
			ckfp_error_items(table);
		written = ckfp_write_pieces(table, remove);
		PopActiveSnapshot();
	}
	items->fresh += fresh;
	items->stored += ckf_edit_stored(ckfp_edit());
	items->at += taken;
	items->count -= taken;
}

void
ckfp_change(ckfp_table *table, ckfp_items *added, ckfp_items *removed)
{
	ckfp_items none = {0};

	added = added != NULL ? added : &none;
	removed = removed != NULL ? removed : &none;
	while (added->count > 0 || removed->count > 0)
	{
		bool remove = added->count == 0 || (removed->count > 0 && removed->at[0] <= added->at[0]);

		ckfp_change_chunk(table, remove ? removed : added, remove);
	}
}

/* ------------------------------------------------------------------ all chunks */

void
ckfp_pack(ckfp_table *table)
{
	ckf_chunk_piece piece;
	ckf_status status;
	bool gap = false;

	ckfp_push_snapshot();
	ckf_edit_pack(ckfp_edit(), &table->form.chunks);
	while (!gap && (status = ckfp_next_piece(table, &piece)) != CKF_OK)
		if (status == CKF_MORE)
			ckfp_insert_row(table, &piece);
		else
		{
			bool found = ckfp_next_row(table);

			gap = ckf_edit_feed(ckfp_edit(), found ? &table->chunk : NULL) != CKF_OK;
			if (found)
				ckfp_delete_row(table);
		}
	if (gap || (table->scan != NULL && ckfp_next_row(table)))
		ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start), CKF_DAMAGE_GAP);
	PopActiveSnapshot();
}

void
ckfp_empty_table(ckfp_table *table)
{
	ckfp_push_snapshot();
	while (ckfp_step(table))
		ckfp_delete_row(table);
	ckfp_write_first(table);
	PopActiveSnapshot();
	table->form.allowed = 0;
}
