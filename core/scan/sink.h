/*
 * sink.h - fill a new filter with items in ascending order.  The sink is the output of a
 * rebuild.
 */
#ifndef CKF_SINK_H
#define CKF_SINK_H

#include "filter/methods.h"

/* A segment of a table, or of one that is being filled in scratch memory (insert_template.h). */
typedef struct ckf_segment
{
	ckf_filter *t;              /* the geometry; in a table also the bytes */
	const ckf_inverse *inverse; /* in a table */
	uint64_t first;             /* in a table: offset of the segment */
	ckf_access access;          /* in a table: a constant in each call */
	uint32_t *slots32;
	uint64_t *slots64;
	uint8_t *used; /* in scratch: the number of used slots of each bucket */
} ckf_segment;

/* A filter that is being filled. */
typedef struct ckf_build
{
	ckf_filter *t;       /* the target: geometry, and bytes to write */
	uint64_t stored;     /* copies stored so far */
	size_t work;         /* additional work of `put`, in items */
	ckf_segment segment; /* table: the segment that is being filled, in scratch */
	uint64_t number;     /* table: the number of this segment */
} ckf_build;

/* The functions by which a rebuild fills a representation. */
typedef struct ckf_sink
{
	bool cleared; /* the body must be zero before the first item */

	/* The 64-bit words of scratch that are needed; NULL: none. */
	uint64_t (*scratch)(const ckf_filter *to);

	/* Bytes of a target for this number of copies; 0: more than the address space. */
	uint64_t (*size)(const ckf_filter *to, uint64_t copies);

	/* Begin.  build->t is set, all other members are zero.  NULL: nothing to do. */
	void (*start)(ckf_build *build, uint64_t *scratch);

	/* Store n items, cut and aligned for the target.  The items of all calls together
	 * are in ascending order.  Copies are equal items.  false: no room. */
	bool (*put)(ckf_build *build, const uint64_t *items, size_t n);

	/* Write what is left in scratch.  t has its count and size already.  The caller
	 * writes the header.  NULL: nothing is left. */
	void (*end)(ckf_build *build);
} ckf_sink;

#endif
