/*
 * table.h - filter tables: a filter in chunks, which are the rows of an ordinary table.  README.md
 * describes the files.
 */
#ifndef CKFP_TABLE_H
#define CKFP_TABLE_H

#include "host.h"
#include "item/item.h"

#include "cuckoofilter_chunk.h"

#include "access/tableam.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/rel.h"

/* The columns of a filter table: id bigint PRIMARY KEY, chunk bytea NOT NULL. */
enum
{
	CKFP_ID = 1,
	CKFP_CHUNK,
	CKFP_COLUMNS = CKFP_CHUNK
};

/* What the CHECK constraint of a filter table says. A session keeps one of each table that it has
 * used. */
typedef struct ckfp_form
{
	Oid relation;
	bool valid;          /* the relation has not changed since */
	Oid type, collation; /* of the items */
	bool decimals;       /* items may be decimals, or hold some */
	Oid index;           /* the primary key */
	bool other_index;    /* there is another one */
	uint8 depth;         /* of the chunk that was found last */
	uint64 allowed;      /* adds that are allowed before the number of items is estimated again */
	ckf_params params;
	ckf_chunks chunks;
} ckfp_form;

/* A filter table that a function has opened, and the row that it is at. */
typedef struct ckfp_table
{
	ckfp_form *form;
	Relation heap, index;
	TupleTableSlot *row;            /* keeps the page of the row pinned */
	ckf_chunk chunk;                /* of this row */
	struct IndexScanDescData *scan; /* of all rows */
	/* for changes; or NULL */
	ckf_edit *edit;
	TupleTableSlot *written;
} ckfp_table;

/* ------------------------------------------------------------------------------------ open.c */

/* The privileges for a lookup, and for a change. */
#define CKFP_READS ACL_SELECT
#define CKFP_WRITES (ACL_SELECT | ACL_INSERT | ACL_UPDATE)

/*
 * Open a filter table. `user` must have the privileges `needed`; `lock` is held until the end of
 * the transaction. Raises an error if the relation is no filter table, or cannot be changed by
 * these functions.
 */
void ckfp_open_table(ckfp_table *table, Oid relation, Oid user, AclMode needed, LOCKMODE lock);

void ckfp_close_table(ckfp_table *table);

/* Report damage in the row with this id. */
_Noreturn void ckfp_error_damaged(const ckfp_table *table, int64 id, const char *what);

/* ------------------------------------------------------------------------------------ rows.c */

/* Find the chunk of a hash in a snapshot. false: the table has no rows. */
bool ckfp_find(ckfp_table *table, uint64 hash, Snapshot snapshot);

/* Open the chunk of the row in the slot. */
void ckfp_read_row(ckfp_table *table);

/* Read all rows of a snapshot in ascending order. ckfp_step does not open the chunk, which may be
 * damaged. */
void ckfp_start_rows(ckfp_table *table, Snapshot snapshot);
bool ckfp_next_row(ckfp_table *table);
bool ckfp_step(ckfp_table *table);
void ckfp_end_rows(ckfp_table *table);

/* Replace the row in the slot by a part of an edit. The result is that of table_tuple_update. */
TM_Result ckfp_replace_row(ckfp_table *table, const ckf_chunk_part *part, struct varlena *bytes);

/* Insert a part of an edit as a new row. Raises an error if there is a row with its id. */
void ckfp_insert_row(ckfp_table *table, const ckf_chunk_part *part, struct varlena *bytes);

/* Report, in REPEATABLE READ and SERIALIZABLE, that another transaction has changed a row. */
_Noreturn void ckfp_error_serialization(void);

/* ---------------------------------------------------------------------------------- change.c */

/* Items to add or to remove, in ascending order; and what is known after the change. */
typedef struct ckfp_items
{
	const uint64 *at;
	size_t count;
	bool whole;   /* hashes, not prefixes */
	size_t fresh; /* adds: the distinct items that were certainly not there before */
	int64 stored; /* the change of the number of copies */
} ckfp_items;

/*
 * Sessions that lock several chunks in ascending order do not end in a deadlock. A query that adds
 * the items of its rows one by one locks them in any order, so no such session may run beside it
 * until the end of its transaction. Sessions that lock one chunk are not concerned.
 */
void ckfp_lock_order(const ckfp_table *table, bool ascending);

/* Add one copy of each item of `added`, and remove one of each item of `removed`. Either may be
 * NULL. Rows are locked in ascending order. */
void ckfp_change(ckfp_table *table, ckfp_items *added, ckfp_items *removed);

/* Reserve room for n items, the first of which has this hash, or raise an error. */
void ckfp_reserve(ckfp_table *table, uint64 hash, uint64 n);

/* Rewrite all rows, each chunk as small as possible, in the active snapshot. */
void ckfp_pack(ckfp_table *table);

/* Delete all items, damaged or not. The table must be locked against writers. */
void ckfp_empty_table(ckfp_table *table);

/* Write the first row of an empty table. */
void ckfp_write_first(ckfp_table *table);

/* ---------------------------------------------------------------------------------- items.c */

/* How a call hashes its items, in flinfo->fn_extra. */
typedef struct ckfp_reader
{
	Oid type, collation; /* of the table that it is prepared for */
	Oid given;           /* the type of the items in the call; not a domain */
	bool reads_text;     /* the items are text, which the type's input function reads */
	bool varies;         /* the item differs from row to row of a query */
	FmgrInfo input;
	Oid input_parameter;
	ckfp_hasher hasher; /* of the items, or of what they are read as */
	ArrayMetaState layout;
	MemoryContext context;
} ckfp_reader;

/* The reader of this call, for items of the type `given`; InvalidOid: that of argument 1. */
ckfp_reader *ckfp_reader_of(FunctionCallInfo fcinfo, const ckfp_form *form, Oid given);

/* The hashes of an item. */
ckf_hashes ckfp_read_item(ckfp_reader *reader, const ckfp_form *form, Datum item);

/* The hash of an item that is added or removed. A decimal is an error if the type of the table has
 * none. */
uint64 ckfp_read_changed(ckfp_reader *reader, const ckfp_form *form, Datum item);

/* The sorted hashes of the items in the array in argument 1. NULLs are skipped. */
ckfp_items ckfp_read_items(FunctionCallInfo fcinfo, const ckfp_form *form);

/* Could values of a type be decimals (CKF_ITEM_DECIMAL), or hold some? */
bool ckfp_type_has_decimals(Oid type, Oid collation);

/* Sort hashes, which were allocated by palloc or MemoryContextAllocHuge. */
uint64 *ckfp_sort(uint64 *hashes, size_t count);

/* ------------------------------------------------------------------------------------- add.c */

/* Open the table in argument 0, to change it by the function of this name. */
void ckfp_open_to_change(FunctionCallInfo fcinfo, ckfp_table *table, const char *function);

/* --------------------------------------------------------------------------------- create.c */

/* Run a statement; SPI is connected. */
void ckfp_execute(const char *statement);

/* Create a filter table, with its first row. `name` is a name as in SQL, perhaps with a schema. */
Oid ckfp_create_table(const text *name, Oid type, Oid collation, const ckf_params *params,
					  const char *options, Oid function);

extern PGDLLEXPORT Datum cuckoofilter_chunk_valid(PG_FUNCTION_ARGS);

#endif
