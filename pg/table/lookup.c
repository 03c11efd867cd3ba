/*
 * lookup.c - cuckoofilter_table_contains, cuckoofilter_table_copies: a lookup reads one row, in the
 * snapshot of the query.  A snapshot shows all chunks or none of a change, so even an old one has
 * one chunk for each hash.
 */
#include "table/table.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"

/* The copies of a hash. */
static unsigned
ckfp_look_up_hash(ckfp_table *table, uint64 hash, bool any)
{
	if (!ckfp_find(table, hash, GetActiveSnapshot()))
		return 0;
	return any ? ckf_chunk_contains(&table->chunk, hash) : ckf_chunk_copies(&table->chunk, hash);
}

/* The copies of the item in argument 1; `any`: 1 if there are some. A table whose type has no
 * decimals may have taken a filter that holds some as the nearest double. */
static unsigned
ckfp_look_up_item(FunctionCallInfo fcinfo, bool any)
{
	ckfp_table table;
	ckfp_reader *reader;
	unsigned copies;
	ckf_hashes item;

	ckfp_open_table(&table, PG_GETARG_OID(0), GetUserId(), CKFP_READS, AccessShareLock);
	reader = ckfp_reader_of(fcinfo, table.form, InvalidOid);
	item = ckfp_read_item(reader, table.form, PG_GETARG_DATUM(1));
	copies = ckfp_look_up_hash(&table, item.hash, any);
	if (copies == 0 && ckf_is_decimal(item) && !table.form->decimals)
		copies = ckfp_look_up_hash(&table, item.rounded, any);
	ckfp_close_table(&table);
	return copies;
}

/* cuckoofilter_table_contains(table, item) */
CKFP_FUNCTION(cuckoofilter_table_contains, BoolGetDatum(ckfp_look_up_item(fcinfo, true) > 0));

/* cuckoofilter_table_copies(table, item) */
CKFP_FUNCTION(cuckoofilter_table_copies, Int32GetDatum((int32)ckfp_look_up_item(fcinfo, false)));
