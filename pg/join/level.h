/*
 * level.h - a level of a partitioned table: which of its partitions can contain a key.
 */
#ifndef CKFP_JOIN_LEVEL_H
#define CKFP_JOIN_LEVEL_H

#include "join.h"

#include "fmgr.h"
#include "partitioning/partdefs.h"
#include "utils/partcache.h"

#pragma GCC visibility push(hidden)

/* A partitioned table whose partition key is in the key of a filter. */
typedef struct ckfp_level
{
	Oid table;
	char strategy;
	PartitionBoundInfo bounds;
	int known; /* the number of columns of the partition key that are known, from the first on */
	int column[CKFP_JOIN_KEYS]; /* the number of each one in the key of the filter, */
	Oid collation[CKFP_JOIN_KEYS];
	FmgrInfo function[CKFP_JOIN_KEYS]; /* which compares it with a bound, or hashes it */
	bool whole;                        /* all columns of the partition key are known */
	int partitions;
	int dead;    /* the number of partitions that can contain no key, */
	uint8 *live; /* and 1 for each of the others */
	struct ckfp_level *next;
} ckfp_level;

/*
 * Is the partition of a row known from the key of a filter? attributes[i] is the column of the
 * partitioned table that column i of the key is; 0: it is none. Returns how many columns of the
 * partition key are known; column[j] is the number of column j in the key of the filter. 0 if no
 * partition can be excluded.
 */
int ckfp_level_columns(PartitionKey key, const ckfp_join_record *record,
					   const AttrNumber *attributes, int *column);

/* Make a level of a table with these partitions. All of them are dead. Memory comes from
 * `context`; `bounds` must stay. */
ckfp_level *ckfp_level_make(Oid table, PartitionKey key, PartitionBoundInfo bounds, int partitions,
							const ckfp_join_record *record, int known, const int *column,
							MemoryContext context);

/* Make all partitions dead again. */
void ckfp_level_clear(ckfp_level *level);

/* Mark the partitions that can contain rows whose key equals `values`, one for each column of the
 * key of the filter. */
void ckfp_level_add(ckfp_level *level, const Datum *values);

#pragma GCC visibility pop

#endif
