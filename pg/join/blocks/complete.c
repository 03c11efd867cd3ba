/*
 * complete.c - does an index have all rows that a snapshot sees?
 *
 * An index can lack some of them:
 * - on a standby. The primary, which does not know the snapshot, builds an index or summarizes a
 *   range of BRIN without the rows that are dead to all of its own transactions, and no recovery
 *   conflict comes of it;
 * - BRIN, from PostgreSQL 16 on. An update of its columns can be HOT, and a range is summarized
 *   without the old versions of rows whose HOT update has committed, which older snapshots see.
 *
 * The transaction T that updated or deleted such a row had ended before the index was built or the
 * range was summarized, and T ended after the snapshot was taken, as this sees the row. So an index
 * has all rows if one of these is true when it has been searched:
 * - No transaction has ended since the snapshot.
 * - Both were done before the snapshot. It was built then if the snapshot sees the rows of the
 *   index in pg_class, which has its file, and in pg_index, which says that it is valid: the
 *   transactions that wrote them ended before T. As for BRIN, the last step of a summary writes it
 *   to a page of the index. It was done then if the WAL of all pages is before the snapshot. This
 *   does not depend on transactions that do not write to the table, or in another database.
 * - The table is a temporary one: no T writes to it but this transaction.
 *
 * The position in the WAL before a snapshot is that of the end of an earlier transaction of this
 * session; workers get their leader's. It is noted once a second at most, as it takes a lock. In
 * REPEATABLE READ the snapshot can be an older one, which another session has exported.
 *
 * An index that this transaction has made anew may also lack the old versions of rows that the
 * transaction has updated itself. Its cursors see them.
 */
#include "join/blocks/blocks.h"

#include "index.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "access/xlog.h"
#if PG_VERSION_NUM >= 150000
#include "access/xlogrecovery.h"
#endif
#include "catalog/pg_am.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* ---------------------------------------------------------------- a position in the WAL */

/* The position at the end of an earlier transaction, and when the last statement of that began. */
static XLogRecPtr ckfp_noted = InvalidXLogRecPtr;
static TimestampTz ckfp_noted_at = 0;

/* A transaction has ended. */
static void
ckfp_note_position(XactEvent event, void *unused)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();

	if ((event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE) ||
		(ckfp_noted != InvalidXLogRecPtr && now < ckfp_noted_at + USECS_PER_SEC))
		return;
	ckfp_noted = RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetXLogInsertRecPtr();
	ckfp_noted_at = now;
}

XLogRecPtr
ckfp_wal_before(void)
{
	return IsolationUsesXactSnapshot() || IsParallelWorker() ? InvalidXLogRecPtr
															 : Max(ckfp_noted, XactLastCommitEnd);
}

void
ckfp_join_init_complete(void)
{
	RegisterXactCallback(ckfp_note_position, NULL);
}

/* ------------------------------------------------------------------------ the index */

/* Has a transaction ended since a snapshot was taken? */
static bool
ckfp_transactions_have_ended(const SnapshotData *snapshot)
{
	Snapshot now;

	InvalidateCatalogSnapshot();
	now = GetCatalogSnapshot(InvalidOid);
	/* When a transaction ends, it leaves xip (in recovery: subxip). If it began after the snapshot,
	 * xmax grows instead. The leader's transaction is not in the xip of its own snapshot, but in
	 * that of a snapshot that a parallel worker takes: so only the old xip is looked up. */
	if (now->takenDuringRecovery != snapshot->takenDuringRecovery || now->xmax != snapshot->xmax ||
		(now->takenDuringRecovery && now->subxcnt != snapshot->subxcnt))
		return true;
	for (uint32 i = 0; i < snapshot->xcnt; i++)
		if (!XidInMVCCSnapshot(snapshot->xip[i], now))
			return true;
	return false;
}

/* Were all summaries of BRIN written before a position in the WAL? */
static bool
ckfp_summaries_are_older(Relation index, XLogRecPtr position)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	bool older = position != InvalidXLogRecPtr && RelationNeedsWAL(index);

	for (BlockNumber b = 0; b < blocks && older; b++)
	{
		Buffer buffer = ReadBuffer(index, b);

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		older = PageGetLSN(BufferGetPage(buffer)) <= position;
		UnlockReleaseBuffer(buffer);
	}
	return older;
}

bool
ckfp_index_is_complete(Relation index, Snapshot snapshot, XLogRecPtr before)
{
	bool brin = index->rd_rel->relam == BRIN_AM_OID;

#if PG_VERSION_NUM >= 160000
	/* A worker does not know what the transaction has made anew. */
	if (brin && (index->rd_firstRelfilelocatorSubid != InvalidSubTransactionId ||
				 (IsParallelWorker() && TransactionIdIsValid(GetTopTransactionIdIfAny()))))
		return false;
	if (!brin && !snapshot->takenDuringRecovery)
		return true;
#else
	if (!snapshot->takenDuringRecovery)
		return true;
#endif
	return RelationUsesLocalBuffers(index) || !ckfp_transactions_have_ended(snapshot) ||
		   (ckfp_index_is_older(index, snapshot) &&
			(!brin || ckfp_summaries_are_older(index, before)));
}
