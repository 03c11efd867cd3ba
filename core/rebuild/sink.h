/*
 * sink.h - fill a new filter with items in ascending order: the other end of a
 * rebuild.
 */
#ifndef CKF_SINK_H
#define CKF_SINK_H

#include "table/insert_template.h"

/* Items that come to a target together, so that neither it nor the pass over them
 * keeps its place in memory between two. */
#define CKF_GROUPS 512

/* Ascending items, each once, and how many copies of each to store. */
typedef struct ckf_groups
{
	size_t n;
	uint64_t item[CKF_GROUPS];
	uint8_t copies[CKF_GROUPS];
} ckf_groups;

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

	/* Store items, which are higher than any before, and cut and aligned for the
	 * target.  false: no room. */
	bool (*put)(ckf_build *build, const ckf_groups *groups);

	/* Write what is still in scratch.  t has its count and size; the caller
	 * writes the header. */
	void (*end)(ckf_build *build);
} ckf_sink;

/* Store items as words, from build->next on.  false: they are more than `words`. */
CKF_INLINE bool
ckf_put_words(ckf_build *build, uint8_t *to, uint64_t words, const ckf_groups *groups)
{
	uint64_t next = build->next;
	size_t i;

	for (i = 0; i < groups->n; i++)
	{
		unsigned copies = groups->copies[i];

		if (words - next < copies)
			return false;
		for (; copies > 0; copies--)
			ckf_store64(to + 8 * next++, groups->item[i]);
	}
	build->next = next;
	return true;
}

#endif
