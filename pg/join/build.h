/*
 * build.h - the plan node that makes a filter, as it runs.
 */
#ifndef CKFP_JOIN_BUILD_H
#define CKFP_JOIN_BUILD_H

#include "filter.h"
#include "key.h"

#include "commands/explain.h"
#include "nodes/extensible.h"
#include "utils/hsearch.h"

#pragma GCC visibility push(hidden)

/* Rows of a window in which the rows that pass are counted, and from the start of
 * one window to the start of the next. */
#define CKFP_WINDOW 4096
#define CKFP_WINDOW_STEP 16384

/* Why there is no filter. */
typedef enum ckfp_given_up
{
	CKFP_GIVEN_UP_NOT,
	CKFP_GIVEN_UP_MEMORY,
	CKFP_GIVEN_UP_KEYS
} ckfp_given_up;

/* What is counted for EXPLAIN. */
typedef struct ckfp_join_counts
{
	uint64 keys;   /* of the filter */
	uint64 memory; /* bytes of the finished filter */
	uint64 tested;
	uint64 removed;
	uint64 switched_off; /* after so many rows; 0: never */
	ckfp_given_up given_up;
} ckfp_join_counts;

/* Add what another process counted. */
static inline void
ckfp_counts_add(ckfp_join_counts *sum, const ckfp_join_counts *counts)
{
	sum->keys = Max(sum->keys, counts->keys);
	sum->memory = Max(sum->memory, counts->memory);
	sum->tested += counts->tested;
	sum->removed += counts->removed;
	sum->switched_off = Max(sum->switched_off, counts->switched_off);
	sum->given_up = Max(sum->given_up, counts->given_up);
}

typedef struct ckfp_build
{
	CustomScanState css;
	ckfp_join_record record;
	ckfp_key build_key[CKFP_JOIN_KEYS];
	ckfp_key probe_key[CKFP_JOIN_KEYS];
	ExprState *expression[CKFP_JOIN_KEYS]; /* of a key that is no plain column, */
	AttrNumber attribute[CKFP_JOIN_KEYS];  /* and the column of one that is */
	bool allocates;                        /* hashing the build side leaves memory behind */
	HashJoinState *join;                   /* whose filter it is */
	bool gathering;                        /* the filter is being made */
	bool asking;                           /* it is ready, and asked */
	bool sent;                             /* servers that ask it get it with their next query */
	bool over;                             /* it is not made, or was given up, for good */
	bool verify;                           /* rows that are denied are kept, and remembered */
	ckfp_join_filter filter;
	HTAB *denied; /* verify: hashes that were denied */
	ckfp_join_counts counts;
	ckfp_join_counts workers;   /* what those of a parallel plan counted */
	struct ckfp_shared *shared; /* of a parallel plan */
	bool begun;                 /* has begun to read its part of the build side */
	uint64 look;                /* after so many rows a window begins or ends */
	uint64 passed_before;       /* rows that had passed where the window began */
	bool in_window;
	unsigned windows;        /* the last three, a bit each: too many passed */
	struct ckfp_build *next; /* of the same query */
} ckfp_build;

/* Collects the build nodes of a query while it starts; NULL else. */
extern ckfp_build **ckfp_join_starting;

/* The custom scan methods, to be registered. */
void ckfp_join_init_build(void);

/* Make ready for the first row of the build side, also for the first one anew. */
void ckfp_build_start(ckfp_build *build);

/* Do without a filter from now on. */
void ckfp_build_give_up(ckfp_build *build, ckfp_given_up why);

/* A window of rows begins or ends. */
void ckfp_build_look(ckfp_build *build);

/* Count a row that was tested. */
static inline void
ckfp_build_count(ckfp_build *build, bool passed)
{
	if (!passed)
		build->counts.removed++;
	if (unlikely(++build->counts.tested == build->look))
		ckfp_build_look(build);
}

/* EXPLAIN's lines. */
void ckfp_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#pragma GCC visibility pop

#endif
