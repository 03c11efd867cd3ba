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
#include "commands/trigger.h"
#include "utils/array.h"
#include "utils/rel.h"

/* The columns of a filter table: id bigint PRIMARY KEY, chunk bytea NOT NULL. */
#define CKFP_ID 1
#define CKFP_CHUNK 2

/* What a table is opened for. Locks are held until the end of the transaction. */
typedef enum ckfp_use
{
	CKFP_READ,
	CKFP_CHANGE,
	CKFP_REWRITE /* rows are deleted, too, and other writers wait */
} ckfp_use;

/* What the CHECK constraint of a filter table says. A session keeps one of each table that it has
 * used. */
typedef struct ckfp_form
{
	Oid relation;
	uint64 reading;      /* the number of this reading of a constraint */
	Oid type, collation; /* of the items; not a domain */
	uint8 item_class;
	bool decimals;    /* items may be decimals, or hold some */
	Oid index;        /* the primary key */
	bool other_index; /* there is another one */
	uint8 depth;      /* of the chunk that was found last */
	uint64 allowed;   /* adds that are allowed before the number of items is estimated again */
	ckf_chunks chunks;
} ckfp_form;

/*
 * Where the rows of a table were found, for the calls of one query. The chunk of a hash is the
 * visible row whose range has it, wherever it is found, so an old place costs time only. A table
 * does not get fewer pages while the subtransaction that has opened it goes on.
 */
typedef struct ckfp_places
{
	MemoryContext context;
	uint64 reading; /* of the form */
	LocalTransactionId transaction;
	SubTransactionId subtransaction;
	ItemPointerData *at; /* by the first bits of a hash; NULL: none */
	unsigned bits;
	size_t searches; /* of the index, since there are so many bits */
} ckfp_places;

/* A filter table that a function has opened, and the row that it is at. */
typedef struct ckfp_table
{
	ckfp_form form;
	Relation heap;
	Relation index; /* NULL: it is not open yet */
	ckfp_use use;
	ckfp_places *places;            /* or NULL */
	TupleTableSlot *row;            /* keeps the page of the row pinned */
	TupleTableSlot *written;        /* NULL: no row was written yet */
	struct IndexScanDescData *scan; /* of all rows; or NULL */
	ckf_chunk chunk;                /* of the row */
	char bytes[CKF_CHUNK_MAX];      /* of this chunk, or of a piece of an edit */
	union
	{
		char room[VARHDRSZ + CKF_CHUNK_MAX];
		int64 aligned;
	} stored; /* the piece as a value */
} ckfp_table;

/* ------------------------------------------------------------------------------ conditions.c */

/* The arguments of the call of a function in C that a stored expression is; NIL: it is none. */
List *ckfp_arguments_of(const char *expression, const char *symbol);

/*
 * A filter table that follows a column of a table, by triggers. The WHEN condition of a trigger
 * says what it belongs to: it calls cuckoofilter_follows(filter), which is true. One of the
 * triggers, which does nothing, is for UPDATE OF the column: it says what is followed. PostgreSQL
 * keeps both references in step with renames and dumps, and knows that the triggers depend on them.
 * A reference to the row type of the source would do so, too, but then ALTER TABLE refuses new
 * columns with a default.
 */

/* The type of a trigger that does nothing, for which PostgreSQL shows AFTER triggers a row as its
 * partition has stored it. Without a BEFORE trigger for each row, and if the partition has its
 * columns in other places, they get the row before its generated columns were computed. */
#define CKFP_GENERATED_TRIGGER (TRIGGER_TYPE_ROW | TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSERT)

/* The type of the trigger that names the column of a partition or a child. */
#define CKFP_PART_TRIGGER (TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_TRUNCATE)

/* What the triggers of a source say of a filter. */
typedef struct ckfp_followed
{
	uint64 types;      /* a bit for each tgtype; 0: there are no triggers */
	AttrNumber column; /* that is followed; InvalidAttrNumber: no trigger says it */
} ckfp_followed;

/* The filter table of a trigger; InvalidOid: it is not one of ours, which call
 * cuckoofilter_table_changed, too. */
Oid ckfp_filter_of(const Trigger *trigger);

ckfp_followed ckfp_read_triggers(Relation source, Oid filter);

/* A filter that follows a column of a table, or any if it is InvalidAttrNumber. InvalidOid: none.
 */
Oid ckfp_follower_of(Relation source, AttrNumber column);

/* ------------------------------------------------------------------------------------ open.c */

/* Lock and open a relation. Raises an error if it was dropped meanwhile: while this session waited,
 * or by an event trigger. */
Relation ckfp_open_by_oid(Oid relation, LOCKMODE lock);

/*
 * Open a filter table. `user` must have the privileges. Raises an error if the relation is no
 * filter table, or cannot be changed by these functions.
 */
void ckfp_open_table(ckfp_table *table, Oid relation, Oid user, ckfp_use use);

/* The arguments of cuckoofilter_chunk_valid in the CHECK constraint that makes a relation a filter
 * table; NIL: it is none. */
List *ckfp_constraint_of(Relation heap);

/* Open the table in argument 0 for the current user. */
void ckfp_open(FunctionCallInfo fcinfo, ckfp_table *table, ckfp_use use);

void ckfp_close_table(ckfp_table *table);

/* Report why these functions cannot change a table, or not find its rows: "it" and a verb. */
_Noreturn void ckfp_error_unusable(Relation heap, const char *what);

/* Report damage in the row with this id. */
_Noreturn void ckfp_error_damaged(const ckfp_table *table, int64 id, const char *what);

/* The data that the chunks of a table with these parameters share. */
void ckfp_read_parameters(ckf_chunks *chunks, int64 capacity, double fpr, const text *options);

/* ------------------------------------------------------------------------------------ rows.c */

/* Open a stored chunk. `bytes`: memory for it. false: it is damaged. */
bool ckfp_open_chunk(ckf_chunk *chunk, const ckf_chunks *chunks, int64 id, Datum value,
					 char bytes[CKF_CHUNK_MAX]);

/* Find the chunk of a hash in the active snapshot. false: it shows no rows of the table. */
bool ckfp_find(ckfp_table *table, uint64 hash);

/* The active snapshot shows no rows. Raises an error if there are some, and the table was created
 * or written anew since the snapshot: all items would be denied. In READ COMMITTED, too: EXECUTE
 * takes its snapshot before it waits for locks and makes a plan, and a query may be open while its
 * own transaction writes the table anew. */
void ckfp_check_empty(ckfp_table *table);

/* Open the chunk of the row in the slot. */
void ckfp_read_row(ckfp_table *table);

/* Move to the next row in ascending order, or to the first one, in the active snapshot. false:
 * there are no more rows. ckfp_step does not open the chunk, which may be damaged. */
bool ckfp_next_row(ckfp_table *table);
bool ckfp_step(ckfp_table *table);

/* The next row is the first one. */
void ckfp_end_rows(ckfp_table *table);

/* Replace the row in the slot by a piece of an edit, whose bytes are in table->bytes. false:
 * another transaction has replaced the row since the active snapshot. */
bool ckfp_replace_row(ckfp_table *table, const ckf_chunk_piece *piece);

/* Insert such a piece as a new row. Raises an error if there is a row with its id. */
void ckfp_insert_row(ckfp_table *table, const ckf_chunk_piece *piece);

/* Delete the row in the slot. */
void ckfp_delete_row(ckfp_table *table);

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

/* Reserve room for items (at: may be NULL), or raise an error. */
void ckfp_reserve(ckfp_table *table, const ckfp_items *added);

/* Rewrite all rows, each chunk as small as possible. The table is open for CKFP_REWRITE. */
void ckfp_pack(ckfp_table *table);

/* Delete all items, damaged or not. The table is open for CKFP_REWRITE. */
void ckfp_empty_table(ckfp_table *table);

/* Write the first row of an empty table. */
void ckfp_write_first(ckfp_table *table);

/* ---------------------------------------------------------------------------------- items.c */

/* How a call hashes its items, in flinfo->fn_extra. */
typedef struct ckfp_reader
{
	Oid type, collation; /* of the table that it is prepared for */
	bool reads_text;     /* the items are text, which the type's input function reads */
	bool narrows;        /* the table's type is an integer, which may not hold an item */
	FmgrInfo cast;       /* to it, if so */
	bool varies;         /* the item differs from row to row of a query */
	FmgrInfo input;
	Oid input_parameter;
	ckfp_hasher hasher;   /* of the items, or of what they are read as */
	ckfp_hasher of_table; /* of items of the table's type; for narrows */
	ArrayMetaState layout;
	ckfp_places places;
} ckfp_reader;

/* The reader of this call, for items of the type `given`; InvalidOid: that of argument 1. */
ckfp_reader *ckfp_reader_of(FunctionCallInfo fcinfo, const ckfp_form *form, Oid given);

/* The hashes of an item. */
ckf_hashes ckfp_read_item(ckfp_reader *reader, const ckfp_form *form, Datum item);

/* The hash of an item that is added or removed. One that the type of the table cannot hold is an
 * error: a decimal, or a number that is no such integer. */
uint64 ckfp_read_changed(ckfp_reader *reader, const ckfp_form *form, Datum item);

/* Hashes of items that are collected one by one. Memory is in the context that is the current one
 * at the first item. */
typedef struct ckfp_collected
{
	const ckfp_form *form;
	ckfp_reader *reader; /* NULL: the items have the type of the table */
	/* 0 at the start */
	uint64 *at;
	size_t count, room;
	MemoryContext temporary; /* for one item */
} ckfp_collected;

/* Take an item, unless it is NULL. */
void ckfp_take(ckfp_collected *collected, Datum item, bool is_null);

/* The sorted hashes. */
ckfp_items ckfp_end_collecting(ckfp_collected *collected);

/* The sorted hashes of the items in the array in argument 1. NULLs are skipped. */
ckfp_items ckfp_read_items(FunctionCallInfo fcinfo, const ckfp_form *form);

/* Could values of a type be decimals (CKF_ITEM_DECIMAL), or hold some? */
bool ckfp_type_has_decimals(Oid type, Oid collation);

/* --------------------------------------------------------------------------------- create.c */

/* Run a statement; SPI is connected. */
void ckfp_execute(const char *statement);

/* Create a filter table, with its first row. `name` is a name as in SQL, perhaps with a schema;
 * `function` is one of the extension's. */
Oid ckfp_create_table(const text *name, Oid type, Oid collation, double capacity, double fpr,
					  const text *options, Oid function);

/* -------------------------------------------------------------------------------- trigger.c */

/* The triggers, as OIDs, of tables that the filter follows but that are not in a list. */
List *ckfp_triggers_of_others(Oid filter, const List *tables);

/* Raise an error unless a column is known, and has the type of the table's items, and the table
 * lasts as long as the source. */
void ckfp_check_column(const ckfp_table *table, Relation source, AttrNumber column);

/* Take the column of all rows of a table as they are now, without those of its children. */
void ckfp_take_rows(ckfp_collected *collected, Relation source, AttrNumber column);

#endif
