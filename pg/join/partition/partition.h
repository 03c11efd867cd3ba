/*
 * partition.h - which partitions can contain the keys of a filter, and which scans of partitions it
 * makes unnecessary.
 */
#ifndef CKFP_JOIN_PARTITION_H
#define CKFP_JOIN_PARTITION_H

#include "join/base/integers.h"

#include "fmgr.h"
#include "partitioning/partdefs.h"
#include "utils/hsearch.h"
#include "utils/partcache.h"
#include "utils/relcache.h"

/* ------------------------------------------------------------------------ tree.c: in a plan */

/* Complete the targets of a filter: the table at the root, and whether the filter can tell that
 * no key is in the partition that the scan reads. Sum up in the record what that saves. */
void ckfp_tree_note(ckfp_tables *tables, ckfp_join_record *record);

/* ----------------------------------------------------- bounds.c: bounds of partitioned tables */

/* The bounds of partitioned tables whose partition key is in the key of a filter. Tables with equal
 * bounds share them: their partitions of the same number can contain the same keys. */
typedef struct ckfp_bounds
{
	PartitionKey key; /* of the first of these tables */
	PartitionBoundInfo info;
	int known; /* the number of columns of the partition key that are known, from the first on */
	int column[CKFP_JOIN_KEYS];        /* the number of each known one in the key of the filter */
	FmgrInfo function[CKFP_JOIN_KEYS]; /* compares each known one with a bound, or hashes it */
	int partitions;
	uint8 *candidates; /* of each partition: it can contain a key */
	int *scans;        /* of each partition: the number of scans that read it */
	int all;           /* the sum of `scans` */
	int dead;          /* the sum of `scans` of the partitions that can contain no key */
	double worth;      /* so many keys are worth mapping for each scan that is skipped */
	Relation table;    /* the last table for which these bounds were found */
	AttrNumber attributes[CKFP_JOIN_KEYS]; /* the columns of `table` for which they were found */
	struct ckfp_bounds *next;
	struct ckfp_bounds *next_open; /* the next one that keys are still mapped to */
} ckfp_bounds;

/*
 * Is the partition of a row known from the key of a filter? attributes[i] is the column of the
 * partitioned table that column i of the key is; 0: it is none. Returns how many columns of the
 * partition key are known; column[j] is the number of column j in the key of the filter. 0 if no
 * partition can be excluded.
 */
int ckfp_bounds_columns(PartitionKey key, const ckfp_join_record *record,
						const AttrNumber *attributes, int *column);

/* Make the bounds of a table with so many partitions, without scans. `key` and `info` must stay. */
ckfp_bounds *ckfp_bounds_make(PartitionKey key, PartitionBoundInfo info, int partitions,
							  const ckfp_join_record *record, int known, const int *column);

/* Are they also the bounds of this table? */
bool ckfp_bounds_is_of(const ckfp_bounds *bounds, PartitionKey key, PartitionBoundInfo info,
					   int known, const int *column);

/* Begin: all partitions are dead. */
void ckfp_bounds_clear(ckfp_bounds *bounds);

/* Mark all partitions. */
void ckfp_bounds_mark_all(ckfp_bounds *bounds);

/* Mark the partitions that can contain rows whose key equals `values`, one for each column of the
 * key of the filter. */
void ckfp_bounds_mark_key(ckfp_bounds *bounds, const Datum *values);

/* Mark the partitions by range that can contain values from `low` to `high` of their key, which is
 * one column. */
void ckfp_bounds_mark_span(ckfp_bounds *bounds, Datum low, Datum high);

/* --------------------------------------------------------------- prune.c: the scans of a query */

/* Of each partition in a query: its partitioned table, and its number there. By OID. */
typedef HTAB ckfp_descendants;

/* The partitions of all partitioned tables of a query that has started. */
ckfp_descendants *ckfp_descendants_of(EState *estate);

/* A partitioned table above a scan. */
typedef struct ckfp_ancestor
{
	ckfp_bounds *bounds; /* its bounds */
	int partition;       /* the number of its partition that has the scan */
	struct ckfp_ancestor *next;
} ckfp_ancestor;

/* The partitions that the scans of a filter read. Scans are numbered as the targets of the
 * filter. */
typedef struct ckfp_partitions
{
	int targets;
	ckfp_ancestor **ancestors; /* of each target; NULL: it reads no partition that can be skipped */
	uint8 *alive;              /* of each target, once they are known: it can have rows that join */
	bool known;
	int scans;           /* the number of targets that can be skipped */
	ckfp_bounds *bounds; /* the list of all bounds */
	ckfp_bounds *open;   /* the list of the bounds that keys are still mapped to */
	double keys;         /* the number of keys that were mapped */
	bool by_value;       /* all columns of the key are passed by value */
} ckfp_partitions;

/* Add the scan of target n, of a relation. True if it can be skipped. */
bool ckfp_partitions_add_scan(ckfp_partitions *partitions, const ckfp_join_record *record, int n,
							  ckfp_descendants *descendants, Relation relation);

/* Forget all keys. */
void ckfp_partitions_start(ckfp_partitions *partitions, const ckfp_join_record *record);

/* Add a key without NULL: a value for each column. */
void ckfp_partitions_add(ckfp_partitions *partitions, const Datum *values);

/* Add ranges of the key, which is a column of integers of this length. */
void ckfp_partitions_add_ranges(ckfp_partitions *partitions, const ckfp_range *range, int ranges,
								int16 length);

/* Can target n have rows that join, by the keys so far? */
bool ckfp_partitions_is_candidate(const ckfp_partitions *partitions, int n);

/* There are no more keys. */
void ckfp_partitions_finish(ckfp_partitions *partitions);

/* The number of scans that are skipped. */
int ckfp_partitions_skipped(const ckfp_partitions *partitions);

/* Is the scan of target n skipped? */
static inline bool
ckfp_partitions_skip(const ckfp_partitions *partitions, int n)
{
	return partitions->known && !partitions->alive[n];
}

#endif
