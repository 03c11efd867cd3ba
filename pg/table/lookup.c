/*
 * lookup.c - cuckoofilter_table_contains, cuckoofilter_table_copies: a lookup reads one row, in the
 * snapshot of the query.  A snapshot shows all chunks or none of a change, so even an old one has
 * one chunk for each hash.
 */
#include "table/table.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"

/* The copies of the item in argument 1; `any`: 1 if there are some. */
static unsigned
ckfp_look_up_item(FunctionCallInfo fcinfo, bool any)
{
	ckfp_table table;
	ckfp_reader *reader;
	unsigned copies = 0;
	uint64 hash;

	ckfp_open_table(&table, PG_GETARG_OID(0), GetUserId(), CKFP_READS, AccessShareLock);
	reader = ckfp_reader_of(fcinfo, table.form, InvalidOid);
	hash = ckfp_read_item(reader, table.form, PG_GETARG_DATUM(1));
	if (ckfp_find(&table, hash, GetActiveSnapshot()))
		copies =
			any ? ckf_chunk_contains(&table.chunk, hash) : ckf_chunk_copies(&table.chunk, hash);
	ckfp_close_table(&table);
	return copies;
}

/* cuckoofilter_table_contains(table, item) */
CKFP_FUNCTION(cuckoofilter_table_contains, BoolGetDatum(ckfp_look_up_item(fcinfo, true) > 0));

/* cuckoofilter_table_copies(table, item) */
CKFP_FUNCTION(cuckoofilter_table_copies, Int32GetDatum((int32)ckfp_look_up_item(fcinfo, false)));
