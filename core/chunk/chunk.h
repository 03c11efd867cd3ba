/*
 * chunk.h - a chunk's bytes, and its items (FORMAT.md, section 10).
 *
 * A chunk is a body and a trailer of 8 bytes.  Loads of a table's last buckets read beyond the
 * body; because of the trailer, they stay inside the chunk.
 */
#ifndef CKF_CHUNK_H
#define CKF_CHUNK_H

#include "cuckoofilter_chunk.h"
#include "filter/geometry.h"
#include "filter/header.h"
#include "thresholds.h"

enum
{
	CKF_CHUNK_HASHES = 0,   /* whole hashes, sorted: the first chunk of a small table */
	CKF_CHUNK_PREFIXES = 1, /* prefixes without the bits of the range, sorted */
	CKF_CHUNK_TABLE = 2     /* a table of one segment over these bits */
};

#define CKF_TRAILER 8
#define CKF_CHECK_BYTES 3 /* the trailer's last ones */
#define CKF_CHUNK_BODY (CKF_CHUNK_MAX - CKF_TRAILER)

/* The most items of a chunk, even a forged one: slots of 3 bits, or items of a list.  (A list of
 * more and shorter items must repeat items too often, and is refused.) */
#define CKF_CHUNK_ITEMS ((size_t)CKF_CHUNK_BODY * 8 / 3)

/* An item as these chunks store it: a whole hash, or an aligned prefix of w bits. */
CKF_INLINE uint64_t
ckf_chunk_cut(const ckf_chunks *chunks, bool whole, uint64_t hash)
{
	return whole ? hash | (hash == 0) : ckf_cut(hash, chunks->like.w, chunks->like.low_mask);
}

/* The most copies of an item. */
CKF_INLINE unsigned
ckf_chunk_most_copies(const ckf_chunks *chunks)
{
	return chunks->like.deduplicated ? 1 : 2U * chunks->like.b;
}

CKF_INLINE size_t
ckf_bits_to_bytes(uint64_t bits)
{
	return (size_t)((bits + 7) / 8);
}

/* Item number i of a list, in `width` bits: 64, or at most 56. */
CKF_INLINE uint64_t
ckf_list_get(const uint8_t *body, size_t i, unsigned width)
{
	return width == 64 ? ckf_load64(body + 8 * i) : ckf_load_bits(body, (uint64_t)i * width, width);
}

/* Open the table of a chunk of this depth: the geometry follows from W and m, everything else is
 * copied from *like.  false: m is not possible. */
bool ckf_chunk_geometry(ckf_filter *t, const ckf_filter *like, unsigned depth, uint32_t m);

/* The bytes of the table's buckets. */
CKF_INLINE size_t
ckf_chunk_table_bytes(const ckf_filter *t)
{
	return ckf_bits_to_bytes(2 * t->half_bits);
}

/* Write the trailer, 8 bytes, after a body of this many bytes. */
void ckf_chunk_seal(uint8_t *bytes, const ckf_chunks *chunks, uint64_t start, unsigned depth,
					unsigned kind, uint32_t m, uint32_t count, size_t body);

/* The methods of ckf_chunks.like and .exact: the source of an export (export.c). */
extern const struct ckf_methods ckf_fed_methods;

/*
 * Read the items in ascending order, as whole hashes or aligned prefixes.  `items` has
 * room for CKF_CHUNK_SCRATCH, a part of which is scratch.  Returns the number of items.
 * The items of forged bytes are in the range, too, but they may be out of order, and their
 * number may differ from the count.
 */
#define CKF_CHUNK_SCRATCH (2 * CKF_CHUNK_ITEMS)

size_t ckf_chunk_items(const ckf_chunk *chunk, uint64_t *items);

/* ------------------------------------------------------------------ build */

/* A chunk that grows gets room for its items and this fraction of them: it grows by some twenty
 * bytes at a time. */
#define CKF_CHUNK_SPARE 24

/* Any other chunk gets room for so many more items, so that the first adds do not change its size:
 * in a full page, a row that grows splits the page. */
#define CKF_CHUNK_LEAST_SPARE 2

/* The most items of a chunk: a slot has at least 3 bits. */
#define CKF_CHUNK_BUILT ((CKF_CHUNK_LIMIT * 8) / 3)

/* Words of scratch for a build: slots, and how many of each bucket are in use. */
#define CKF_BUILD_WORDS (CKF_CHUNK_BUILT + CKF_CHUNK_BUILT / 8 + 16)

/* The input of a build. */
typedef struct ckf_chunk_plan
{
	const ckf_chunks *chunks;
	uint64_t start;
	unsigned depth;
	bool whole; /* items are whole hashes, and stay whole */
	bool grows; /* with room for more */
} ckf_chunk_plan;

/*
 * Write a chunk of n items to `out`, which has CKF_CHUNK_MAX bytes.  The items are ascending, cut,
 * in the range, and have no more copies than allowed.  Returns the size; 0: the chunk would exceed
 * the limit.
 */
size_t ckf_chunk_build(const ckf_chunk_plan *plan, const uint64_t *items, size_t n, uint8_t *out,
					   uint64_t *scratch);

#endif
