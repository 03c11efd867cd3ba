/*
 * edit.h - the state of an edit in progress: the items that it has read, and the items that
 * replace them.
 *
 *     chunk that was read --> old --+
 *                                   +--> window --> pieces
 *     items that are added ---------+
 */
#ifndef CKF_EDIT_H
#define CKF_EDIT_H

#include "chunk/chunk.h"
#include "scan/scan.h"

/* Items of the window: more than a chunk has, so that the window shows whether the next items fit
 * into one chunk. */
#define CKF_WINDOW 8192

typedef enum ckf_edit_state
{
	CKF_EDIT_DONE,   /* there is nothing to write, or all pieces are written */
	CKF_EDIT_COPY,   /* `frame` has the only piece, which was changed in place */
	CKF_EDIT_WRITES, /* pieces are made of all items that are left */
	CKF_EDIT_FEEDS,  /* the same, and more chunks follow: a pack */
	CKF_EDIT_WAITS,  /* a pack: the host must give the next chunk */
	CKF_EDIT_DAMAGED /* items or ranges were out of order */
} ckf_edit_state;

struct ckf_edit
{
	const ckf_chunks *chunks;
	ckf_edit_state state;
	bool whole; /* items are whole hashes, else prefixes */
	bool grows; /* pieces get room for more; else they are made to fill pages */

	uint64_t cursor;      /* where the next piece begins */
	uint64_t last;        /* the last hash of the range that is written */
	uint64_t fed;         /* a pack: where the next chunk begins */
	unsigned least_depth; /* of a piece */
	uint32_t page_left;   /* bytes for rows in the page that is being filled */
	int64_t stored;       /* copies in the pieces, less the copies that were read */

	const uint64_t *adds;      /* the caller's items to add, or hashes to remove */
	size_t adds_have, adds_at; /* items in `adds`, and how many were used */
	size_t old_have, old_at;   /* items in `old`, and how many were used */
	size_t have, at;           /* of the window: items in it, and how many were written */
	uint64_t group;            /* the last item that was put into the window */
	unsigned copies;           /* copies of `group` so far */

	ckf_chunk_piece piece; /* the piece in `frame` */
	uint8_t frame[CKF_HEADER_SIZE + CKF_CHUNK_MAX];
	uint64_t window[CKF_WINDOW];
	uint64_t scratch[CKF_BUILD_WORDS];
	uint64_t old[CKF_CHUNK_SCRATCH];
};

_Static_assert(sizeof(struct ckf_edit) <= CKF_EDIT_SIZE, "CKF_EDIT_SIZE is too small");
_Static_assert(CKF_WINDOW > 2 * CKF_CHUNK_BUILT && CKF_WINDOW > CKF_CHUNK_BODY / 8,
			   "the window must have more items than a chunk");

/* Go to another state.  Only ckf_edit_begin leaves the one of damage. */
CKF_INLINE void
ckf_edit_go(ckf_edit *edit, ckf_edit_state to)
{
	CKF_ASSERT(edit->state != CKF_EDIT_DAMAGED || to == CKF_EDIT_DAMAGED);
	CKF_ASSERT(to != CKF_EDIT_COPY || edit->state == CKF_EDIT_DONE);
	CKF_ASSERT(to != CKF_EDIT_WAITS || edit->state == CKF_EDIT_FEEDS);
	edit->state = to;
}

/* Fill the window from the items that were read and the items that are added.  Each item is cut,
 * and copies above the limit are dropped. */
void ckf_edit_fill(ckf_edit *edit);

/* Whether there are items that are not in the window yet. */
CKF_INLINE bool
ckf_edit_more(const ckf_edit *edit)
{
	return edit->old_at < edit->old_have || edit->adds_at < edit->adds_have;
}

#endif
