/*
 * window.h - the state of an edit in progress: the items that it has read, and the items that
 * replace them.
 *
 *     chunk that was read --> old --+
 *                                   +--> window --> parts
 *     items that are added ---------+
 */
#ifndef CKF_WINDOW_H
#define CKF_WINDOW_H

#include "chunk/build.h"

/* Items of the window: more than a chunk has, so that the window shows whether the next items fit
 * into one chunk. */
#define CKF_WINDOW 8192

struct ckf_edit
{
	const ckf_chunks *chunks;
	bool ready;   /* `frame` has the only part, which was changed in place */
	bool done;    /* all parts are written */
	bool damaged; /* items were out of order */
	bool whole;   /* items are whole hashes, else prefixes */
	bool grows;   /* parts get room for more */
	bool pages;   /* parts are made to fill pages */
	bool feeds;   /* a pack: more chunks follow */
	bool asked;   /* a pack: the host must give the next chunk */

	uint64_t cursor;      /* where the next part begins */
	uint64_t last;        /* the last hash of the range that is written */
	uint64_t fed;         /* a pack: where the next chunk begins */
	unsigned least_depth; /* of a part */
	uint32_t page_left;   /* bytes for rows in the page that is being filled */
	int64_t stored;       /* copies in the parts, less the copies that were read */

	const uint64_t *adds;      /* the caller's items to add, or hashes to remove */
	size_t adds_have, adds_at; /* how many there are, and how many were used */
	size_t old_have, old_at;   /* the same of `old` */
	size_t have, at;           /* of the window: items in it, and how many were written */
	uint64_t group;            /* the last item that was put into the window */
	unsigned copies;           /* its copies so far */

	ckf_chunk_part part; /* the part in `frame` */
	uint8_t frame[CKF_HEADER_SIZE + CKF_CHUNK_MAX];
	uint64_t window[CKF_WINDOW];
	uint64_t scratch[CKF_BUILD_WORDS];
	uint64_t old[CKF_CHUNK_SCRATCH];
};

_Static_assert(sizeof(struct ckf_edit) <= CKF_EDIT_SIZE, "CKF_EDIT_SIZE is too small");
_Static_assert(CKF_WINDOW > 2 * CKF_CHUNK_BUILT && CKF_WINDOW > CKF_CHUNK_BODY / 8,
			   "the window must have more items than a chunk");

/* Initialize an edit that has read nothing and has nothing to write. */
void ckf_edit_begin(ckf_edit *edit, const ckf_chunks *chunks);

/* Read the items of a chunk to `old`.  CKF_BAD_BYTES: their number differs from its count. */
ckf_status ckf_edit_read(ckf_edit *edit, const ckf_chunk *chunk);

/* Write new chunks for the range of a chunk; NULL: for the range of all hashes. */
void ckf_edit_range(ckf_edit *edit, const ckf_chunk *chunk);

/* The number of items of an ascending array that are at most `last`. */
size_t ckf_items_through(const uint64_t *items, size_t n, uint64_t last);

/* Fill the window from the items that were read and the items that are added.  Each item is cut,
 * and copies above the limit are dropped. */
void ckf_edit_fill(ckf_edit *edit);

/* Whether there are items that are not in the window yet. */
CKF_INLINE bool
ckf_edit_more(const ckf_edit *edit)
{
	return edit->old_at < edit->old_have || edit->adds_at < edit->adds_have;
}

/* Cut the whole hashes in the window to prefixes; later items are prefixes, too. */
void ckf_edit_to_prefixes(ckf_edit *edit);

#endif
