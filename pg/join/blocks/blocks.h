/*
 * blocks.h - the blocks of a table that can have a key of a join, and scans that read no others.
 *
 *     keys  ->  ranges of keys  ->  candidate blocks  ->  a scan that reads these
 *      key_ranges.c, map.c    candidates.c               scan.c, parallel.c, bitmap.c
 *
 * index.c chooses the indexes while a query is planned. ranges.c has the ranges, and bounds.c those
 * of the scan's own condition.
 */
#ifndef CKFP_JOIN_BLOCKS_H
#define CKFP_JOIN_BLOCKS_H

#include "join/base/integers.h"

#include "access/relscan.h"
#include "access/xlogdefs.h"
#include "fmgr.h"
#include "nodes/tidbitmap.h"
#include "pgtime.h"
#include "port/atomics.h"
#include "storage/spin.h"
#include "utils/dsa.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#if PG_VERSION_NUM < 180000
#define TBMPrivateIterator TBMIterator
#define tbm_begin_private_iterate tbm_begin_iterate
#define tbm_end_private_iterate tbm_end_iterate
#endif

/* ------------------------------------------------------------ index.c: while a query is planned */

/* Complete the targets of a filter: the indexes by which each one can skip blocks. */
void ckfp_index_plan(ckfp_tables *tables, double processes, ckfp_join_record *record);

/* May the index of a plan be used now? */
bool ckfp_index_is_usable(Relation index);

/* The maximum number of empty blocks that a table gets at once. VACUUM notes nothing of them. */
#define CKFP_NEW_BLOCKS 64

/* The number of blocks, but for CKFP_NEW_BLOCKS, of which BRIN may lack rows if transactions end
 * before it is searched: these are read, whatever the keys are. */
BlockNumber ckfp_index_changed_blocks(Relation table);

/* The minimum number of rows of the scans for each key of the build side. */
#define CKFP_KEYS_SHARE 8

/* ------------------------------------------------------------------------- ranges.c: ranges */

/* The largest number of ranges, those of CKFP_FEW_KEYS integers at least; and the number if more
 * would cost too much. */
#define CKFP_RANGES_MOST 1000
#define CKFP_RANGES 64
#define CKFP_FEW_KEYS 1000

/* The keys of one column of the build side, as ranges. */
typedef struct ckfp_ranges
{
	Oid type;
	int16 length;
	bool by_value;
	bool integers;      /* the keys are integers, dates or timestamps */
	FmgrInfo less;      /* compares keys that are not integers */
	Oid collation;      /* the collation of `less` */
	int16 probe_length; /* the length of the other side's values */
	/* from here on, those of one reading of the build side: */
	Datum least;    /* the least key, if the keys are not integers */
	Datum greatest; /* the greatest key, if the keys are not integers */
	double n;   /* the number of keys that are in no range yet; when all are known, of all keys */
	int ranges; /* the number of ranges of integers */
	int room;   /* the number of ranges for which there is memory */
	ckfp_range *range; /* the ranges; when all keys are known, in ascending order */
	int sorts;         /* how often they were sorted to make room */
	bool many;         /* there are too many integers for that: they go into the set */
	ckfp_integers set; /* when all keys are known, all integers */
	int few;           /* when all keys are known, the number of integers; 0: more than few */
} ckfp_ranges;

/* Are the ranges in the order of an index? */
bool ckfp_ranges_serve(const ckfp_ranges *ranges, const ckfp_join_index *index);

/* Sort ranges, and merge those between which there is no other integer. */
void ckfp_ranges_sort(ckfp_ranges *ranges);

/* Add them to the set. They are in ascending order. */
void ckfp_ranges_to_set(ckfp_ranges *ranges);

/* The number of integers in them. */
double ckfp_ranges_integers(const ckfp_ranges *ranges);

/* Merge ranges in ascending order until at most `limit` are left; the largest gaps stay. Returns
 * their number. */
int ckfp_ranges_merge(ckfp_range *range, int n, int limit);

/* All ranges of the keys are there, in any order. Those with the largest gaps between them stay. */
void ckfp_ranges_complete(ckfp_ranges *ranges);

/* ---------------------------------------------------------- key_ranges.c: keys to ranges */

typedef enum ckfp_key_ranges_state
{
	CKFP_RANGES_OFF, /* no scan needs them, or they will not be known for the rest of the query */
	CKFP_RANGES_NEW,
	CKFP_RANGES_GATHERING,
	CKFP_RANGES_WAITING, /* those of other processes are missing */
	CKFP_RANGES_KNOWN
} ckfp_key_ranges_state;

/* Why no block is skipped, for EXPLAIN. If there are several reasons, the last one is shown. */
typedef enum ckfp_unskipped
{
	CKFP_UNSKIPPED_INDEX,      /* no index could be searched */
	CKFP_UNSKIPPED_PRICE,      /* the search does not pay */
	CKFP_UNSKIPPED_CANDIDATES, /* nearly all blocks can have keys */
	CKFP_UNSKIPPED_CHANGED     /* blocks are read of which the index may lack rows */
} ckfp_unskipped;

/* How scans test a key. */
typedef struct ckfp_key_test
{
	const ckfp_integers
		*integers; /* the integers of a column of the keys; NULL: it is not tested */
	int column;
	int16 length; /* of the values of the probe side */
	bool exact;   /* each of the integers is a key */
} ckfp_key_test;

typedef struct ckfp_map ckfp_map;

/* The keys of the build side of a join, as ranges of each column. */
typedef struct ckfp_key_ranges
{
	ckfp_key_ranges_state state;
	uint64 generation;                   /* how often they have been gathered */
	int node;                            /* the plan_node_id of the node that gathers them */
	bool always;                         /* not only if it pays */
	double worth;                        /* so many keys are worth gathering */
	MemoryContext context;               /* of the gathered keys */
	struct ckfp_keys_shared *shared;     /* in a parallel plan; else NULL */
	dsa_area *area;                      /* in a parallel plan: where the parts of `shared` are */
	bool by_value;                       /* all types are passed by value */
	uint64 blocks;                       /* counter: the blocks of the scans that may skip some */
	uint64 skipped;                      /* counter: the blocks of these scans that are not read */
	ckfp_unskipped unskipped;            /* if there are none */
	XLogRecPtr before;                   /* ckfp_wal_before() of the query's snapshot */
	ckfp_key_test test;                  /* how scans test the keys of their rows */
	int columns;                         /* 0: no scan needs them */
	ckfp_ranges *column[CKFP_JOIN_KEYS]; /* NULL: no scan needs it */
	ckfp_map *map; /* map.c: the keys are a function of a column; NULL: they are columns */
	pg_tz *zone;   /* they were mapped to the column in this time zone of the session; or NULL */
} ckfp_key_ranges;

/* Initialize the ranges of keys. */
void ckfp_key_ranges_init(ckfp_key_ranges *keys, const ckfp_join_record *record, int node);

/* Gather the ranges that an index needs, too. False if those of its column have another order, for
 * another index. */
bool ckfp_key_ranges_want(ckfp_key_ranges *keys, const ckfp_join_record *record,
						  const ckfp_join_index *index);

/* The maximum number of bytes of the set of many keys. */
#define CKFP_SET_BYTES (256 * 1024)

/* Forget all keys: before the build side is read, again or for the first time. */
void ckfp_key_ranges_start(ckfp_key_ranges *keys);

/* Add a key that was not added in the same way as the last one. */
void ckfp_ranges_add_slow(ckfp_key_ranges *keys, ckfp_ranges *ranges, Datum value);

/* Add a key without NULL: a value for each column. */
static inline void
ckfp_key_ranges_add(ckfp_key_ranges *keys, const Datum *values)
{
	for (int i = 0; i < keys->columns; i++)
	{
		ckfp_ranges *ranges = keys->column[i];

		if (ranges == NULL)
			continue;
		if (likely(ranges->ranges < ranges->room))
		{
			int64 value = ckfp_integer_of(values[i], ranges->length);

			if (ranges->ranges == 0 || ranges->range[ranges->ranges - 1].low != value)
				ranges->range[ranges->ranges++] = (ckfp_range){value, value};
		}
		else
			ckfp_ranges_add_slow(keys, ranges, values[i]);
	}
}

/* There are no more keys in this process. */
void ckfp_key_ranges_finish(ckfp_key_ranges *keys);

/* ---------------------------------------------------- map.c: keys to ranges of another column */

/* Let keys be mapped back to the column of which they are a function, abstract as in monotone.h.
 * Memory comes from the current context. */
void ckfp_key_ranges_map_to(ckfp_key_ranges *keys, const ckfp_join_record *record, Expr *function,
							EState *estate);

/* All keys are gathered: complete their ranges, and map them. */
void ckfp_key_ranges_complete(ckfp_key_ranges *keys);

/* The ranges of a column of the scans; NULL: no scan needs them. */
const ckfp_ranges *ckfp_key_ranges_of(const ckfp_key_ranges *keys, int key);

/* Is the function computed for a value of the column? For others it may fail. */
bool ckfp_map_computes(const ckfp_map *map, int64 source);

/* The key of a value of the column. It is valid until the next call. */
Datum ckfp_map_value(ckfp_map *map, int64 source);

/* Are the ranges still those of the keys? After SET timezone they are not: the join computes other
 * keys from then on. */
static inline bool
ckfp_key_ranges_hold(const ckfp_key_ranges *keys)
{
	return keys->zone == NULL || keys->zone == session_timezone;
}

/* ------------------------------------------------------------ table.c: what is known of a table */

/* The cost of a row and of a page of a sequential scan, in ns. As in cost.c, only ratios matter. */
#define CKFP_ROW_NS 50.0
#define CKFP_PAGE_NS 500.0

/* The cost of a sequential scan of so many rows, in ns. */
double ckfp_scan_cost(double rows, double blocks);

/* The rows of so many blocks of a table. */
double ckfp_rows_in(Relation table, double blocks);

/* The cost of reading all blocks of a table now, if that of a row is known, in ns. */
double ckfp_table_cost(Relation table, double row);

/* The number of a block in the order of a scan that begins with the block `first`. */
static inline BlockNumber
ckfp_number_of(BlockNumber block, BlockNumber first, BlockNumber blocks)
{
	return block >= first ? block - first : block + (blocks - first);
}

/* The share of the blocks that a sequential scan which skips none has begun. 0 if it is unknown. */
double ckfp_scan_share(TableScanDesc scan);

/* What the statistics say about the keys. */
typedef struct ckfp_statistics
{
	double each;        /* rows of a key */
	double correlation; /* with the order of the blocks */
	double share;       /* of the rows that are in the ranges; 1: it is unknown */
} ckfp_statistics;

/* The statistics of a column of a table that has so many rows. */
ckfp_statistics ckfp_statistics_of(Relation table, AttrNumber column, const ckfp_ranges *ranges,
								   double rows);

/* ------------------------------------- bounds.c: what the scan's own condition leaves */

/* Leave of ranges what a column of an index can be in rows that meet the condition of a scan's
 * bitmap, in new memory. False if it sets no bounds. *covers: it has nothing but these, and BRIN
 * is not used for it, whose bitmap costs next to nothing. */
bool ckfp_bounds_cut(ScanState *scan, Relation index, AttrNumber column, ckfp_ranges *ranges,
					 bool *covers);

/* Has an index fewer rows than `most` that meet the condition of a scan's bitmap? It has nothing
 * but such bounds. */
bool ckfp_bounds_have_few(ScanState *scan, double most);

/* ----------------------------------------------- candidates.c: ranges to candidate blocks */

/* If so large a share of the blocks are candidates, the others are not worth skipping. */
#define CKFP_CANDIDATE_SHARE 0.9

/* Is one search of a BRIN index so much cheaper than the sequential scan that it is worth trying?
 */
bool ckfp_brin_is_cheap(double pages_per_range, double rows, double blocks);

/* ---------------------------------------------------------- complete.c: rows that an index lacks
 */

/* Begin to note positions in the WAL: when the library is loaded. */
void ckfp_join_init_complete(void);

/* A position in the WAL before the snapshot of a query of this transaction; or InvalidXLogRecPtr.
 */
XLogRecPtr ckfp_wal_before(void);

/* Does an index have all rows that a snapshot sees? It was searched before this call, and the
 * position `before` in the WAL, if it is valid, is one before the snapshot. */
bool ckfp_index_is_complete(Relation index, Snapshot snapshot, XLogRecPtr before);

/* ------------------------------------------------------------ scan.c: a scan that skips blocks */

/* The keys of a join, for a scan. */
typedef struct ckfp_block_filter
{
	ckfp_key_ranges *keys;
	const ckfp_join_target *target;
	int number;  /* of the target */
	double from; /* search after this share of the blocks was read, if the scan may be stopped */
	BlockNumber gain;  /* the blocks that it excludes, and those before it do not */
	uint8 *candidates; /* the blocks that can have one of the keys; NULL: all */
	BlockNumber of;    /* the number of blocks that `candidates` tells of */
	bool covers;       /* `candidates` has regard to all of the condition of the scan's bitmap */
	/* generations of the keys: */
	uint64 generation; /* that of `candidates` */
	uint64 decided;    /* the last one that was used, or is of no use */
	uint64 vain;       /* the last one for which the indexes were searched in vain */
	struct ckfp_block_filter *next;
} ckfp_block_filter;

typedef struct ckfp_bitmap ckfp_bitmap;

/* A sequential scan, or a Bitmap Heap Scan. Its blocks have numbers in the order in which it reads
 * them. */
typedef struct ckfp_blocks
{
	ScanState *scan;
	ckfp_bitmap *bitmap;                         /* of a Bitmap Heap Scan; else NULL */
	void (*restart)(struct ckfp_blocks *blocks); /* of a Bitmap Heap Scan: it starts again */
	BlockNumber begun; /* of a Bitmap Heap Scan: the number of its pages that it has passed */
	double share;      /* of the blocks that it reads anyway, as it is expected */
	ckfp_block_filter *filters; /* in the order of the nodes that gather their keys */
	bool verify;                /* the scan reads all blocks */
	bool waiting;               /* it looks for known keys from row to row */
	bool coming;                /* keys of a filter are not known, or not used yet */
	BlockNumber looked;         /* `waiting`: it looks again at the next block, if this is valid */
	ExprContext *skips; /* NULL: no block is skipped. Else blocks are skipped from the next page on;
						 * a callback of this context ends that when the scan starts again */
	uint8 *candidates;  /* blocks that are not skipped; NULL: all */
	TableScanDesc desc; /* reads the blocks */
	bool reading;       /* `desc` may have more rows */
	BlockNumber drain;  /* if it is valid: only the rows of this block are left */
	BlockNumber blocks; /* the number of blocks of the table */
	BlockNumber first;  /* the block with the number 0 */
	BlockNumber next;   /* the number of the block to read when `desc` has no more rows */
	BlockNumber end;    /* this process reads no block with this number or a larger one */
	TableScanDesc own;  /* parallel scans: another descriptor, which is not parallel; or NULL */
} ckfp_blocks;

/* The size of a map of so many blocks, a bit each, in bytes: of whole words. */
static inline size_t
ckfp_bits_size(BlockNumber blocks)
{
	return (blocks / 64 + 1) * sizeof(uint64);
}

/* candidates.c: the number of pages of a bitmap, `most` at most. */
BlockNumber ckfp_count_pages(TIDBitmap *bitmap, BlockNumber most);

/* candidates.c: a bitmap of the blocks of the scan's table that can have rows with the keys of a
 * filter. NULL if skipping blocks does not pay, or if the search costs more than the scan of this
 * share of the blocks that it reads anyway. `again`: the search for a smaller share has returned
 * NULL. Sets `covers`. */
uint8 *ckfp_candidate_blocks(const ckfp_blocks *blocks, ckfp_block_filter *filter, double share,
							 bool again);

/* The block with a number. */
static inline BlockNumber
ckfp_block_of(const ckfp_blocks *blocks, BlockNumber number)
{
	return (BlockNumber)(((uint64)blocks->first + number) % blocks->blocks);
}

/* candidates.c: the first number from `from` up to `end` of a candidate block; or `end`. */
BlockNumber ckfp_blocks_next_candidate(const ckfp_blocks *blocks, BlockNumber from,
									   BlockNumber end);

/* Can a scan skip blocks? */
bool ckfp_blocks_is_possible(const ScanState *scan);

/* Make the state of a sequential scan. */
ckfp_blocks *ckfp_blocks_make(ScanState *scan, bool verify);

/* Let a scan skip blocks by the keys of a join; it is target `number`. */
void ckfp_blocks_add(ckfp_blocks *blocks, ckfp_key_ranges *keys, const ckfp_join_record *record,
					 int number);

/* Begin a sequential scan that is not parallel, as its own function does. */
TableScanDesc ckfp_begin_scan(ScanState *scan);

/* Use the keys that have become known. */
void ckfp_blocks_check_keys(ckfp_blocks *blocks);

/* The next row of the scan, or NULL. */
TupleTableSlot *ckfp_blocks_next(ckfp_blocks *blocks);

/* Does the scan need no function of ours until keys are gathered again? */
static inline bool
ckfp_blocks_is_idle(const ckfp_blocks *blocks)
{
	return !blocks->waiting && !blocks->skips;
}

/* Keys are gathered again. */
void ckfp_blocks_arm(ckfp_blocks *blocks);

/* This process has gathered keys: look for known ones at the next row. */
void ckfp_blocks_recheck(ckfp_blocks *blocks);

/* The part of the candidate blocks that a scan which skips blocks has read. 0 if it is unknown. */
double ckfp_blocks_progress(const ckfp_blocks *blocks);

/* Use the filters whose keys are known, in a scan of which blocks before `next` were read. Sets
 * `waiting` and `coming`. */
void ckfp_blocks_use_known(ckfp_blocks *blocks);

/* From now on the scan skips blocks. */
void ckfp_blocks_start_skipping(ckfp_blocks *blocks);

/* Skip no more blocks if the keys of the rows are not those by which they are skipped: after SET
 * timezone. */
void ckfp_blocks_check_zone(ckfp_blocks *blocks);

/* Would a row's block be skipped because of these keys? */
bool ckfp_blocks_deny(ckfp_blocks *blocks, const ckfp_key_ranges *keys, TupleTableSlot *slot);

/* The scan ends. */
void ckfp_blocks_end(ckfp_blocks *blocks);

/* --------------------------------------------- bitmap.c: a Bitmap Heap Scan that skips blocks */

/* Prepare a Bitmap Heap Scan. `again` is called with its argument when the scan starts again. */
void ckfp_bitmap_make(ckfp_blocks *blocks, void (*again)(void *argument), void *argument);

/* Has the scan all of its bitmap? Then its own function reads the rest. */
bool ckfp_bitmap_is_whole(const ckfp_blocks *blocks);

/* The next row of the scan, by its own function; NULL or an empty slot if there is none. */
TupleTableSlot *ckfp_bitmap_next(ckfp_blocks *blocks, ExecProcNodeMtd own);

/* ----------------------------------------------------------------- parallel.c: several processes
 */

/* A parallel scan. */
typedef struct ckfp_shared_scan
{
	bool alive;             /* it can have rows that join, by the partitions of all keys */
	pg_atomic_uint32 users; /* the number of processes that have used keys for it */
	BlockNumber first;      /* the block that the scan begins with, if blocks were taken */
	pg_atomic_uint32 taken; /* 1: blocks were taken */
	pg_atomic_uint32 next;  /* the number from which on none is drawn */
} ckfp_shared_scan;

/* What the processes know of the keys of a join. */
typedef struct ckfp_keys_shared
{
	bool common;        /* each process gathers a part of the keys; else all of them */
	XLogRecPtr before;  /* see ckfp_key_ranges */
	slock_t mutex;      /* protects the lists and the next two members */
	int reading;        /* the number of processes that began to read, and have not finished */
	bool complete;      /* all that began have finished: the lists have all keys */
	bool failed;        /* there are keys that are in no range */
	dsa_pointer hashes; /* a list of ckfp_contribution */
	dsa_pointer ranges; /* a list of ckfp_contribution */
	ckfp_shared_scan scan[FLEXIBLE_ARRAY_MEMBER]; /* of each target */
} ckfp_keys_shared;

/* Keys that a process gave to all. */
typedef struct ckfp_contribution
{
	dsa_pointer self;
	dsa_pointer next;
	int column; /* of ranges: their column */
	double n;   /* of ranges: the number of keys in the column */
	size_t words;
	uint64 word[FLEXIBLE_ARRAY_MEMBER]; /* hashes, or ranges of ckfp_range */
} ckfp_contribution;

/* The bytes of shared memory for keys and their targets. */
Size ckfp_keys_shared_size(const ckfp_join_record *record);

/* Prepare it, for another run, too. `common`: each process gathers a part of the keys. */
void ckfp_keys_shared_init(ckfp_keys_shared *shared, const ckfp_join_record *record, bool common);

/* Use it in this process, whose parts are in `area`. */
void ckfp_key_ranges_share(ckfp_key_ranges *keys, ckfp_keys_shared *shared, dsa_area *area);

/* This process begins to read its part of the build side. */
void ckfp_contributions_begin(ckfp_keys_shared *shared);

/* It has given all its keys. True for the last one of those that began. */
bool ckfp_contributions_finish(ckfp_keys_shared *shared);

/* A part of so many words; NULL if there is not enough memory. */
ckfp_contribution *ckfp_contribution_make(dsa_area *area, size_t words);

/* Add a part to a list. False if it is too late, since all keys are taken to be known. */
bool ckfp_contribution_give(const ckfp_key_ranges *keys, dsa_pointer *parts,
							ckfp_contribution *part);

/* Free the first n parts of a list; -1: all. */
void ckfp_contributions_free(dsa_area *area, dsa_pointer *parts, int n);

/* Gather no more keys, for the rest of the query: this process has one that is in no part. */
void ckfp_key_ranges_give_up(ckfp_key_ranges *keys);

/* Give the keys of this process to all. False if it has gathered all keys. */
bool ckfp_key_ranges_contribute(ckfp_key_ranges *keys);

/* Do the processes gather common keys: each one a part, of which one filter is built for all? Else
 * each process gathers all keys. */
bool ckfp_keys_are_common(const ckfp_key_ranges *keys);

/* Take the keys of all processes, if they are complete. */
void ckfp_key_ranges_attach(ckfp_key_ranges *keys);

/* Is this the first process that uses keys for a scan, of those that share it? */
bool ckfp_shared_scan_is_first(const ckfp_block_filter *filter);

/* Take all blocks of a parallel scan that no process has begun to read, to be drawn by all
 * processes. */
void ckfp_shared_scan_take_all(const ckfp_blocks *blocks);

/* Draw the next blocks for this process. False if there are none. */
bool ckfp_shared_scan_draw(ckfp_blocks *blocks);

#endif
