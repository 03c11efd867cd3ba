/*
 * operations.h - how items are found and changed: the functions that an encoding,
 * or a shape of table on this machine, brings.  A new one brings a ckf_operations
 * of its own, which ckf_derive chooses.
 */
#ifndef CKF_OPERATIONS_H
#define CKF_OPERATIONS_H

#include "cuckoofilter.h"

/* How a table's buckets are read.  A constant wherever it is an argument, so
 * that the compiler makes a version for each. */
typedef enum ckf_access
{
	CKF_BY_SLOT,       /* several loads */
	CKF_BY_WORD,       /* plain, one load */
	CKF_BY_BYTES,      /* the same, from a byte's first bit on */
	CKF_BY_SEMI,       /* semi-sorted, one load */
	CKF_BY_PDEP,       /* the same, where pdep is fast */
	CKF_BY_PDEP_BYTES, /* both */
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

/* Hashes between the one whose buckets are fetched and the one that is asked. */
#define CKF_AHEAD 16

typedef struct ckf_operations
{
	ckf_access access; /* of a table */
	bool (*contains)(const ckf_filter *t, uint64_t hash);
	size_t (*contains_many)(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out);
	unsigned (*copies)(const ckf_filter *t, uint64_t hash);
	ckf_status (*add)(ckf_filter *t, uint64_t hash);
	ckf_status (*remove)(ckf_filter *t, uint64_t hash, bool *found);
	ckf_status (*check)(const ckf_filter *t, ckf_check *check); /* ckf_check_step */
	const struct ckf_source *source; /* how a rebuild reads it (scan.h) */
	const struct ckf_sink *sink;     /* how a rebuild fills it (sink.h) */
} ckf_operations;

extern const ckf_operations ckf_sorted_hashes_operations; /* hashes.c */
extern const ckf_operations ckf_set_operations;           /* set.c */
extern const ckf_operations ckf_log_operations;           /* log.c */

/* Those for a table of this geometry, on this machine (table.c). */
const ckf_operations *ckf_table_operations(const ckf_filter *t);

#endif
