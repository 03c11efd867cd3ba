/*
 * add.c - cuckoofilter_table_add and cuckoofilter_table_remove, of one item and of many.
 */
#include "table/table.h"

#include "miscadmin.h"

void
ckfp_open_to_change(FunctionCallInfo fcinfo, ckfp_table *table, const char *function)
{
	PreventCommandIfReadOnly(function);
	PreventCommandIfParallelMode(function);
	ckfp_open_table(table, PG_GETARG_OID(0), GetUserId(), CKFP_WRITES, RowExclusiveLock);
}

/* The number of new items, or of copies that were removed. */
static int64
ckfp_change_by(FunctionCallInfo fcinfo, const char *function, bool many, bool remove)
{
	ckfp_table table;
	ckfp_items items = {.count = 1, .whole = true};
	uint64 hash;

	ckfp_open_to_change(fcinfo, &table, function);
	if (many)
	{
		items = ckfp_read_items(fcinfo, table.form);
		ckfp_lock_order(&table, true);
	}
	else
	{
		ckfp_reader *reader = ckfp_reader_of(fcinfo, table.form, InvalidOid);

		hash = ckfp_read_changed(reader, table.form, PG_GETARG_DATUM(1));
		items.at = &hash;
		if (reader->varies)
			ckfp_lock_order(&table, false);
	}
	if (!remove && items.count > 0)
		ckfp_reserve(&table, items.at[0], items.count);
	ckfp_change(&table, remove ? NULL : &items, remove ? &items : NULL);
	ckfp_close_table(&table);
	return remove ? -items.stored : (int64)items.fresh;
}

/* cuckoofilter_table_add(table, item) */
CKFP_FUNCTION(cuckoofilter_table_add,
			  BoolGetDatum(ckfp_change_by(fcinfo, "cuckoofilter_table_add()", false, false) > 0));

/* cuckoofilter_table_add_all(table, items) */
CKFP_FUNCTION(cuckoofilter_table_add_all,
			  Int64GetDatum(ckfp_change_by(fcinfo, "cuckoofilter_table_add_all()", true, false)));

/* cuckoofilter_table_remove(table, item) */
CKFP_FUNCTION(cuckoofilter_table_remove,
			  BoolGetDatum(ckfp_change_by(fcinfo, "cuckoofilter_table_remove()", false, true) > 0));

/* cuckoofilter_table_remove_all(table, items) */
CKFP_FUNCTION(cuckoofilter_table_remove_all,
			  Int64GetDatum(ckfp_change_by(fcinfo, "cuckoofilter_table_remove_all()", true, true)));
