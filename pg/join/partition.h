/*
 * partition.h - which scans of partitions a filter makes unnecessary.
 */
#ifndef CKFP_JOIN_PARTITION_H
#define CKFP_JOIN_PARTITION_H

#include "level.h"

#include "utils/hsearch.h"
#include "utils/relcache.h"

#pragma GCC visibility push(hidden)

/* Of each partition in a query: its partitioned table, and its number there. By OID. */
typedef HTAB ckfp_family;

/* The partitions of all partitioned tables of a query that has started. */
ckfp_family *ckfp_family_of(EState *estate);

/* A level that a scan is below. */
typedef struct ckfp_member
{
	ckfp_level *level;
	int partition; /* its number */
	struct ckfp_member *next;
} ckfp_member;

/* The partitions that the scans of a filter read. Scans are numbered as the targets of the
 * filter. */
typedef struct ckfp_partitions
{
	int targets;
	ckfp_member **members; /* of each target; NULL: it reads no partition that can be skipped */
	uint8 *alive;          /* of each target, once they are known: it can have rows that join */
	bool known;
	int scans;          /* the number of targets that can be skipped */
	ckfp_level *levels; /* all levels */
	bool by_value;      /* all columns of the key are passed by value, */
	bool begun;
	Datum last[CKFP_JOIN_KEYS]; /* and these are those of the last key */
} ckfp_partitions;

/* Add the scan of target n, of a relation. Memory comes from `context`. True if it can be
 * skipped. */
bool ckfp_partitions_add_scan(ckfp_partitions *partitions, const ckfp_join_record *record, int n,
							  ckfp_family *family, Relation relation, MemoryContext context);

/* Forget all keys. */
void ckfp_partitions_start(ckfp_partitions *partitions);

/* Add a key without NULL: a value for each column. */
void ckfp_partitions_add(ckfp_partitions *partitions, const ckfp_join_record *record,
						 const Datum *values);

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

#pragma GCC visibility pop

#endif
