/*
 * cuckoofilter_chunk.h - the functions of a large filter that is divided into chunks.  A
 * host stores the chunks as the rows of a table.  A lookup reads one row, and adding an
 * item writes one row.
 *
 * A chunk has the items of one range of hashes: the hashes that share their top `depth`
 * bits.  It is a small filter over the bits that follow.  The ranges of all chunks cover
 * all hashes and do not overlap.  A full chunk splits by its next bit; no other chunk
 * changes.  A table without items may have no chunk.
 *
 * The host stores what belongs to the whole table: the parameters, the number of copies
 * and the item classes.
 *
 * The rules of cuckoofilter.h hold here, too.  "Items" below are hashes or, if stated,
 * aligned prefixes: the top bits of hashes, shifted to the left of 64 bits.  FORMAT.md,
 * section 10, describes the bytes of a chunk.
 */
#ifndef CUCKOOFILTER_CHUNK_H
#define CUCKOOFILTER_CHUNK_H

#include "cuckoofilter.h"

/* The most bytes of a chunk; most chunks have a few hundred. */
#define CKF_CHUNK_MAX 4056

/* The most bits that the hashes of a range share. */
#define CKF_CHUNK_MAX_DEPTH 55

/* ------------------------------------------------------------- parameters */

/*
 * The data that all chunks of one table share.  It is computed from the parameters and
 * never stored.  It is plain data, and internal to the engine, except for the members
 * that say otherwise.  Every ckf_chunk keeps a pointer to it.
 */
typedef struct ckf_chunks
{
	ckf_filter like;     /* the parameters, and w, c, b and layout of each chunk's table */
	ckf_filter exact;    /* the same for whole hashes: an empty filter, without bytes, whose fields
						  * the host may read */
	uint64_t check;      /* a hash of the parameters that chunks depend on */
	uint32_t most_whole; /* the first chunk keeps whole hashes up to so many copies */

	/* The host reads: */
	uint64_t max_count; /* the number of copies at which the rate reaches its limit (8 times
						 * the target, or 3 %).  The host should then refuse to add items,
						 * with CKF_PRECISION.  Further adds only raise the rate. */

	/* The host sets, since it knows how rows are stored: */
	uint32_t limit; /* bytes of a chunk above which it splits.  ckf_chunks_init sets
					 * CKF_CHUNK_LIMIT, 720, the most.  Smaller chunks write less for an add, and
					 * need more rows. */
	/* A table that is built or packed gets chunks of sizes that fill pages.  ckf_chunks_init sets
	 * 0: ignore pages. */
	uint32_t page_room;  /* bytes of a page for rows */
	uint32_t row_room;   /* bytes of a row in addition to its chunk */
	uint32_t page_slack; /* bytes of a page to leave free, so that chunks can grow */
} ckf_chunks;

/* Compute the shared data.  The same errors as ckf_create. */
ckf_status ckf_chunks_init(ckf_chunks *chunks, const ckf_params *params);

/* The false positive rate that is expected with `count` copies in the table. */
double ckf_chunks_fpr(const ckf_chunks *chunks, uint64_t count);

/* The number of items up to which the chunks keep the target rate: the capacity or more.  A
 * filter of this capacity and rate has enough precision for ckf_prefixes_start. */
int64_t ckf_chunks_capacity(const ckf_chunks *chunks);

/* ----------------------------------------------------------------- chunks */

/* The row number of a chunk: the first hash of its range, as a signed integer in the same
 * order.  The first chunk has INT64_MIN. */
static inline int64_t
ckf_chunk_id(uint64_t start)
{
	return start < (uint64_t)1 << 63 ? (int64_t)start + INT64_MIN
									 : (int64_t)(start - ((uint64_t)1 << 63));
}

static inline uint64_t
ckf_chunk_start(int64_t id)
{
	return (uint64_t)id ^ (uint64_t)1 << 63;
}

/* The last hash of a range, from its first hash and its depth. */
static inline uint64_t
ckf_chunk_last(uint64_t start, unsigned depth)
{
	return start + (UINT64_MAX >> depth);
}

/* An opened chunk.  Plain data on the caller's stack. */
typedef struct ckf_chunk
{
	const ckf_chunks *chunks;
	const uint8_t *bytes; /* the caller's */
	uint32_t size;
	uint8_t kind;     /* internal */
	uint8_t width;    /* internal; list: bits of an item */
	uint8_t depth;    /* bits that all hashes of the range share */
	uint32_t count;   /* the count in the bytes: copies stored */
	uint64_t start;   /* the first hash of the range */
	uint64_t last;    /* the last hash of the range */
	ckf_filter table; /* internal; list: only the parameters */
} ckf_chunk;

/*
 * Validate and open a chunk, in some tens of nanoseconds.  A check of 24 bits detects bytes
 * that have changed, and bytes of another row or of a table with other parameters.  Count,
 * depth and size are consistent with each other afterwards.  Calls on forged bytes that
 * pass the check end and stay within the bytes, but may give wrong answers.  Only
 * ckf_chunk_check verifies each slot and counts the copies.
 * CKF_BAD_BYTES.
 */
ckf_status ckf_chunk_open(ckf_chunk *chunk, const ckf_chunks *chunks, uint64_t start,
						  const void *bytes, size_t size);

/* Whether the hash is in the chunk's range.  If not, the calls below treat it as a hash that
 * the chunk does not contain. */
static inline bool
ckf_chunk_covers(const ckf_chunk *chunk, uint64_t hash)
{
	return hash >= chunk->start && hash <= chunk->last;
}

/* Whether the chunk may contain the hash.  false is certain. */
bool ckf_chunk_contains(const ckf_chunk *chunk, uint64_t hash);

/* The number of copies that are stored of the hash's prefix: 0 .. 2 b. */
unsigned ckf_chunk_copies(const ckf_chunk *chunk, uint64_t hash);

/* Whether the items are whole hashes; else they are prefixes of like.w bits. */
static inline bool
ckf_chunk_is_whole(const ckf_chunk *chunk)
{
	return chunk->width == 64;
}

/* The number of distinct items in the chunk: whole hashes or prefixes.  `scratch` has
 * CKF_CHUNK_DISTINCT_SCRATCH bytes, aligned to 8. */
#define CKF_CHUNK_DISTINCT_SCRATCH ((size_t)176 << 10)
size_t ckf_chunk_distinct(const ckf_chunk *chunk, void *scratch);

/* Verify that each item is possible in its slot and in the range, and that their number is
 * the count.  CKF_OK, CKF_BAD_BYTES. */
ckf_status ckf_chunk_check(const ckf_chunk *chunk);

/* ------------------------------------------------------------------ edits */

/*
 * An edit changes chunks: it reads one or more chunks, and writes the pieces that replace
 * them.
 *
 *     ckf_edit *edit = malloc(CKF_EDIT_SIZE);               can be used again
 *     uint8_t out[CKF_CHUNK_MAX];
 *
 *     status = ckf_edit_add(edit, chunks, &chunk, items, n, true, &taken);
 *     while (status == CKF_OK && (status = ckf_edit_next(edit, out, &piece)) == CKF_MORE)
 *     {
 *         write row (ckf_chunk_id(piece.start), out, piece.size)
 *         status = CKF_OK;
 *     }
 *     total += ckf_edit_stored(edit)
 *
 * Parts are written in ascending order, and cover the ranges of the chunks that were read.
 * So the first piece has the row number of the chunk that was read and replaces it; other
 * pieces are new rows.  If nothing has changed, there are no pieces.
 *
 * A call reads its chunk completely, so the bytes of the chunk are not needed afterwards.
 * Arrays of items must not change until the last piece is written.
 */
typedef struct ckf_edit ckf_edit; /* CKF_EDIT_SIZE bytes from an allocator, aligned to 8 */
#define CKF_EDIT_SIZE ((size_t)512 << 10)

typedef struct ckf_chunk_piece
{
	uint64_t start;
	unsigned depth;
	size_t size;
	uint64_t count; /* copies in the piece */
} ckf_chunk_piece;

/*
 * Add one copy of each of n items.  The items are in ascending order and may be equal.
 * `chunk` is the chunk whose range has the first item; NULL: the table has no chunk.
 * *taken becomes the number of items that were added: those in the range.  Without a chunk
 * it is n, and may be 0: then the piece is a chunk without items that covers all hashes.
 * `whole`: the items are whole hashes, as a host's own items always are; else they are aligned
 * prefixes from ckf_prefixes_next.
 *
 * Nothing is stored for an item that a set has already, or of which there are 2 b copies.
 * No item is refused: the host must respect chunks->max_count.
 * CKF_OK, CKF_BAD_BYTES (damaged chunk, or items out of order).
 */
ckf_status ckf_edit_add(ckf_edit *edit, const ckf_chunks *chunks, const ckf_chunk *chunk,
						const uint64_t *items, size_t n, bool whole, size_t *taken);

/*
 * Remove one copy of each of n hashes, which are in ascending order.  Hashes without a copy,
 * and saturated groups, are skipped.  `chunk` and *taken are as in ckf_edit_add.
 * CKF_OK, CKF_IS_SET, CKF_BAD_BYTES.
 */
ckf_status ckf_edit_remove(ckf_edit *edit, const ckf_chunks *chunks, const ckf_chunk *chunk,
						   const uint64_t *hashes, size_t n, size_t *taken);

/*
 * Pack: rewrite all chunks, each as small as possible, and join neighbours that fit into one
 * chunk.  ckf_edit_next asks for each chunk by CKF_FEED, in ascending order.  The host opens
 * the next chunk, gives it to ckf_edit_feed and deletes its row.  After the last chunk it
 * gives NULL.  Each piece is a new row; the old rows of its range are deleted by then.  A pack
 * reads each chunk once, and the host may check for interrupts between two calls.
 */
void ckf_edit_pack(ckf_edit *edit, const ckf_chunks *chunks);

/* Give the next chunk, or NULL after the last one.  CKF_OK; CKF_BAD_BYTES: the chunk is
 * damaged, its range does not follow the range before, the ranges do not cover all hashes
 * (NULL), or no chunk was asked for. */
ckf_status ckf_edit_feed(ckf_edit *edit, const ckf_chunk *chunk);

/* Write the next piece to `out`, which has CKF_CHUNK_MAX bytes.  CKF_MORE: *piece describes it.
 * CKF_OK: there are no more pieces.  CKF_FEED: see ckf_edit_pack.  CKF_BAD_BYTES. */
ckf_status ckf_edit_next(ckf_edit *edit, void *out, ckf_chunk_piece *piece);

/* The change of the number of copies, after all pieces are written; negative for removals.
 * When whole hashes become prefixes, copies above 2 b of one prefix, or above one in a set,
 * are dropped. */
int64_t ckf_edit_stored(const ckf_edit *edit);

/* ------------------------------------------------- add the items of a filter */

/*
 * Read the items of a filter in ascending order, cut for these chunks, to add them by
 * ckf_edit_add; its `whole` is the result of ckf_prefixes_whole.  Copies are equal items.
 * A saturated group of the filter has 2 b copies for the b of the chunks, so that it stays
 * saturated.
 *
 *     scratch = malloc(ckf_prefixes_scratch(filter))
 *     status = ckf_prefixes_start(prefixes, chunks, filter, scratch);
 *     while (status == CKF_OK && (status = ckf_prefixes_next(prefixes, &items, &n)) == CKF_MORE)
 *         status = add items[0 .. n - 1], which stay until the next call
 */
typedef struct ckf_prefixes ckf_prefixes; /* CKF_PREFIXES_SIZE bytes, aligned to 8 */
#define CKF_PREFIXES_SIZE 512

/* The bytes of scratch that are needed, aligned to 8: up to 8 MB. */
size_t ckf_prefixes_scratch(const ckf_filter *filter);

/*
 * Begin to read a filter.
 * CKF_OK; CKF_SEED_DIFFERS (never with an empty filter); CKF_IS_SET: the filter is a set,
 * empty or not, and the chunks are deletable (a removal could delete another item's only
 * copy); CKF_PRECISION: the filter has less precision than the chunks;
 * CKF_BAD_BYTES: an aggregate's state.
 */
ckf_status ckf_prefixes_start(ckf_prefixes *prefixes, const ckf_chunks *chunks,
							  const ckf_filter *filter, void *scratch);

/* Whether the items are whole hashes. */
bool ckf_prefixes_whole(const ckf_prefixes *prefixes);

/* Read the next items: at most some hundred thousand, in a few milliseconds.  CKF_MORE: n
 * items, n may be 0.  CKF_OK: there are no more. */
ckf_status ckf_prefixes_next(ckf_prefixes *prefixes, const uint64_t **items, size_t *n);

/* ----------------------------------------------------------------- export */

/*
 * Build one filter from all chunks.  An export is a rebuild whose items the host gives, one
 * chunk at a time.  ckf_rebuild_step returns CKF_FEED when it needs a chunk.  The host opens
 * the chunk and gives it to ckf_export_feed, or gives NULL after the last one.  An export
 * reads all chunks several times: to count, to build, and again if a build must be repeated.
 * So the host calls ckf_export_again before each feed.  true: give the first chunk; false:
 * give the chunk after the one given last.
 *
 *     ckf_export_start(rebuild, chunks, first chunk or NULL, added, item_classes, most_bytes)
 *     while ((status = ckf_rebuild_step(rebuild, &buffers)) != CKF_OK)
 *         if (status == CKF_ROOM)       replace each buffer that is too small
 *         else if (status == CKF_FEED)  if (ckf_export_again(rebuild)) go back to the first
 *                                       check ckf_export_feed(rebuild, next chunk)
 *         else if (status == CKF_MORE)  check for interrupts
 *         else                          fail with status
 *
 * If there are at most `capacity` distinct items, each added once (and in a set at most 2^25),
 * the result has the same bytes as that of an aggregate over the same items (CKF_FINISH).
 * Otherwise it gives the same answers as the chunks.  If no table with their parameters can
 * be filled within `most_bytes`, the result has c = 4 and a target rate of 1/16, or buckets
 * of 8 slots, or is a set (FORMAT.md, section 10).
 *
 * `first`: the first chunk; NULL: the table has none.  `added`: the number of items added to a
 * set so far, stored or not; 0: not known, and then the bytes of a set may differ.
 * `item_classes`: the classes of all items that were added, and from bit 8 on the forms of
 * decimals (ckf_number_form).
 *
 * `most_bytes`: the size of the largest filter that the host can keep.  Without a limit,
 * items that share their buckets could lead to a table of any size.  A set whose items need
 * more bytes from the beginning asks for them by CKF_ROOM, and the host refuses it.
 *
 * *chunks must not change until the end, and a chunk that was given until the next CKF_FEED.
 * CKF_OK; later also CKF_BAD_BYTES as from ckf_rebuild_step, and CKF_PRECISION with the cause
 * CKF_CROWDED_HASHES if no table of at most `most_bytes` can be filled.
 */
ckf_status ckf_export_start(ckf_rebuild *rebuild, const ckf_chunks *chunks, const ckf_chunk *first,
							uint64_t added, unsigned item_classes, uint64_t most_bytes);

/* Whether the next chunk to give is the first one. */
bool ckf_export_again(const ckf_rebuild *rebuild);

/* Give the next chunk, or NULL after the last one.  CKF_OK; CKF_BAD_BYTES: its range does not
 * follow the range before, or the ranges do not cover all hashes (NULL). */
ckf_status ckf_export_feed(ckf_rebuild *rebuild, const ckf_chunk *chunk);

#endif
