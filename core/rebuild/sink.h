/*
 * sink.h - fill a new filter with items in ascending order.  The sink is the output of a
 * rebuild.
 */
#ifndef CKF_SINK_H
#define CKF_SINK_H

#include "table/insert_template.h"

/* A filter that is being filled. */
typedef struct ckf_build
{
	ckf_filter *t;       /* the target: geometry, and bytes to write */
	uint64_t stored;     /* copies stored so far */
	size_t work;         /* additional work of `put`, in items */
	uint64_t next;       /* hashes: the next word */
	ckf_segment segment; /* table: the segment that is being filled, in scratch */
	uint64_t number;     /* table: the number of this segment */
} ckf_build;

/* The functions by which a rebuild fills a representation. */
typedef struct ckf_sink
{
	/* The 64-bit words of scratch that are needed. */
	uint64_t (*scratch)(const ckf_filter *to);

	/* Bytes of a target for this number of copies; 0: more than the address space. */
	uint64_t (*size)(const ckf_filter *to, uint64_t copies);

	/* Whether the body must be zero before `start`. */
	bool (*cleared)(const ckf_filter *to);

	/* Begin.  build->t is set, all other members are zero. */
	void (*start)(ckf_build *build, uint64_t *scratch);

	/* Store n items, cut and aligned for the target.  The items of all calls together
	 * are in ascending order.  Copies are equal items.  false: no room. */
	bool (*put)(ckf_build *build, const uint64_t *items, size_t n);

	/* Write what is left in scratch.  t has its count and size already.  The caller
	 * writes the header. */
	void (*end)(ckf_build *build);
} ckf_sink;

/* Store items as words, from build->next on.  false: they would exceed `words`. */
CKF_INLINE bool
ckf_put_words(ckf_build *build, uint8_t *to, uint64_t words, const uint64_t *items, size_t n)
{
	size_t i;

	if (words - build->next < n)
		return false;
	for (i = 0; i < n; i++)
		ckf_store64(to + 8 * (build->next + i), items[i]);
	build->next += n;
	return true;
}

#endif
