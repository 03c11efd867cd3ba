/*
 * rows.c - the rows of a filter table: found by the primary key, replaced and inserted, as the
 * executor does it, without its plans.
 */
#include "table/table.h"

#include "index.h"
#include "messages.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/sysattr.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#if PG_VERSION_NUM < 180000
#define index_beginscan(heap, index, snapshot, instrument, keys, orders)                           \
	index_beginscan(heap, index, snapshot, keys, orders)
#endif

#if PG_VERSION_NUM >= 170000
#define ckfp_my_lxid MyProc->vxid.lxid
#else
#define ckfp_my_lxid MyProc->lxid
#endif

/* Bits of a hash that choose a place: 1.5 MB. */
#define CKFP_MOST_PLACES 18

/* The places of 32 chunks are read at once. */
#define CKFP_NEIGHBOURS 5

/* ---------------------------------------------------------------------- reading */

/*
 * A chunk is stored with its halves exchanged.  An update writes to the WAL what is between the
 * first and the last byte that differ.  The trailer of a chunk always differs: at the end of the
 * bytes half a chunk would be written on average, in the middle it is a quarter.
 */
static void
ckfp_exchange(char *to, const char *from, size_t size, size_t first)
{
	memcpy(to, from + first, size - first);
	memcpy(to + size - first, from, first);
}

bool
ckfp_open_chunk(ckf_chunk *chunk, const ckf_chunks *chunks, int64 id, Datum value,
				char bytes[CKF_CHUNK_MAX])
{
	const struct varlena *stored = PG_DETOAST_DATUM_PACKED(value);
	size_t size = VARSIZE_ANY_EXHDR(stored);

	if (size > CKF_CHUNK_MAX)
		return false;
	ckfp_exchange(bytes, VARDATA_ANY(stored), size, size / 2);
	return ckf_chunk_open(chunk, chunks, ckf_chunk_start(id), bytes, size) == CKF_OK;
}

/* Open the chunk of the row in the slot, whose id is stored in *id. false: it is damaged. */
static bool
ckfp_open_row(ckfp_table *table, int64 *id)
{
	bool null_id;
	bool null_chunk;
	Datum chunk = slot_getattr(table->row, CKFP_CHUNK, &null_chunk);

	*id = DatumGetInt64(slot_getattr(table->row, CKFP_ID, &null_id));
	return !null_chunk &&
		   ckfp_open_chunk(&table->chunk, &table->form.chunks, *id, chunk, table->bytes);
}

void
ckfp_read_row(ckfp_table *table)
{
	int64 id;

	if (!ckfp_open_row(table, &id))
		ckfp_error_damaged(table, id, "wrong bytes");
}

/* A primary does not wait for the snapshots of a standby before it builds an index: that may lack
 * the rows that such a snapshot shows. VACUUM FULL, which builds it, too, drops these rows. */
static Relation
ckfp_index_of(ckfp_table *table)
{
	Snapshot snapshot = GetActiveSnapshot();

	if (table->index == NULL)
	{
		table->index = index_open(table->form.index,
								  table->use == CKFP_READ ? AccessShareLock : RowExclusiveLock);
		if (snapshot->takenDuringRecovery && !ckfp_index_is_older(table->index, snapshot))
			ckfp_error_serialization();
	}
	return table->index;
}

/* A scan of the rows with an id from `least` to `most`. */
static IndexScanDesc
ckfp_begin_scan(ckfp_table *table, int64 least, int64 most, Snapshot snapshot)
{
	IndexScanDesc scan = index_beginscan(table->heap, ckfp_index_of(table), snapshot, NULL, 2, 0);
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], CKFP_ID, BTGreaterEqualStrategyNumber, F_INT8GE, Int64GetDatum(least));
	ScanKeyInit(&keys[1], CKFP_ID, BTLessEqualStrategyNumber, F_INT8LE, Int64GetDatum(most));
	index_rescan(scan, keys, 2, NULL, 0);
	return scan;
}

/* Move back to the next row that is visible. *place: where the index says it is; it may be a later
 * version of the row that is there. */
static bool
ckfp_scan_back(ckfp_table *table, IndexScanDesc scan, ItemPointerData *place)
{
	ItemPointer next;

	while ((next = index_getnext_tid(scan, BackwardScanDirection)) != NULL)
	{
		*place = *next;
		if (index_fetch_heap(scan, table->row))
			return true;
	}
	return false;
}

/* Move to the last row with an id from `least` to `most`, and store its place. */
static bool
ckfp_go(ckfp_table *table, int64 least, int64 most, Snapshot snapshot, ItemPointerData *place)
{
	IndexScanDesc scan = ckfp_begin_scan(table, least, most, snapshot);
	bool found = ckfp_scan_back(table, scan, place);

	index_endscan(scan); /* the slot keeps its page pinned */
	return found;
}

/*
 * Move to the last row up to an id. An index scan reads all keys of a page that are in its bounds,
 * so a near lower bound is tried first: chunks have similar depths.
 */
static bool
ckfp_go_back(ckfp_table *table, int64 id, ItemPointerData *place)
{
	Snapshot snapshot = GetActiveSnapshot();
	unsigned depth = table->form.depth;
	uint64 range = depth > 1 ? UINT64_MAX >> (depth - 1) : UINT64_MAX;

	return ckfp_go(table, ckf_chunk_id(ckf_chunk_start(id) & ~range), id, snapshot, place) ||
		   (depth > 1 && ckfp_go(table, PG_INT64_MIN, id, snapshot, place));
}

/* ------------------------------------------------------- places of rows */

/* Forget the places if the table has been opened by another subtransaction, or has changed. */
static bool
ckfp_knows_places(const ckfp_table *table)
{
	ckfp_places *places = table->places;

	if (places == NULL || places->at == NULL)
		return false;
	if (places->reading == table->form.reading && places->transaction == ckfp_my_lxid &&
		places->subtransaction == GetCurrentSubTransactionId())
		return true;
	pfree(places->at);
	places->at = NULL;
	return false;
}

/* Move to the row of a hash where one was found before. false: it is not there. */
static bool
ckfp_find_again(ckfp_table *table, uint64 hash)
{
	struct IndexFetchTableData *fetch;
	ItemPointerData place;
	bool more = false;
	bool found;
	int64 id;

	if (!ckfp_knows_places(table))
		return false;
	place = table->places->at[hash >> (64 - table->places->bits)];
	if (!ItemPointerIsValid(&place))
		return false;
	fetch = table_index_fetch_begin(table->heap);
	found = table_index_fetch_tuple(fetch, &place, GetActiveSnapshot(), table->row, &more, NULL);
	table_index_fetch_end(fetch);
	return found && ckfp_open_row(table, &id) && ckf_chunk_covers(&table->chunk, hash);
}

/* Keep the place of a row. There are at most some times as many entries as searches, and as
 * chunks. */
static void
ckfp_keep_place(ckfp_table *table, uint64 hash, ItemPointerData place)
{
	ckfp_places *places = table->places;
	bool known = ckfp_knows_places(table);

	if (places == NULL || (!known && places->searches++ == 0))
		return; /* perhaps it is the only call */
	if (!known || (places->searches >> places->bits > 0 && places->bits <= table->chunk.depth &&
				   places->bits < CKFP_MOST_PLACES))
	{
		if (known)
			pfree(places->at);
		places->bits =
			known ? Min(places->bits + 5, Min(table->chunk.depth + 2, CKFP_MOST_PLACES)) : 3;
		places->at = NULL;
		places->at =
			MemoryContextAllocZero(places->context, sizeof(ItemPointerData) << places->bits);
		places->searches = 0;
		places->reading = table->form.reading;
		places->transaction = ckfp_my_lxid;
		places->subtransaction = GetCurrentSubTransactionId();
	}
	places->searches++;
	places->at[hash >> (64 - places->bits)] = place;
}

/*
 * Keep the places of the rows around a hash that has none, if there is a place for each chunk. They
 * are side by side in the index, so one search finds them all. false: it was not tried.
 */
static bool
ckfp_keep_neighbours(ckfp_table *table, uint64 hash)
{
	const ckfp_places *places = table->places;
	unsigned depth = table->form.depth;
	uint64 range = depth > CKFP_NEIGHBOURS ? UINT64_MAX >> (depth - CKFP_NEIGHBOURS) : UINT64_MAX;
	IndexScanDesc scan;
	ItemPointerData place;
	uint64 after;
	unsigned shift;
	bool null;

	if (!ckfp_knows_places(table) || places->bits < depth ||
		ItemPointerIsValid(&places->at[hash >> (64 - places->bits)]))
		return false;
	shift = 64 - places->bits;
	after = ((hash | range) >> shift) + 1;
	scan = ckfp_begin_scan(table, ckf_chunk_id(hash & ~range), ckf_chunk_id(hash | range),
						   GetActiveSnapshot());
	while (ckfp_scan_back(table, scan, &place))
	{
		int64 id = DatumGetInt64(slot_getattr(table->row, CKFP_ID, &null));
		uint64 first = ckf_chunk_start(id) >> shift;

		for (uint64 i = first; i < after; i++)
			places->at[i] = place;
		after = Min(after, first);
	}
	index_endscan(scan);
	return true;
}

void
ckfp_check_empty(ckfp_table *table)
{
	HeapTuple entry = SearchSysCache1(RELOID, ObjectIdGetDatum(table->form.relation));
	ItemPointerData place;
	TransactionId changed =
		HeapTupleIsValid(entry) ? HeapTupleHeaderGetXmin(entry->t_data) : FrozenTransactionId;
	bool own = TransactionIdIsCurrentTransactionId(changed);
	bool later = own && HeapTupleHeaderGetCmin(entry->t_data) >= GetActiveSnapshot()->curcid;
	bool null;

	if (HeapTupleIsValid(entry))
		ReleaseSysCache(entry);
	if (!(own || XidInMVCCSnapshot(changed, GetActiveSnapshot())) ||
		!ckfp_go(table, PG_INT64_MIN, PG_INT64_MAX, SnapshotSelf, &place))
		return;
	if (!own || !TransactionIdIsCurrentTransactionId(DatumGetTransactionId(
					slot_getsysattr(table->row, MinTransactionIdAttributeNumber, &null))))
		ckfp_error_serialization();
	if (!later)
		return;
	ckfp_read_row(table);
	if (table->chunk.depth > 0 || table->chunk.count > 0)
		ckfp_error_unusable(table->heap, "was written anew since the query began");
}

bool
ckfp_find(ckfp_table *table, uint64 hash)
{
	ItemPointerData place;
	bool found;

	if (ckfp_find_again(table, hash) ||
		(ckfp_keep_neighbours(table, hash) && ckfp_find_again(table, hash)))
		return true;
	found = ckfp_go_back(table, ckf_chunk_id(hash), &place);
	if (unlikely(!found) &&
		!ckfp_go(table, PG_INT64_MIN, PG_INT64_MAX, GetActiveSnapshot(), &place))
		return false;
	ckfp_read_row(table);
	if (unlikely(!found || !ckf_chunk_covers(&table->chunk, hash)))
		ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start), CKF_DAMAGE_NO_CHUNK);
	table->form.depth = table->chunk.depth;
	ckfp_keep_place(table, hash, place);
	return true;
}

bool
ckfp_step(ckfp_table *table)
{
	bool begins = table->scan == NULL;

	CHECK_FOR_INTERRUPTS();
	if (begins)
	{
		table->scan =
			index_beginscan(table->heap, ckfp_index_of(table), GetActiveSnapshot(), NULL, 0, 0);
		index_rescan(table->scan, NULL, 0, NULL, 0);
	}
	if (index_getnext_slot(table->scan, ForwardScanDirection, table->row))
		return true;
	ckfp_end_rows(table);
	if (begins)
		ckfp_check_empty(table);
	return false;
}

bool
ckfp_next_row(ckfp_table *table)
{
	bool found = ckfp_step(table);

	if (found)
		ckfp_read_row(table);
	return found;
}

void
ckfp_end_rows(ckfp_table *table)
{
	if (table->scan != NULL)
		index_endscan(table->scan);
	table->scan = NULL;
}

/* ---------------------------------------------------------------------- writing */

/* Put a piece of an edit into the slot for written rows. */
static TupleTableSlot *
ckfp_form_row(ckfp_table *table, const ckf_chunk_piece *piece)
{
	TupleTableSlot *slot = table->written;

	if (slot == NULL)
		slot = table->written =
			MakeSingleTupleTableSlot(RelationGetDescr(table->heap), &TTSOpsVirtual);
	ExecClearTuple(slot);
	SET_VARSIZE(table->stored.room, VARHDRSZ + piece->size);
	ckfp_exchange(table->stored.room + VARHDRSZ, table->bytes, piece->size,
				  piece->size - piece->size / 2);
	slot->tts_values[CKFP_ID - 1] = Int64GetDatum(ckf_chunk_id(piece->start));
	slot->tts_values[CKFP_CHUNK - 1] = PointerGetDatum(table->stored.room);
	slot->tts_isnull[CKFP_ID - 1] = slot->tts_isnull[CKFP_CHUNK - 1] = false;
	return ExecStoreVirtualTuple(slot);
}

/* Insert the keys of a row into the indexes. Besides the primary key there may be one that is built
 * concurrently. The new version of a row has its id, so no other row can have it: to look for one
 * would visit all versions of the row. */
static void
ckfp_insert_keys(ckfp_table *table, TupleTableSlot *slot, bool replaced)
{
	List *indexes = RelationGetIndexList(table->heap);
	ListCell *cell;

	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), RowExclusiveLock);
		const FormData_pg_index *about = index->rd_index;

		if (about->indisready)
		{
			IndexInfo *info = BuildIndexInfo(index);

			index_insert(index, slot->tts_values, slot->tts_isnull, &slot->tts_tid, table->heap,
						 about->indisunique && !replaced ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
						 replaced, info);
			pfree(info); /* a call may insert many rows */
		}
		index_close(index, NoLock);
	}
	list_free(indexes);
}

void
ckfp_error_serialization(void)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("could not serialize access due to concurrent update")));
}

bool
ckfp_replace_row(ckfp_table *table, const ckf_chunk_piece *piece)
{
	TupleTableSlot *slot = ckfp_form_row(table, piece);
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
	if (result != TM_Ok && result != TM_Updated && result != TM_Deleted)
		elog(ERROR, "unexpected table_tuple_update status: %u", result);
	if (result != TM_Ok && IsolationUsesXactSnapshot())
		ckfp_error_serialization();
	if (result == TM_Ok && update_indexes)
		ckfp_insert_keys(table, slot, true);
	return result == TM_Ok;
}

void
ckfp_insert_row(ckfp_table *table, const ckf_chunk_piece *piece)
{
	int64 id = ckf_chunk_id(piece->start);
	TupleTableSlot *slot;
	ItemPointerData place;

	if (ckfp_go(table, id, id, SnapshotSelf, &place))
	{
		if (IsolationUsesXactSnapshot())
			ckfp_error_serialization();
		ckfp_error_damaged(table, id, CKF_DAMAGE_GAP);
	}
	slot = ckfp_form_row(table, piece);
	table_tuple_insert(table->heap, slot, GetCurrentCommandId(true), 0, NULL);
	ckfp_insert_keys(table, slot, false);
}

void
ckfp_delete_row(ckfp_table *table)
{
	TM_FailureData failure;

	if (table_tuple_delete(table->heap, &table->row->tts_tid, GetCurrentCommandId(true),
						   GetActiveSnapshot(), InvalidSnapshot, true, &failure, false) != TM_Ok)
		ckfp_error_serialization();
}
