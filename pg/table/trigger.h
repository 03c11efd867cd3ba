/*
 * trigger.h - filter tables that follow a column of a table, by triggers.
 *
 * The WHEN condition of a trigger says what it follows: it calls
 * cuckoofilter_follows(filter, (NULL::source).column), which is true.  PostgreSQL keeps both
 * references in step with renames and dumps, and knows that the trigger depends on them.
 */
#ifndef CKFP_TRIGGER_H
#define CKFP_TRIGGER_H

#include "table/table.h"

#include "commands/trigger.h"

/* What a trigger follows. false: it is not one of ours. */
typedef struct ckfp_followed
{
	Oid filter;
	AttrNumber column; /* of the table that has the trigger */
} ckfp_followed;

bool ckfp_read_trigger(const Trigger *trigger, ckfp_followed *followed);

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
