/*
 * rows.c - the rows of a filter table: found by the primary key, replaced and inserted, as the
 * executor does it, without its plans.
 */
#include "table/table.h"

#include "messages.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

#if PG_VERSION_NUM < 180000
#define index_beginscan(heap, index, snapshot, instrument, keys, orders)                           \
	index_beginscan(heap, index, snapshot, keys, orders)
#endif

/* Move to the last row with an id from `least` to `most`. */
static bool
ckfp_go(ckfp_table *table, int64 least, int64 most, Snapshot snapshot)
{
	IndexScanDesc scan = index_beginscan(table->heap, table->index, snapshot, NULL, 2, 0);
	ScanKeyData keys[2];
	bool found;

	ScanKeyInit(&keys[0], CKFP_ID, BTGreaterEqualStrategyNumber, F_INT8GE, Int64GetDatum(least));
	ScanKeyInit(&keys[1], CKFP_ID, BTLessEqualStrategyNumber, F_INT8LE, Int64GetDatum(most));
	index_rescan(scan, keys, 2, NULL, 0);
	found = index_getnext_slot(scan, BackwardScanDirection, table->row);
	index_endscan(scan); /* the slot keeps its page pinned */
	return found;
}

/*
 * Move to the last row up to an id. An index scan reads all keys of a page that are in its bounds,
 * so a near lower bound is tried first: chunks have similar depths.
 */
static bool
ckfp_go_back(ckfp_table *table, int64 id, Snapshot snapshot)
{
	unsigned depth = table->form->depth;
	uint64 range = depth > 1 ? UINT64_MAX >> (depth - 1) : UINT64_MAX;

	return ckfp_go(table, ckf_chunk_id(ckf_chunk_start(id) & ~range), id, snapshot) ||
		   (depth > 1 && ckfp_go(table, PG_INT64_MIN, id, snapshot));
}

void
ckfp_read_row(ckfp_table *table)
{
	bool null_id;
	bool null_chunk;
	Datum chunk = slot_getattr(table->row, CKFP_CHUNK, &null_chunk);
	int64 id = DatumGetInt64(slot_getattr(table->row, CKFP_ID, &null_id));
	const struct varlena *bytes = null_chunk ? NULL : PG_DETOAST_DATUM_PACKED(chunk);

	if (bytes == NULL || ckf_chunk_open(&table->chunk, &table->form->chunks, ckf_chunk_start(id),
										VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)) != CKF_OK)
		ckfp_error_damaged(table, id, "wrong bytes");
}

bool
ckfp_find(ckfp_table *table, uint64 hash, Snapshot snapshot)
{
	if (likely(ckfp_go_back(table, ckf_chunk_id(hash), snapshot)))
	{
		ckfp_read_row(table);
		table->form->depth = table->chunk.depth;
		if (likely(ckf_chunk_covers(&table->chunk, hash)))
			return true;
	}
	else if (!ckfp_go(table, PG_INT64_MIN, PG_INT64_MAX, snapshot))
		return false;
	else
		ckfp_read_row(table);
	ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start), CKF_SAY_NO_CHUNK);
}

void
ckfp_start_rows(ckfp_table *table, Snapshot snapshot)
{
	table->scan = index_beginscan(table->heap, table->index, snapshot, NULL, 0, 0);
	index_rescan(table->scan, NULL, 0, NULL, 0);
}

bool
ckfp_next_row(ckfp_table *table)
{
	CHECK_FOR_INTERRUPTS();
	if (!index_getnext_slot(table->scan, ForwardScanDirection, table->row))
		return false;
	ckfp_read_row(table);
	return true;
}

void
ckfp_end_rows(ckfp_table *table)
{
	index_endscan(table->scan);
}

/* Put a part of an edit into the slot for written rows. */
static TupleTableSlot *
ckfp_form_row(ckfp_table *table, const ckf_chunk_part *part, struct varlena *bytes)
{
	TupleTableSlot *slot = table->written;

	if (slot == NULL)
		slot = table->written =
			MakeSingleTupleTableSlot(RelationGetDescr(table->heap), &TTSOpsVirtual);
	ExecClearTuple(slot);
	SET_VARSIZE(bytes, VARHDRSZ + part->size);
	slot->tts_values[CKFP_ID - 1] = Int64GetDatum(ckf_chunk_id(part->start));
	slot->tts_values[CKFP_CHUNK - 1] = PointerGetDatum(bytes);
	memset(slot->tts_isnull, false, CKFP_COLUMNS * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

/* Insert the keys of a new row into the indexes. Besides the primary key there may be one that is
 * being built concurrently. */
static void
ckfp_insert_keys(ckfp_table *table, TupleTableSlot *slot)
{
	List *indexes = RelationGetIndexList(table->heap);
	ListCell *cell;

	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), RowExclusiveLock);
		const FormData_pg_index *about = index->rd_index;

		if (about->indisready)
			index_insert(index, slot->tts_values, slot->tts_isnull, &slot->tts_tid, table->heap,
						 about->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false,
						 BuildIndexInfo(index));
		index_close(index, NoLock);
	}
	list_free(indexes);
}

TM_Result
ckfp_replace_row(ckfp_table *table, const ckf_chunk_part *part, struct varlena *bytes)
{
	TupleTableSlot *slot = ckfp_form_row(table, part, bytes);
	ItemPointerData old = table->row->tts_tid;
	TM_FailureData failure;
	LockTupleMode mode;
	TM_Result result;
#if PG_VERSION_NUM >= 160000
	TU_UpdateIndexes update_indexes;
#else
	bool update_indexes;
#endif

	result =
		table_tuple_update(table->heap, &old, slot, GetCurrentCommandId(true), GetActiveSnapshot(),
						   InvalidSnapshot, true, &failure, &mode, &update_indexes);
	if (result == TM_Ok && update_indexes)
		ckfp_insert_keys(table, slot);
	return result;
}

void
ckfp_insert_row(ckfp_table *table, const ckf_chunk_part *part, struct varlena *bytes)
{
	TupleTableSlot *slot = ckfp_form_row(table, part, bytes);

	table_tuple_insert(table->heap, slot, GetCurrentCommandId(true), 0, NULL);
	ckfp_insert_keys(table, slot);
}
