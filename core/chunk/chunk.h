/*
 * chunk.h - a chunk's bytes, and its items (FORMAT.md, section 10).
 *
 * A chunk is a body and a trailer of 8 bytes behind it: so the loads of a table's
 * buckets, which run over the body's end, stay within the chunk.
 */
#ifndef CKF_CHUNK_H
#define CKF_CHUNK_H

#include "cuckoofilter_chunk.h"
#include "filter/geometry.h"
#include "filter/header.h"

enum
{
	CKF_CHUNK_HASHES = 0,   /* whole hashes, sorted: the first chunk of a small table */
	CKF_CHUNK_PREFIXES = 1, /* the prefixes' bits behind the range, sorted */
	CKF_CHUNK_TABLE = 2     /* a table of one segment over these bits */
};

#define CKF_TRAILER 8
#define CKF_CHECK_BYTES 3 /* the trailer's last ones */
#define CKF_CHUNK_BODY (CKF_CHUNK_MAX - CKF_TRAILER)

/* The most items of a chunk, forged ones included: slots of 3 bits, or items of a list.
 * (A list of items so short as to be more has them too often: they are refused.) */
#define CKF_CHUNK_ITEMS ((size_t)CKF_CHUNK_BODY * 8 / 3)

/* Bits of an item that the chunks of this table keep, of which `depth` are the range's. */
CKF_INLINE unsigned
ckf_chunk_rest_bits(const ckf_chunks *chunks, unsigned depth)
{
	return chunks->like.w - depth;
}

/* An item as these chunks know it: a whole hash, or an aligned prefix of w bits. */
CKF_INLINE uint64_t
ckf_chunk_cut(const ckf_chunks *chunks, bool whole, uint64_t hash)
{
	return whole ? hash | (hash == 0) : ckf_cut(hash, chunks->like.w, chunks->like.low_mask);
}

/* Copies that one item may have. */
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

/* The table of a chunk whose range begins behind `depth` bits: geometry from W and m,
 * everything else from *like.  false: there is none with such an m. */
bool ckf_chunk_geometry(ckf_filter *t, const ckf_filter *like, unsigned depth, uint32_t m);

/* Bytes of its buckets. */
CKF_INLINE size_t
ckf_chunk_table_bytes(const ckf_filter *t)
{
	return ckf_bits_to_bytes(2 * t->half_bits);
}

/* Write the trailer behind a body of so many bytes; the whole is 8 bytes longer. */
void ckf_chunk_seal(uint8_t *bytes, const ckf_chunks *chunks, uint64_t start, unsigned depth,
					unsigned kind, uint32_t m, uint32_t count, size_t body);

/* Those of ckf_chunks.like and .exact: a source of a rebuild that is fed (export.c). */
extern const struct ckf_operations ckf_fed_operations;

/*
 * Read the items in ascending order, as whole hashes or aligned prefixes.  `items` has
 * room for CKF_CHUNK_SCRATCH, a part of which is scratch.  Returns how many there are.
 * Those of forged bytes lie in the range, too, but need be neither in order nor as
 * many as the count tells.
 */
#define CKF_CHUNK_SCRATCH (2 * CKF_CHUNK_ITEMS)

size_t ckf_chunk_items(const ckf_chunk *chunk, uint64_t *items);

#endif
