/*
 * thresholds.h - numbers at which the engine changes its way.  FORMAT.md names
 * those that bytes depend on.  A test build lowers them, so that small inputs
 * reach both sides of each.
 */
#ifndef CKF_THRESHOLDS_H
#define CKF_THRESHOLDS_H

/* Copies up to which adds and merges keep whole hashes (FORMAT.md, section 5). */
#ifndef CKF_MAX_HASHES
#define CKF_MAX_HASHES 4096
#endif

/* Buckets in a segment's half where we choose: few enough that a segment stays
 * in a processor's L2 cache while it is built (FORMAT.md, section 5). */
#ifndef CKF_MAX_BUCKETS_BUILT
#define CKF_MAX_BUCKETS_BUILT 32768
#endif

/* Distinct items of a state that becomes a set, past which it is cut
 * (FORMAT.md, section 7). */
#ifndef CKF_MOST_WHOLE
#define CKF_MOST_WHOLE (UINT64_C(1) << 25)
#endif

/* A failing table of fingerprints up to this length gives way to a longer prefix
 * (FORMAT.md, section 7). */
#ifndef CKF_SHORT_TAG
#define CKF_SHORT_TAG 7
#endif

/* A change of at most this part of the copies that are there is made item by
 * item (FORMAT.md, section 7). */
#define CKF_FEW_SHARE 16

/* Words of a state, from which it is a log: past that a set leaves a
 * processor's cache, and each insert would wait for memory. */
#ifndef CKF_LARGEST_SET
#define CKF_LARGEST_SET 32768
#endif

/* Bytes of a log, past which its sorted part becomes a table where it may. */
#ifndef CKF_LARGE_LOG
#define CKF_LARGE_LOG ((uint64_t)64 << 20)
#endif

/* Bytes that a state does not pass as long as it can: PostgreSQL's values end at 1 GB, and
 * so does a row in which a worker sends it, beside the columns of its group. */
#ifndef CKF_LARGEST_STATE
#define CKF_LARGEST_STATE (((uint64_t)1 << 30) - 65536)
#endif

/* Words of scratch on the stack, for merging a few items into a state. */
#define CKF_FEW_WORDS 1024

/*
 * Bytes that a chunk of a table may have; past them its range is split.  (Whole hashes may
 * have CKF_CHUNK_MAX.)  Rows of this size cost little beside their chunks, and many share
 * a page, so that not all rows of a page split at once.
 */
#ifndef CKF_CHUNK_LIMIT
#define CKF_CHUNK_LIMIT 720
#endif

/* Items between two returns of a rebuild to its host: a few milliseconds. */
#ifndef CKF_STEP
#define CKF_STEP 65536
#endif

/* Hashes that are sorted in one go. */
#ifndef CKF_LARGEST_PART
#define CKF_LARGEST_PART (1 << 18)
#endif

#endif
