/*
 * scan.h - read the items of a filter in ascending order, a block at a time: the
 * sources of a rebuild.
 *
 * An item is a hash, or a prefix aligned to the left, so that items of any
 * precision compare with each other.  Copies come as equal items, one after
 * the other.
 *
 * Each load does a bounded amount of work, and adds it to *worked, so that a
 * rebuild can return to its host in time.
 */
#ifndef CKF_SCAN_H
#define CKF_SCAN_H

#include "filter/geometry.h"

/* Items of one block, where a representation does not say otherwise. */
#define CKF_BLOCK 4096

typedef struct ckf_scan ckf_scan;

/* Where the items of two scans meet: cut to a common precision, those that are in both
 * pass.  What the two have is counted on the way. */
typedef struct ckf_meeting
{
	uint8_t w;            /* the precision; 64: whole hashes */
	uint64_t low_mask;    /* 2^c - 1 */
	uint64_t distinct[2]; /* distinct cut items of each so far, */
	uint64_t last[2];     /* and the last of them */
} ckf_meeting;

struct ckf_scan
{
	const uint64_t *keys; /* the block */
	size_t have, at;      /* items in it, and how many were taken */
	bool ended;           /* there is no further block */
	size_t *worked;       /* what loads cost, counted in items */

	/* Read the next block; `have` may be 0 where only a part of the work for it
	 * is done.  false: there is none. */
	bool (*load)(ckf_scan *scan);

	uint64_t words;   /* of scratch that the scan needs */
	uint64_t *memory; /* they */

	const ckf_filter *in; /* table, collector, chunks: what is read */
	unsigned low;         /* table: items are sorted by the bits from here up */
	ckf_inverse inverse;  /* table */
	const uint8_t *body;  /* words: the first one */
	uint64_t next, end;   /* words, table, collector: next word, segment or hash, and their end */
	uint64_t place;       /* collector: hashes before the block; chunks: where the next begins */
	ckf_scan *child[2];   /* merge, meeting: what is merged or meets */
	ckf_meeting *meeting; /* meeting */
	const void *given;    /* collector: the block; chunks: the piece that the host has brought */
	bool wants;           /* chunks: the next piece is asked for, */
	uint8_t raised;       /* and copies that saturated groups get, if that is more */
};

/* ------------------------------------------------------- kinds of scans */

/* Ascending words, little-endian; those that are 0 are skipped. */
void ckf_scan_words(ckf_scan *scan, const uint8_t *body, uint64_t words);

/* Two scans as one. */
void ckf_scan_merged(ckf_scan *scan, ckf_scan *a, ckf_scan *b);

/* What two scans have in common, as items that are cut; copies may pass as such.  The
 * meeting, whose w and low_mask are set, is the scan's until its end. */
void ckf_scan_common(ckf_scan *scan, ckf_scan *a, ckf_scan *b, ckf_meeting *meeting);

/* For scans of two others: is it known of both what comes next?  ready[i]: child i has items
 * at hand; else it has ended.  false: the step is over, or a child needs another. */
bool ckf_scan_pair(ckf_scan *scan, bool ready[2]);

/* ----------------------------------------------------------------- using */

/* What a representation brings, to be read by a rebuild. */
typedef struct ckf_source
{
	/* Copies in it; more than there are where repeated items are not told
	 * apart yet.  0: it is empty. */
	uint64_t (*items)(const ckf_filter *t);

	/* Make its scan. */
	void (*scan)(const ckf_filter *t, ckf_scan *scan);
} ckf_source;

/* From the first item on.  A table's items come sorted by their bits from
 * `low` up; 0: in order. */
void ckf_scan_rewind(ckf_scan *scan, unsigned low);

/* Are there items at scan->keys[scan->at]?  Where not, either the scan has ended
 * or the next call goes on. */
CKF_INLINE bool
ckf_scan_ready(ckf_scan *scan)
{
	if (CKF_UNLIKELY(scan->at == scan->have) && !scan->ended)
		scan->ended = !scan->load(scan);
	return scan->at < scan->have;
}

#endif
