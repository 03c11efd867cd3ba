/*
 * thresholds.h - numbers at which the engine changes its method.  FORMAT.md names the
 * thresholds that affect stored bytes.  A test build lowers them, so that small inputs
 * reach both sides of each threshold.
 */
#ifndef CKF_THRESHOLDS_H
#define CKF_THRESHOLDS_H

/* Copies up to which adds and merges keep whole hashes (FORMAT.md, section 5). */
#ifndef CKF_MAX_HASHES
#define CKF_MAX_HASHES 4096
#endif

/* The most buckets of a half in a chosen geometry: few enough that a segment stays in a processor's
 * L2 cache while it is built (FORMAT.md, section 5). */
#ifndef CKF_MAX_BUCKETS_BUILT
#define CKF_MAX_BUCKETS_BUILT 32768
#endif

/* If the build of a table with fingerprints up to this length fails, a longer prefix is tried
 * (FORMAT.md, section 7). */
#ifndef CKF_SHORT_TAG
#define CKF_SHORT_TAG 7
#endif

/* A change of at most 1/16 of the copies in the filter is made item by item (FORMAT.md, section 7).
 */
#define CKF_FEW_SHARE 16

/* Places for hashes in the first block of a collector, and in the largest, with the words of its
 * head: 2 kB, and 16 MB, which are sorted in some 20 milliseconds. */
#ifndef CKF_FIRST_BLOCK
#define CKF_FIRST_BLOCK ((uint64_t)1 << 8)
#endif
#ifndef CKF_MOST_BLOCK
#define CKF_MOST_BLOCK ((uint64_t)1 << 21)
#endif

/* From this number of hashes on, the next block of a collector has room for fewer hashes than it
 * has already. */
#ifndef CKF_MANY_KEPT
#define CKF_MANY_KEPT ((uint64_t)1 << 15)
#endif

/* The most hashes that two filters have together if one is merged into the other in place. */
#define CKF_FEW_WORDS 1024

/*
 * Bytes that a chunk of a table may have; past them its range is split.  (Whole hashes may
 * have CKF_CHUNK_MAX.)  Rows of this size cost little beside their chunks, and many share
 * a page, so that not all rows of a page split at once.
 */
#ifndef CKF_CHUNK_LIMIT
#define CKF_CHUNK_LIMIT 720
#endif

/* A sample of items is one in so many, and at least so many. */
#define CKF_SAMPLE_SHARE 16
#ifndef CKF_LEAST_SAMPLE
#define CKF_LEAST_SAMPLE 65536
#endif

/* Items between two returns of a rebuild to its host: a few milliseconds. */
#ifndef CKF_STEP
#define CKF_STEP 65536
#endif

/* Bytes of a table up to which the processor's own cache probably holds it.  Removals from a larger
 * table wait for memory, and so are done in another way. */
#ifndef CKF_MOST_CACHED
#define CKF_MOST_CACHED ((size_t)1 << 21)
#endif

/* The most hashes that are sorted without a partition by their top bits: together with scratch of
 * the same size they fit into a processor's cache. */
#ifndef CKF_LARGEST_PART
#define CKF_LARGEST_PART (1 << 15)
#endif

#endif
