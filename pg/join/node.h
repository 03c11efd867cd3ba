/*
 * node.h - the state of the plan node that builds a filter.
 */
#ifndef CKFP_JOIN_NODE_H
#define CKFP_JOIN_NODE_H

#include "filter.h"
#include "key.h"
#include "partition.h"
#include "sleep.h"

#include "nodes/extensible.h"
#include "utils/hsearch.h"

#pragma GCC visibility push(hidden)

/* Why there is no filter. */
typedef enum ckfp_given_up
{
	CKFP_GIVEN_UP_NOT,
	CKFP_GIVEN_UP_MEMORY,
	CKFP_GIVEN_UP_KEYS
} ckfp_given_up;

/* The counters that EXPLAIN shows. */
typedef struct ckfp_join_counts
{
	uint64 keys;   /* of the filter */
	uint64 memory; /* bytes of the finished filter */
	uint64 tested;
	uint64 removed;
	uint64 scans;   /* the number of scans of partitions that may be skipped, */
	uint64 skipped; /* and of those that are */
	uint64 unasked; /* rows that passed while their scan slept */
	ckfp_given_up given_up;
	/* of the filter of a nested loop: */
	uint64 watched;     /* rows that were watched before the last decision, */
	uint64 matched;     /* and those of them that had a match */
	uint64 built_after; /* the number of rows before it was built */
	bool not_run;       /* it waits for the result of an InitPlan */
} ckfp_join_counts;

/* Add the counters of another process. */
static inline void
ckfp_counts_add(ckfp_join_counts *sum, const ckfp_join_counts *counts)
{
	sum->keys = Max(sum->keys, counts->keys);
	sum->memory = Max(sum->memory, counts->memory);
	sum->tested += counts->tested;
	sum->removed += counts->removed;
	sum->scans = Max(sum->scans, counts->scans);
	sum->skipped = Max(sum->skipped, counts->skipped);
	sum->unasked += counts->unasked;
	sum->given_up = Max(sum->given_up, counts->given_up);
	sum->watched += counts->watched;
	sum->matched += counts->matched;
	sum->built_after = Max(sum->built_after, counts->built_after);
	sum->not_run |= counts->not_run;
}

typedef struct ckfp_build
{
	CustomScanState css;
	ckfp_join_record record;
	ckfp_key build_key[CKFP_JOIN_KEYS];
	ckfp_key probe_key[CKFP_JOIN_KEYS];
	ExprState *expression[CKFP_JOIN_KEYS]; /* of a key that is not a plain column, */
	AttrNumber attribute[CKFP_JOIN_KEYS];  /* and the column of a key that is one */
	Datum value[CKFP_JOIN_KEYS];           /* the key of the current row */
	bool allocates;                        /* hashing the build side allocates memory */
	HashJoinState *join;                   /* the join of this filter */
	bool gathering;                        /* the keys are being gathered */
	bool asking;                           /* the filter is ready, and scans ask it */
	bool sent;     /* servers that ask it receive it with their next query */
	bool disabled; /* the filter is not built, or was given up, for the rest of the query */
	bool verify;   /* join_filter = verify: denied rows are kept and recorded */
	ckfp_join_filter filter;
	HTAB *denied;  /* verify: the hashes of denied rows, */
	HTAB *skipped; /* and of rows in partitions that would be skipped */
	ckfp_join_counts counts;
	ckfp_join_counts workers;   /* the counters of the parallel workers */
	struct ckfp_shared *shared; /* in a parallel plan */
	bool begun;                 /* has started to read its part of the build side */
	struct ckfp_nest *nest;     /* the filter of a nested loop; NULL: of a hash join */
	ckfp_sleepers sleepers;     /* the scans that ask, */
	List *probes;               /* their conditions: of ckfp_probe, */
	ckfp_partitions partitions; /* those that read partitions, */
	List *skips;                /* and how they are skipped: of ckfp_skip */
	struct ckfp_build *next;    /* the next one of the query */
} ckfp_build;

/* Prepare for the first row of the build side, also when the build side is read again. */
void ckfp_build_start(ckfp_build *build);

/* Does a foreign server ask the filter? */
bool ckfp_build_is_remote(const ckfp_build *build);

/* Give up the filter for the rest of the query. */
void ckfp_build_give_up(ckfp_build *build, ckfp_given_up why);

/* The partitions that have keys are known. */
void ckfp_build_know_partitions(ckfp_build *build);

/* The counters of this process. */
ckfp_join_counts ckfp_build_counts(const ckfp_build *build);

/* Count a tested row. */
static inline void
ckfp_build_count(ckfp_build *build, bool passed)
{
	build->counts.tested++;
	if (!passed)
		build->counts.removed++;
}

#pragma GCC visibility pop

#endif
