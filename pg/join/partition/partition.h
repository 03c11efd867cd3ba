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

/* ----------------------------------------------------- level.c: a level of a partitioned table */

/* Partitioned tables with equal bounds, whose partition key is in the key of a filter: the
 * partitions of all of them that have the same number can contain the same keys. */
typedef struct ckfp_level
{
	PartitionKey key; /* of the first of them */
	PartitionBoundInfo bounds;
	int known; /* the number of columns of the partition key that are known, from the first on */
	int column[CKFP_JOIN_KEYS];        /* the number of each one in the key of the filter, */
	FmgrInfo function[CKFP_JOIN_KEYS]; /* which compares it with a bound, or hashes it */
	int partitions;
	uint8 *live;    /* of each partition: it can contain a key; */
	int *scans;     /* the number of scans that read it; */
	int all;        /* the sum of these, */
	int dead;       /* and that of the partitions that can contain no key */
	double worth;   /* so many keys are worth mapping for each scan that is skipped */
	Relation table; /* the last of them that it was found for, */
	AttrNumber attributes[CKFP_JOIN_KEYS]; /* and for these of its columns */
	struct ckfp_level *next;
	struct ckfp_level *next_open; /* the next one that keys are still mapped to */
} ckfp_level;

/*
 * Is the partition of a row known from the key of a filter? attributes[i] is the column of the
 * partitioned table that column i of the key is; 0: it is none. Returns how many columns of the
 * partition key are known; column[j] is the number of column j in the key of the filter. 0 if no
 * partition can be excluded.
 */
int ckfp_level_columns(PartitionKey key, const ckfp_join_record *record,
					   const AttrNumber *attributes, int *column);

/* Make the level of a table with these partitions, without scans. Memory comes from
 * `context`; `key` and `bounds` must stay. */
ckfp_level *ckfp_level_make(PartitionKey key, PartitionBoundInfo bounds, int partitions,
							const ckfp_join_record *record, int known, const int *column,
							MemoryContext context);

/* Is it also the level of this table? */
bool ckfp_level_is_of(const ckfp_level *level, PartitionKey key, PartitionBoundInfo bounds,
					  int known, const int *column);

/* Begin: all partitions are dead. */
void ckfp_level_clear(ckfp_level *level);

/* Mark all partitions. */
void ckfp_level_mark_all(ckfp_level *level);

/* Mark the partitions that can contain rows whose key equals `values`, one for each column of the
 * key of the filter. */
void ckfp_level_add(ckfp_level *level, const Datum *values);

/* Mark the partitions by range that can contain values from `low` to `high` of their key, which is
 * one column. */
void ckfp_level_add_span(ckfp_level *level, Datum low, Datum high);

/* --------------------------------------------------------------- prune.c: the scans of a query */

/* Of each partition in a query: its partitioned table, and its number there. By OID. */
typedef HTAB ckfp_descendants;

/* The partitions of all partitioned tables of a query that has started. */
ckfp_descendants *ckfp_descendants_of(EState *estate);

/* A level that a scan is below. */
typedef struct ckfp_ancestor
{
	ckfp_level *level;
	int partition; /* its number */
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
	int scans;          /* the number of targets that can be skipped */
	ckfp_level *levels; /* all levels, */
	ckfp_level *open;   /* those that keys are still mapped to, */
	double keys;        /* and the number of keys that were */
	bool by_value;      /* all columns of the key are passed by value */
} ckfp_partitions;

/* Add the scan of target n, of a relation. Memory comes from `context`. True if it can be
 * skipped. */
bool ckfp_partitions_add_scan(ckfp_partitions *partitions, const ckfp_join_record *record, int n,
							  ckfp_descendants *descendants, Relation relation,
							  MemoryContext context);

/* Forget all keys. */
void ckfp_partitions_start(ckfp_partitions *partitions, const ckfp_join_record *record);

/* Add a key without NULL: a value for each column. */
void ckfp_partitions_add(ckfp_partitions *partitions, const Datum *values);

/* Add ranges of the key, which is a column of integers of this length. */
void ckfp_partitions_add_ranges(ckfp_partitions *partitions, const ckfp_range *range, int ranges,
								int16 length);

/* Can target n have rows that join, by the keys so far? */
bool ckfp_partitions_is_live(const ckfp_partitions *partitions, int n);

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
