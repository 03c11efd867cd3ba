/*
 * scan.h - read the items of a filter in ascending order, a block at a time.  Scans are
 * the sources of a rebuild.
 *
 * An item is a hash, or a prefix aligned to the left of 64 bits, so items of different
 * precision can be compared.  Copies are equal items, one after the other.
 *
 * Each load does a bounded amount of work and adds it to *work, so a rebuild returns to
 * its host in time.
 */
#ifndef CKF_SCAN_H
#define CKF_SCAN_H

#include "filter/geometry.h"

/* Items of a block, unless the representation has its own limit. */
#define CKF_BLOCK 4096

typedef struct ckf_scan ckf_scan;

/* The intersection of two scans: both are cut to a common precision, and the items that are
 * in both are the result.  The distinct items of each scan are counted as well. */
typedef struct ckf_intersection
{
	uint8_t w;            /* the precision; 64: whole hashes */
	uint64_t low_mask;    /* 2^c - 1 */
	uint64_t distinct[2]; /* distinct cut items of each scan so far */
	uint64_t last[2];     /* the last cut item of each scan */
} ckf_intersection;

struct ckf_scan
{
	const uint64_t *keys; /* the block */
	size_t have, at;      /* items in the block, and the number of those that were read */
	bool ended;           /* there is no further block */
	size_t *work;         /* what loads cost, counted in items */
	uint64_t items;       /* the number of items, or an upper bound */

	/* Read the next block.  `have` becomes 0 if the block needs more steps.
	 * false: there are no more items. */
	bool (*load)(ckf_scan *scan);

	uint64_t words;   /* words of scratch that the scan needs */
	uint64_t *memory; /* the scratch */

	const ckf_filter *in; /* the input; not of a merge or an intersection */
	unsigned low;         /* table: items are sorted by the bits from this one up */
	ckf_inverse inverse;  /* table */
	uint64_t next, end; /* words, table: next word or segment, and the end; collector: next hash */
	uint64_t base;      /* chunks: start of the next range */
	ckf_scan *child[2]; /* merge, intersection: the two scans that are read */
	ckf_intersection *intersection; /* intersection */
	const void *given;              /* chunks: the chunk that the host gave last */
	bool wants;                     /* chunks: the scan needs the next chunk */
	uint8_t raised; /* chunks: copies that a saturated group gets, if more than it has */
};

/* ------------------------------------------------------- kinds of scans */

/* All items of two scans. */
void ckf_scan_merged(ckf_scan *scan, ckf_scan *a, ckf_scan *b);

/* The cut items that both scans have; an item may be repeated.  The caller sets w and
 * low_mask of *intersection and keeps it as long as the scan. */
void ckf_scan_intersection(ckf_scan *scan, ckf_scan *a, ckf_scan *b,
						   ckf_intersection *intersection);

/* Load the children of a scan where they have no item left.  true: each child has items
 * (ready[i]) or has ended.  false: the step has done enough work, or a child needs another
 * step. */
bool ckf_scan_pair(ckf_scan *scan, bool ready[2]);

/* ----------------------------------------------------------------- using */

/* The functions by which a rebuild reads a representation. */
typedef struct ckf_source
{
	/* The number of copies, or an upper bound if duplicates are not dropped yet; NULL: it is
	 * the filter's count.  0: it is empty. */
	uint64_t (*items)(const ckf_filter *t);

	/* Make its scan. */
	void (*scan)(const ckf_filter *t, ckf_scan *scan);
} ckf_source;

/* Go back to the first item.  A table's items are then sorted by their bits from `low` up;
 * 0: fully sorted. */
void ckf_scan_rewind(ckf_scan *scan, unsigned low);

/* Whether there is an item at scan->keys[scan->at].  If not, the scan has ended, or the next
 * call continues the load. */
CKF_INLINE bool
ckf_scan_ready(ckf_scan *scan)
{
	if (CKF_UNLIKELY(scan->at == scan->have) && !scan->ended)
		scan->ended = !scan->load(scan);
	return scan->at < scan->have;
}

/* The number of items of an ascending array that are at most `last`. */
size_t ckf_count_through(const uint64_t *items, size_t n, uint64_t last);

/* Sort keys by their bits low .. high - 1, of which there is at least one.  Keys that are equal in
 * these bits keep their order.  scratch has the size of keys.  The result is in keys. */
void ckf_sort(uint64_t *keys, uint64_t *scratch, size_t n, unsigned low, unsigned high);

#endif
