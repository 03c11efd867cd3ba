/*
 * methods.h - the functions that look up and change items.  Each encoding, and each
 * kind of table on this machine, has its own ckf_methods; ckf_derive chooses one.
 */
#ifndef CKF_METHODS_H
#define CKF_METHODS_H

#include "filter/words.h"

/*
 * How a table's buckets are read and written.  It depends on the geometry and on the
 * processor.  Functions with an access argument get a constant and are always inline,
 * so the compiler makes a version for each access, without branches on it.
 */
typedef enum ckf_access
{
	CKF_BY_SLOT,       /* wide buckets, plain or semi-sorted: several loads */
	CKF_BY_WORD,       /* plain; one load has the whole bucket */
	CKF_BY_BYTES,      /* the same, and all buckets begin with a byte: no shift */
	CKF_BY_SEMI,       /* semi-sorted; one load has the whole bucket */
	CKF_BY_PDEP,       /* the same, where the processor's pdep is fast */
	CKF_BY_PDEP_BYTES, /* the same, and all buckets begin with a byte */
} ckf_access;

CKF_INLINE bool
ckf_is_semi(ckf_access access)
{
	return access >= CKF_BY_SEMI;
}

CKF_INLINE bool
ckf_is_bytes(ckf_access access)
{
	return access == CKF_BY_BYTES || access == CKF_BY_PDEP_BYTES;
}

/* The alignment of all buckets, in bits: the largest power of two, at most 8, that divides
 * the bits of a bucket. */
CKF_INLINE unsigned
ckf_bucket_alignment(const ckf_filter *t)
{
	return (t->bucket_bits | 8) & (0U - (t->bucket_bits | 8));
}

/* Whether one load reads a whole bucket, even if the bucket begins inside a byte. */
CKF_INLINE bool
ckf_bucket_is_word(const ckf_filter *t)
{
	return t->bucket_bits + 8 - ckf_bucket_alignment(t) <= 64 && t->b * t->f <= 64;
}

/* contains_many prefetches the buckets of a hash this many hashes before it reads them, so that
 * they arrive in the cache meanwhile. */
#define CKF_AHEAD 16

struct ckf_scan;

typedef struct ckf_methods
{
	ckf_access access; /* of a table; other encodings have none */
	bool (*contains)(const ckf_filter *t, uint64_t hash);
	size_t (*contains_many)(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out);
	unsigned (*copies)(const ckf_filter *t, uint64_t hash);
	/* a lookup by steps (ckf_lookup_cursor): set the first bytes that it needs; continue with them
	 */
	ckf_status (*lookup_start)(const ckf_filter *t, ckf_lookup_cursor *lookup);
	ckf_status (*lookup_step)(const ckf_filter *t, ckf_lookup_cursor *lookup, const uint8_t *bytes);
	ckf_status (*add)(ckf_filter *t, uint64_t hash);
	ckf_status (*remove)(ckf_filter *t, uint64_t hash, bool *found);
	ckf_status (*check)(const ckf_filter *t, ckf_check *check); /* ckf_check_step */
	const struct ckf_source *source; /* how a rebuild reads it (scan.h) */
	const struct ckf_sink *sink;     /* how a rebuild fills it (sink.h) */
} ckf_methods;

/* Set the members of ckf_filter that are internal to the engine, from the fields of the header.
 * Call it after every change of a filter's geometry. */
void ckf_derive(ckf_filter *t);

/* ------------------------------------------------------------- sorted words (small/) */

extern const ckf_methods ckf_sorted_methods;

/* -------------------------------------------------------------------- tables (table/) */

/* The methods for a table of this geometry on this processor. */
const ckf_methods *ckf_table_methods(const ckf_filter *t);

/* Whether the processor has a fast pdep instruction.  In a build with CKF_TEST_BUILD, it is false
 * if the environment has CUCKOOFILTER_PORTABLE=1. */
bool ckf_use_pdep(void);

extern const struct ckf_source ckf_table_source;
extern const struct ckf_sink ckf_table_sink;

/* Verify that each tag is possible in its bucket, and that the count is right. */
ckf_status ckf_table_check(const ckf_filter *t, ckf_check *check);

ckf_status ckf_table_lookup_start(const ckf_filter *t, ckf_lookup_cursor *lookup);
ckf_status ckf_table_lookup_step(const ckf_filter *t, ckf_lookup_cursor *lookup,
								 const uint8_t *bytes);

#endif
