/*
 * filter.h - a filter in one process, and its state: the keys that are gathered, the scans that
 * use it.
 */
#ifndef CKFP_JOIN_FILTER_H
#define CKFP_JOIN_FILTER_H

#include "join/base/integers.h"
#include "join/base/key_hash.h"
#include "join/blocks/blocks.h"
#include "join/partition/partition.h"

#include "utils/hsearch.h"

/* ------------------------------------------------------- filter.c: gathered hashes to a filter */

typedef struct ckfp_join_filter
{
	MemoryContext parent;     /* the parent of `context` */
	MemoryContext context;    /* the context of all its memory; NULL: it has none */
	size_t limit;             /* the limit of its memory, including the gathered hashes */
	double fpr;               /* the false positive rate */
	ckf_collector *collector; /* gathers the hashes until the filter is built; then NULL */
	uint64 last;              /* the hash gathered last */
	size_t n;                 /* the number of gathered hashes; equal ones in a row count once */
	size_t published;         /* those of them that the other processes know of */
	size_t taken;             /* bytes that the engine has allocated */
	size_t keys;              /* the number of distinct hashes in the filter */
	size_t size;              /* bytes of the finished filter */
	ckf_filter filter;        /* the filter that rows are looked up in */
	int16 integer;            /* the length of the keys if they are integers; else 0 */
	bool sets;                /* integers are gathered, until the filter is made anew */
	ckfp_integers integers;   /* integer keys, in which rows are looked up first; or empty */
} ckfp_join_filter;

/* Initialize an empty filter, whose memory is below `parent`. `integer` is the length of keys that
 * are integers, by ckfp_key_integer_length(); else 0. */
void ckfp_filter_init(ckfp_join_filter *filter, MemoryContext parent, size_t limit, double fpr,
					  int16 integer);

/* Make room for more hashes. False if that would exceed the limit of memory, or if there is no
 * more. */
bool ckfp_filter_make_room(ckfp_join_filter *filter);

/* Gather a hash. False if that would exceed the limit of memory. */
static inline bool
ckfp_filter_gather(ckfp_join_filter *filter, uint64 hash)
{
	if (filter->n > 0 && filter->last == hash)
		return true;
	while (
		unlikely(filter->collector == NULL || !ckf_collect(filter->collector, hash, CKF_ITEM_HASH)))
		if (!ckfp_filter_make_room(filter))
			return false;
	filter->last = hash;
	filter->n++;
	return true;
}

/* Gather a key, by its hash and its values. False if that would exceed the limit of memory. */
static inline bool
ckfp_filter_gather_key(ckfp_join_filter *filter, const Datum *values, uint64 hash)
{
	if (!ckfp_filter_gather(filter, hash))
		return false;
	if (filter->sets)
		ckfp_integers_add(&filter->integers, ckfp_integer_of(values[0], filter->integer));
	return true;
}

/* The bytes of a finished filter, with its integers. */
static inline size_t
ckfp_filter_memory(const ckfp_join_filter *filter)
{
	return filter->size + ckfp_integers_memory(&filter->integers);
}

/* Sort the gathered hashes, for ckf_collected. False if that would exceed the limit of memory. */
bool ckfp_filter_sort(ckfp_join_filter *filter);

/* Make the filter of the gathered hashes. False if it would exceed the limit of memory. */
bool ckfp_filter_finish(ckfp_join_filter *filter);

/* Free all its memory. */
void ckfp_filter_free(ckfp_join_filter *filter);

/* --------------------------------------------------------------- state.c: suspended tests */

/* The number of rows in a window, in which the rows that pass are counted; and in a window at the
 * start of a scan, or after a suspension. */
#define CKFP_WINDOW 4096
#define CKFP_FIRST_WINDOW 512

/* The number of rows in the first and in the longest suspension. */
#define CKFP_SUSPENSION 4096
#define CKFP_LONGEST_SUSPENSION 65536

/* What a filter knows of the scans that use it. */
typedef struct ckfp_suspensions
{
	struct ckfp_suspension *first; /* one for each scan */
	bool bad;                      /* too many rows passed in the last window of any scan */
	uint32 length;                 /* the number of rows in the next suspension of that scan */
	bool never;                    /* they are never suspended */
	uint64 untested;               /* rows in the suspensions that have begun */
} ckfp_suspensions;

/* A scan that uses a filter. */
typedef struct ckfp_suspension
{
	ckfp_suspensions *all;
	struct ckfp_suspension *next;
	uint32 suspended; /* the number of rows that pass untested before the next window */
	uint32 window;    /* the number of rows in the window; 0: the scan has not started */
	uint32 left;      /* the number of rows of the window that are still to come */
	uint32 passed;    /* the number of rows of the window that passed */
	bool bad;         /* too many rows passed in the window before */
	uint32 length;    /* the number of rows in the next suspension */
} ckfp_suspension;

/* Add a scan to a filter. */
void ckfp_suspension_add(ckfp_suspensions *all, ckfp_suspension *suspension);

/* Resume all tests, which then begin anew. */
void ckfp_suspension_reset(ckfp_suspensions *all);

/* The number of rows that passed untested. */
uint64 ckfp_suspension_untested(const ckfp_suspensions *all);

/* Begin another window, or suspend the test. */
void ckfp_suspension_next_window(ckfp_suspension *suspension);

/* Is the test suspended? Counts a row that passes untested. */
static inline bool
ckfp_suspension_passes(ckfp_suspension *suspension)
{
	if (suspension->suspended == 0)
		return false;
	suspension->suspended--;
	return true;
}

/* Count a row that was tested. */
static inline void
ckfp_suspension_count(ckfp_suspension *suspension, bool passed)
{
	if (unlikely(suspension->left == 0))
		ckfp_suspension_next_window(suspension);
	suspension->passed += passed;
	suspension->left--;
	if (unlikely(suspension->left == 0))
		ckfp_suspension_next_window(suspension);
}

/* --------------------------------------------------------- state.c: the state of the plan node */

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
	uint64 scans;             /* the number of scans of partitions that may be skipped */
	uint64 skipped;           /* the number of scans of partitions that are skipped */
	uint64 blocks;            /* the number of blocks of scans that can skip some */
	uint64 blocks_skipped;    /* the number of blocks that these scans skip */
	ckfp_unskipped unskipped; /* if there are none */
	uint64 untested;          /* rows that passed while the test was suspended */
	ckfp_given_up given_up;
	/* of the filter of a nested loop: */
	uint64 sampled;     /* rows that were sampled before the last decision */
	uint64 matched;     /* the sampled rows that had a match */
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
	sum->blocks += counts->blocks;
	sum->blocks_skipped += counts->blocks_skipped;
	sum->unskipped = Max(sum->unskipped, counts->unskipped);
	sum->untested += counts->untested;
	sum->given_up = Max(sum->given_up, counts->given_up);
	sum->sampled += counts->sampled;
	sum->matched += counts->matched;
	sum->built_after = Max(sum->built_after, counts->built_after);
	sum->not_run |= counts->not_run;
}

/* What a process does with its filter. */
typedef enum ckfp_filter_state
{
	CKFP_FILTER_OFF,       /* nothing: not built, or given up, for the rest of the query */
	CKFP_FILTER_NEW,       /* no row of the build side has been read */
	CKFP_FILTER_GATHERING, /* it gathers the keys */
	CKFP_FILTER_WAITING,   /* it has gathered them; the filter of all processes is not ready */
	CKFP_FILTER_READY      /* scans use the filter */
} ckfp_filter_state;

/* The plan node that owns a filter: that of a hash join (exec/build.c), or the first member of that
 * of a nested loop (nestloop/). */
typedef struct ckfp_filter_node
{
	CustomScanState css;
	ckfp_join_record record;
	ckfp_key_hasher build_key[CKFP_JOIN_KEYS];
	ckfp_key_hasher probe_key[CKFP_JOIN_KEYS];
	ckfp_source source;          /* the rows of the build side */
	Datum value[CKFP_JOIN_KEYS]; /* the key of the current one */
	bool allocates;              /* hashing the build side allocates memory */
	HashJoinState *join;         /* the join of this filter */
	ckfp_filter_state state;
	bool sent;   /* servers that use it receive it with their next query */
	bool verify; /* join_filter = verify: denied rows are kept and recorded */
	ckfp_join_filter filter;
	HTAB *denied;  /* verify: the hashes of denied rows */
	HTAB *skipped; /* verify: the hashes of rows in partitions that would be skipped */
	ckfp_join_counts counts;
	ckfp_join_counts workers;      /* the counters of the parallel workers */
	struct ckfp_shared *shared;    /* in a parallel plan */
	struct ckfp_nest *nest;        /* the filter of a nested loop; NULL: of a hash join */
	ckfp_suspensions suspensions;  /* the scans that test */
	List *tests;                   /* the conditions of these scans: of ckfp_scan_filters */
	ckfp_key_ranges ranges;        /* the keys by which these scans skip blocks */
	ckfp_partitions partitions;    /* the partitions that these scans read */
	List *skips;                   /* those of `tests` whose scans may be skipped */
	struct ckfp_filter_node *next; /* the next one of the query */
} ckfp_filter_node;

/* Change the state. Test builds check that it may follow the one before. */
void ckfp_filter_node_enter(ckfp_filter_node *filter_node, ckfp_filter_state state);

/* The filter is built: scans use it from now on. */
void ckfp_filter_node_ready(ckfp_filter_node *filter_node);

/* Let the hash join read the build side before the first row of the probe side. */
void ckfp_filter_node_read_first(ckfp_filter_node *filter_node);

/* Prepare for the first row of the build side, also when the build side is read again. */
void ckfp_filter_node_start(ckfp_filter_node *filter_node);

/* Are there neither a filter nor mapped keys, for the rest of the query? */
static inline bool
ckfp_filter_node_is_off(const ckfp_filter_node *filter_node)
{
	return filter_node->state == CKFP_FILTER_OFF &&
		   !(filter_node->record.mapped && filter_node->ranges.state != CKFP_RANGES_OFF);
}

/* Mapped keys are known: let scans use them. */
void ckfp_filter_node_know_ranges(ckfp_filter_node *filter_node);

/* Does a foreign server use the filter? */
bool ckfp_filter_node_is_remote(const ckfp_filter_node *filter_node);

/* Give up the filter for the rest of the query. */
void ckfp_filter_node_give_up(ckfp_filter_node *filter_node, ckfp_given_up why);

/* The partitions that have keys are known. */
void ckfp_filter_node_know_partitions(ckfp_filter_node *filter_node);

/* The counters of this process, and those of all. */
ckfp_join_counts ckfp_filter_node_counts(const ckfp_filter_node *filter_node);
ckfp_join_counts ckfp_filter_node_all_counts(const ckfp_filter_node *filter_node);

/* Count a tested row. */
static inline void
ckfp_filter_node_count(ckfp_filter_node *filter_node, bool passed)
{
	filter_node->counts.tested++;
	if (!passed)
		filter_node->counts.removed++;
}

#endif
