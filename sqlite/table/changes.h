/*
 * changes.h - how a filter table is changed: all rows of a change, or none.
 */
#ifndef CKFS_CHANGES_H
#define CKFS_CHANGES_H

#include "storage.h"

/* ---------------------------------------------------------------------------------- atomic.c */

/* An error if one of our statements is running, also of another instance. */
int ckfs_check_idle(ckfs_table *table);

/* Whether the table may be read or changed.  It is an error if a change in this transaction is
 * incomplete, if one of our statements is running, or if the table was dropped. */
int ckfs_check_usable(ckfs_table *table);

/* Enter the writer, and leave it.  All changes of rows are made in between.  If entering fails,
 * there is nothing to leave. */
int ckfs_start_write(ckfs_table *table);
int ckfs_end_write(ckfs_table *table, int rc); /* returns rc */

/* A change of several rows ends with this code, and is returned.  `total`: the rows that were
 * changed in the connection before.  If only some of the rows were changed, the table is broken
 * until a rollback to a point before. */
int ckfs_end_change(ckfs_table *table, int total, int rc);

/* A rollback has undone an incomplete change. */
void ckfs_mend(ckfs_table *table);

/* ------------------------------------------------------------------------------ add_remove.c */

/* Add one copy of each item, in ascending order; `whole` as in ckf_edit_add.  *done: the number of
 * items that were added, which is n unless the call fails. */
int ckfs_write_items(ckfs_table *table, const uint64_t *items, size_t n, bool whole,
					 unsigned item_classes, size_t *done);

/* Remove one copy immediately. */
int ckfs_write_removal(ckfs_table *table, uint64_t hash);

/* 'delete-all' */
int ckfs_delete_all(ckfs_table *table);

/* ------------------------------------------------------------------------------------ pack.c */

/* 'optimize' */
int ckfs_write_packed(ckfs_table *table);

/* Add whole hashes, in ascending order, if they are many compared with the items of the table.
 * *many: whether they were. */
int ckfs_write_many(ckfs_table *table, const uint64_t *hashes, size_t n, unsigned item_classes,
					bool *many);

/* --------------------------------------------------------------------------------- pending.c */

/* Whether the running statement is a transaction of its own, and the only one that writes. */
bool ckfs_is_alone(sqlite3 *db);

/* Add an item: write it, or let it wait until the statement ends. */
int ckfs_add(ckfs_table *table, ckfs_hashed item);

/* Write the pending adds, also those of other instances. */
int ckfs_write_pending(ckfs_table *table);

/* --------------------------------------------------------------------------------- reserve.c */

/* Whether `n` more items can be added.  SQLITE_OK, or the error that the precision is used up.
 * `hash` belongs to one of them.  Near the limit, pending adds are written first. */
int ckfs_reserve(ckfs_table *table, uint64_t hash, uint64_t n);

#endif
