/*
 * sink.h - fill a new filter with items in ascending order: the other end of a
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
	size_t worked;       /* what puts cost beyond the items themselves, in items */
	uint64_t next;       /* not of a table: the next word */
	ckf_segment segment; /* of a table: the one being filled, in scratch, */
	uint64_t number;     /* and its number */
} ckf_build;

/* What a representation brings, to be filled by a rebuild. */
typedef struct ckf_sink
{
	/* 64-bit words of scratch. */
	uint64_t (*scratch)(const ckf_filter *to);

	/* Bytes of a target that is to hold so many copies; 0: too many for the
	 * memory of this machine. */
	uint64_t (*size)(const ckf_filter *to, uint64_t copies);

	/* Must the body be zero before? */
	bool (*cleared)(const ckf_filter *to);

	/* Begin; build->t is set, the rest is zero. */
	void (*start)(ckf_build *build, uint64_t *scratch);

	/* Store n items, cut and aligned for the target: ascending, and none below one
	 * that came before.  Copies are equal items.  false: no room. */
	bool (*put)(ckf_build *build, const uint64_t *items, size_t n);

	/* Write what is still in scratch.  t has its count and size; the caller
	 * writes the header. */
	void (*end)(ckf_build *build);
} ckf_sink;

/* Store items as words, from build->next on.  false: they are more than `words`. */
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
