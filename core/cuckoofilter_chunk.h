/*
 * cuckoofilter_chunk.h - a large filter cut into chunks, which a host keeps as
 * the rows of a table of its own: a question reads one row, and an added item
 * writes one.
 *
 * A chunk has the items of one range of hashes, those that share their top
 * `depth` bits, and is a small filter over the bits that follow.  The ranges
 * of all chunks together are all hashes, and none overlap.  Where a chunk is
 * full it splits by its next bit, and no other changes.  A table without items
 * may have no chunk at all.  What belongs to the whole - parameters, the number
 * of copies, the classes of the items - the host keeps where it likes.
 *
 * The contracts of cuckoofilter.h hold here, too.  "Items" below are hashes or,
 * where it says so, aligned prefixes: the top bits of hashes, shifted to the
 * left of 64 bits.  FORMAT.md, section 10, has a chunk's bytes.
 */
#ifndef CUCKOOFILTER_CHUNK_H
#define CUCKOOFILTER_CHUNK_H

#include "cuckoofilter.h"

/* No chunk has more bytes; most have some hundred. */
#define CKF_CHUNK_MAX 4056

/* No range is smaller than that of so many bits. */
#define CKF_CHUNK_MAX_DEPTH 55

/* ------------------------------------------------------------- parameters */

/*
 * What all chunks of one table share.  It is a function of the parameters, so it
 * is computed and never stored.  Plain data; the engine's own, but for the members
 * that say otherwise.  Every ckf_chunk keeps a pointer to it.
 */
typedef struct ckf_chunks
{
	ckf_filter like;     /* parameters; precision w, c, b and layout of each chunk's table */
	ckf_filter exact;    /* the same, of whole hashes */
	uint64_t check;      /* a hash of what a chunk's bytes depend on */
	uint32_t most_whole; /* copies up to which the first chunk keeps whole hashes */

	/* To be read by the host: */
	uint64_t max_count; /* with so many copies the rate has reached its limit (8 times the
						 * target, or 3 %): refuse to add then, by CKF_PRECISION.  Nothing
						 * breaks past it but the rate. */

	/* To be set by the host, who knows how its rows are stored.  Where a table is built
	 * from nothing or packed, chunks are made to fill pages: so many bytes of a page are
	 * for rows, so many a row takes besides its chunk, and so many are better left free,
	 * for chunks to grow.  ckf_chunks_init sets 0: pages do not matter. */
	uint32_t page_room;
	uint32_t row_room;
	uint32_t page_slack;
} ckf_chunks;

/* Errors as ckf_create. */
ckf_status ckf_chunks_init(ckf_chunks *chunks, const ckf_params *params);

/* The rate to expect with so many copies in the table. */
double ckf_chunks_fpr(const ckf_chunks *chunks, uint64_t count);

/* Items up to which the precision of the chunks keeps the target rate: the capacity or more.
 * A filter of this capacity and rate is precise enough to be merged (ckf_prefixes_start). */
int64_t ckf_chunks_capacity(const ckf_chunks *chunks);

/* Where a table has max_count or more copies: why no more are added (CKF_FULL). */
void ckf_chunks_refusal(const ckf_chunks *chunks, uint64_t count, ckf_refusal *refusal);

/* ----------------------------------------------------------------- chunks */

/* The row of a chunk: the beginning of its range as a signed integer, in the same
 * order.  That of the first chunk is INT64_MIN. */
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

/* The last hash of the range that begins at `start`, which has 64 - depth bits. */
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
	uint8_t kind;     /* the engine's own */
	uint8_t width;    /* of a list's items, in bits: the engine's own */
	uint8_t depth;    /* bits that all hashes of the range share */
	uint32_t count;   /* copies stored, as the bytes tell */
	uint64_t start;   /* the range's first hash */
	uint64_t last;    /* and its last one */
	ckf_filter table; /* the engine's own; of a list only its parameters */
} ckf_chunk;

/*
 * Open a chunk, which is to validate it; the only door, and cheap (some tens of
 * nanoseconds).  It notices bytes that have changed, that belong to another row, or
 * to a table of other parameters, by a check of 24 bits; and whatever bytes it
 * accepts, forged ones too, all calls on them end and stay within them, though their
 * answers may be wrong.  Count, depth and the length of what lies in the bytes are
 * consistent with each other then; that each slot may hold what it does, and that
 * the count is that of the slots, only ckf_chunk_check tells.
 * CKF_BAD_BYTES.
 */
ckf_status ckf_chunk_open(ckf_chunk *chunk, const ckf_chunks *chunks, uint64_t start,
						  const void *bytes, size_t size);

/* Does the chunk's range have the hash?  The calls below that take one hash answer as
 * for an item that is not there where it has not. */
static inline bool
ckf_chunk_covers(const ckf_chunk *chunk, uint64_t hash)
{
	return hash >= chunk->start && hash <= chunk->last;
}

/* Is it in?  false: certainly not. */
bool ckf_chunk_contains(const ckf_chunk *chunk, uint64_t hash);

/* Copies stored of the hash's prefix: 0 .. 2 b. */
unsigned ckf_chunk_copies(const ckf_chunk *chunk, uint64_t hash);

/* Are its items whole hashes?  Else they are prefixes of like.w bits. */
static inline bool
ckf_chunk_is_whole(const ckf_chunk *chunk)
{
	return chunk->width == 64;
}

/* How many distinct items are in it: prefixes, or whole hashes.  `scratch` has
 * CKF_CHUNK_DISTINCT_SCRATCH bytes, aligned to 8. */
#define CKF_CHUNK_DISTINCT_SCRATCH ((size_t)176 << 10)
size_t ckf_chunk_distinct(const ckf_chunk *chunk, void *scratch);

/* Could we have written these bytes?  Looks at every item: that it may lie where it
 * does, in its range, and that their number is the count.  CKF_OK, CKF_BAD_BYTES. */
ckf_status ckf_chunk_check(const ckf_chunk *chunk);

/* ------------------------------------------------------------------ edits */

/*
 * Whatever changes chunks is an edit: it reads one chunk, or several, and writes what
 * takes their place.
 *
 *     ckf_edit *edit = malloc(CKF_EDIT_SIZE);               serves many edits
 *     uint8_t out[CKF_CHUNK_MAX];
 *
 *     status = ckf_edit_add(edit, chunks, &chunk, items, n, true, &taken);
 *     while (status == CKF_OK && (status = ckf_edit_next(edit, out, &part)) == CKF_MORE)
 *     {
 *         write row (ckf_chunk_id(part.start), out, part.size)
 *         status = CKF_OK;
 *     }
 *     total += ckf_edit_stored(edit)
 *
 * The parts come in ascending order; their ranges together are those of the chunks
 * that were read.  So the first part has the row of the chunk that was read, and takes
 * its place; the others are new.  Where nothing has changed there are no parts.
 *
 * An opened chunk is read by the call that takes it; its bytes may go afterwards.
 * Arrays of items must stay as they are until the last part came.
 */
typedef struct ckf_edit ckf_edit; /* CKF_EDIT_SIZE bytes from an allocator, aligned to 8 */
#define CKF_EDIT_SIZE ((size_t)512 << 10)

typedef struct ckf_chunk_part
{
	uint64_t start;
	unsigned depth;
	size_t size;
	uint64_t count; /* copies in it */
} ckf_chunk_part;

/*
 * Add one copy of each of n items, which are in ascending order and may be equal.
 * `chunk` has the range of the first one at least; NULL: there is no chunk yet, and
 * all items are taken.  *taken tells how many were: those in the range, from the first
 * on.  `whole`: they are whole hashes, as a host's own always are; else aligned
 * prefixes, cut for these chunks (ckf_prefixes_next).
 *
 * A copy of an item of which a set has one, or of which there are 2 b already, stores
 * nothing.  Nothing is refused, and nothing lost: chunks->max_count is for the host to
 * mind.  CKF_OK, CKF_BAD_BYTES (damaged chunk, or items out of order).
 */
ckf_status ckf_edit_add(ckf_edit *edit, const ckf_chunks *chunks, const ckf_chunk *chunk,
						const uint64_t *items, size_t n, bool whole, size_t *taken);

/*
 * Take one copy away of each of n hashes in ascending order, where there is one and
 * the group is not saturated.  `chunk` and *taken as above.
 * CKF_OK, CKF_IS_SET, CKF_BAD_BYTES.
 */
ckf_status ckf_edit_remove(ckf_edit *edit, const ckf_chunks *chunks, const ckf_chunk *chunk,
						   const uint64_t *hashes, size_t n, size_t *taken);

/*
 * Pack: write all chunks anew, each as small as may be, and neighbours together where
 * they fit.  ckf_edit_next asks for the chunks by CKF_FEED, one after the other from
 * the table's first on; the host opens the next, gives it to ckf_edit_feed, and
 * deletes its row; or gives NULL where the table has none.  Each part is a new row: of the
 * rows that were fed none is left in its range.  Nothing is asked again, and so all
 * may be done in one pass; between two calls the host may look for interrupts.
 */
ckf_status ckf_edit_pack(ckf_edit *edit, const ckf_chunks *chunks);

/* CKF_OK; CKF_BAD_BYTES: the chunk is damaged, or its range does not follow that of
 * the one before, or there is none (NULL) though the ranges so far are not all; or
 * none was asked for. */
ckf_status ckf_edit_feed(ckf_edit *edit, const ckf_chunk *chunk);

/* Write the next part to `out`, which has CKF_CHUNK_MAX bytes.  CKF_MORE: *part tells
 * which it is.  CKF_OK: there are no more.  CKF_FEED: see ckf_edit_pack.
 * CKF_BAD_BYTES. */
ckf_status ckf_edit_next(ckf_edit *edit, void *out, ckf_chunk_part *part);

/* Once all parts came: copies that the edit has stored more than there were before; of
 * removals, less (a negative number).  Where whole hashes become prefixes some copies
 * may go: those past 2 b of one prefix, or in a set past one. */
int64_t ckf_edit_stored(const ckf_edit *edit);

/* --------------------------------------------- a filter's items, to be added */

/*
 * The items of a filter in ascending order, cut for these chunks, copies as equal
 * items: for ckf_edit_add, `whole` where ckf_prefixes_whole says so.  A saturated group of
 * the filter comes with 2 b copies of the chunks' b, so that it stays saturated.
 *
 *     scratch = malloc(ckf_prefixes_scratch(filter))
 *     status = ckf_prefixes_start(prefixes, chunks, filter, scratch);
 *     while (status == CKF_OK && (status = ckf_prefixes_next(prefixes, &items, &n)) == CKF_MORE)
 *         status = add items[0 .. n - 1], which stay until the next call
 */
typedef struct ckf_prefixes ckf_prefixes; /* CKF_PREFIXES_SIZE bytes, aligned to 8 */
#define CKF_PREFIXES_SIZE 512

/* Bytes of scratch, aligned to 8: up to 8 MB. */
size_t ckf_prefixes_scratch(const ckf_filter *filter);

/*
 * CKF_OK; CKF_SEED_DIFFERS (never with a filter without items); CKF_IS_SET: the filter is
 * a set, with items or without, and the chunks are deletable (a removal could take away
 * another item's only copy); CKF_PRECISION: the filter knows less of its items than the
 * chunks ask, see ckf_prefixes_refusal; CKF_BAD_BYTES: an aggregate's state.
 */
ckf_status ckf_prefixes_start(ckf_prefixes *prefixes, const ckf_chunks *chunks,
							  const ckf_filter *filter, void *scratch);

/* Are they whole hashes? */
bool ckf_prefixes_whole(const ckf_prefixes *prefixes);

/* CKF_MORE: the next ones, at most some hundred thousand, in a few milliseconds; n may
 * be 0.  CKF_OK: there are none. */
ckf_status ckf_prefixes_next(ckf_prefixes *prefixes, const uint64_t **items, size_t *n);

/* After CKF_PRECISION: CKF_COARSE, input 0 being the filter, the limit what the chunks'
 * precision is worth; capacity: up to which the filter keeps its own target rate. */
void ckf_prefixes_refusal(const ckf_chunks *chunks, const ckf_filter *filter, uint64_t count,
						  ckf_refusal *refusal);

/* ----------------------------------------------------------------- export */

/*
 * All chunks as one filter: a rebuild whose items the host brings, chunk by chunk.
 * ckf_rebuild_step returns CKF_FEED where it needs the next chunk: the host gives it,
 * opened, to ckf_export_feed, or NULL where the table has none.  It reads all chunks several
 * times (to count, to build; again where a build has to begin anew), so before each
 * feed ckf_export_again tells whether the table's first chunk is meant, else that
 * which follows the one fed last.
 *
 *     ckf_export_start(rebuild, chunks, first chunk or NULL, added, item_classes, most_bytes)
 *     while ((status = ckf_rebuild_step(rebuild, &buffers)) != CKF_OK)
 *         if (status == CKF_ROOM)       replace each buffer that is too small
 *         else if (status == CKF_FEED)  if (ckf_export_again(rebuild)) go back to the first
 *                                       check ckf_export_feed(rebuild, next chunk)
 *         else if (status == CKF_MORE)  look for interrupts
 *         else                          fail with status
 *
 * The result is that of ckf_rebuild's CKF_FINISH of an aggregate over the same items,
 * byte for byte, while there are at most `capacity` distinct ones, each added once
 * (a set: and at most 2^25).  Else it answers as the chunks do; where no table like theirs
 * can be filled within `most_bytes`, it has c = 4 and a target rate of 1/16, or buckets of 8
 * slots, or is a set (FORMAT.md, section 10).
 *
 * `first`: the table's first chunk; NULL: it has none.  `added`: for a set, the number
 * of items added so far, stored or not; 0: not known (then a set may differ in bytes).
 * `item_classes`: of all items that were added.  `most_bytes`: of the largest filter that the
 * host can keep.  No larger table is tried: items whose hashes crowd could need one of any
 * size.  Only a set that has more bytes before anything crowds is asked for at CKF_ROOM, and
 * the host refuses it.  *chunks and what was fed must stay as they are: the former until the
 * end, the latter until the next CKF_FEED.
 * CKF_OK; later CKF_BAD_BYTES, as ckf_rebuild_step, and CKF_PRECISION where no table of at
 * most `most_bytes` could be filled: ckf_rebuild_refusal then tells CKF_CROWDED_HASHES.
 */
ckf_status ckf_export_start(ckf_rebuild *rebuild, const ckf_chunks *chunks, const ckf_chunk *first,
							uint64_t added, unsigned item_classes, uint64_t most_bytes);

bool ckf_export_again(const ckf_rebuild *rebuild);

/* CKF_OK; CKF_BAD_BYTES: its range does not follow that of the one before, or there is
 * none (NULL) though the ranges so far are not all. */
ckf_status ckf_export_feed(ckf_rebuild *rebuild, const ckf_chunk *chunk);

#endif
