/*
 * trigger.h - filter tables that follow a column of a table, by triggers.
 *
 * The WHEN condition of a trigger says what it belongs to: it calls cuckoofilter_follows(filter),
 * which is true.  One of the triggers, which does nothing, is for UPDATE OF the column: it says
 * what is followed.  PostgreSQL keeps both references in step with renames and dumps, and knows
 * that the triggers depend on them.  A reference to the row type of the source would do so, too,
 * but then ALTER TABLE refuses new columns with a default.
 */
#ifndef CKFP_TRIGGER_H
#define CKFP_TRIGGER_H

#include "table/table.h"

#include "commands/trigger.h"

/* The filter table of a trigger; InvalidOid: it is not one of ours. */
Oid ckfp_filter_of(const Trigger *trigger);

/* The column of the source that a filter follows; 0: none. */
AttrNumber ckfp_followed_column(Relation source, Oid filter);

/* The triggers, as OIDs, of tables that the filter follows but that are not in a list. */
List *ckfp_triggers_of_others(Oid filter, const List *tables);

/* Hashes that are collected one by one. Memory is in the context that is the current one at the
 * start. */
typedef struct ckfp_collected
{
	ckfp_hasher hasher;
	uint64 seed;
	uint64 *at;
	size_t count, room;
	MemoryContext temporary; /* for values of one row */
} ckfp_collected;

void ckfp_start_collecting(ckfp_collected *collected, Oid type, Oid collation, uint64 seed);

/* Take a value of a row, unless it is NULL. */
void ckfp_take_value(ckfp_collected *collected, Datum value, bool is_null);

/* The sorted hashes. */
ckfp_items ckfp_end_collecting(ckfp_collected *collected);

/* Take the column of all rows of a table as they are now, without those of its children. */
void ckfp_take_rows(ckfp_collected *collected, Relation source, AttrNumber column);

#endif
