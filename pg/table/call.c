/*
 * call.c - the functions of items: cuckoofilter_table_add, _remove, _contains, _copies.
 *
 * A lookup reads one row, in the snapshot of the query.  A snapshot shows all chunks or none of a
 * change, so even an old one has one chunk for each hash.  What is not in it may still be in the
 * latest one, whose "yes" is right, too.
 */
#include "table/table.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

/* The number of new items, or of copies that were removed. */
static int64
ckfp_change_by(FunctionCallInfo fcinfo, bool many, bool remove)
{
	ckfp_table table;
	ckfp_items items = {.count = 1, .whole = true};
	uint64 hash;

	ckfp_open(fcinfo, &table, CKFP_CHANGE);
	if (many)
	{
		items = ckfp_read_items(fcinfo, &table.form);
		ckfp_lock_order(&table, true);
	}
	else
	{
		ckfp_reader *reader = ckfp_reader_of(fcinfo, &table.form, InvalidOid);

		table.places = &reader->places;
		hash = ckfp_read_changed(reader, &table.form, PG_GETARG_DATUM(1));
		items.at = &hash;
		if (reader->varies)
			ckfp_lock_order(&table, false);
	}
	if (!remove)
		ckfp_reserve(&table, &items);
	ckfp_change(&table, remove ? NULL : &items, remove ? &items : NULL);
	ckfp_close_table(&table);
	return remove ? -items.stored : (int64)items.fresh;
}

CKFP_FUNCTION(cuckoofilter_table_add, BoolGetDatum(ckfp_change_by(fcinfo, false, false) > 0));
CKFP_FUNCTION(cuckoofilter_table_add_all, Int64GetDatum(ckfp_change_by(fcinfo, true, false)));
CKFP_FUNCTION(cuckoofilter_table_remove, BoolGetDatum(ckfp_change_by(fcinfo, false, true) > 0));
CKFP_FUNCTION(cuckoofilter_table_remove_all, Int64GetDatum(ckfp_change_by(fcinfo, true, true)));

/* Has a transaction replaced the row in the slot, perhaps? */
static bool
ckfp_is_replaced(const ckfp_table *table)
{
	uint16 state = ExecFetchSlotHeapTuple(table->row, false, NULL)->t_data->t_infomask;

	return !(state & HEAP_XMAX_INVALID) && !HEAP_XMAX_IS_LOCKED_ONLY(state);
}

/*
 * Make a snapshot of what is committed now, and what this transaction has done before the statement
 * that runs, the active one. GetLatestSnapshot is refused in parallel plans, as each of their
 * processes would get another one; here that only repeats a "no".
 */
static void
ckfp_push_latest(void)
{
	static SnapshotData latest;
	CommandId command = GetActiveSnapshot()->curcid;

	GetSnapshotData(&latest);
	PushActiveSnapshot(&latest); /* a copy */
	GetActiveSnapshot()->curcid = command;
}

/* The copies of a hash in the chunk at which the table is; `any`: 1 if there are some. */
static unsigned
ckfp_count_copies(const ckfp_table *table, uint64 hash, bool any)
{
	return any ? ckf_chunk_contains(&table->chunk, hash) : ckf_chunk_copies(&table->chunk, hash);
}

static unsigned
ckfp_look_up_hash(ckfp_table *table, uint64 hash, bool any)
{
	bool found = ckfp_find(table, hash);
	unsigned copies = found ? ckfp_count_copies(table, hash, any) : 0;
	/* In READ COMMITTED an UPDATE that has waited for a row goes on with its new version, which its
	 * snapshot does not show; so does FOR UPDATE, and a STABLE function that they call, whose
	 * queries may be parallel. */
	bool again = copies == 0 && (!found || ckfp_is_replaced(table)) && !IsolationUsesXactSnapshot();

	if (again)
	{
		ckfp_push_latest();
		found = ckfp_find(table, hash);
		copies = found ? ckfp_count_copies(table, hash, any) : 0;
	}
	if (!found)
		ckfp_check_empty(table);
	if (again)
		PopActiveSnapshot();
	return copies;
}

/* The copies of the item in argument 1. A table whose type has no decimals may have taken a filter
 * that holds some as the nearest double. */
static unsigned
ckfp_look_up_item(FunctionCallInfo fcinfo, bool any)
{
	ckfp_table table;
	unsigned copies;
	ckfp_reader *reader;
	ckf_hashes item;

	ckfp_open(fcinfo, &table, CKFP_READ);
	reader = ckfp_reader_of(fcinfo, &table.form, InvalidOid);
	table.places = &reader->places;
	item = ckfp_read_item(reader, &table.form, PG_GETARG_DATUM(1));
	copies = ckfp_look_up_hash(&table, item.hash, any);
	if (copies == 0 && ckf_is_decimal(item) && !table.form.decimals)
		copies = ckfp_look_up_hash(&table, item.rounded, any);
	ckfp_close_table(&table);
	return copies;
}

CKFP_FUNCTION(cuckoofilter_table_contains, BoolGetDatum(ckfp_look_up_item(fcinfo, true) > 0));
CKFP_FUNCTION(cuckoofilter_table_copies, Int32GetDatum((int32)ckfp_look_up_item(fcinfo, false)));
