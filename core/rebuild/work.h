/*
 * work.h - a rebuild under way.
 */
#ifndef CKF_WORK_H
#define CKF_WORK_H

#include "rebuild/goal.h"
#include "rebuild/scan.h"
#include "rebuild/sink.h"

typedef enum ckf_phase
{
	CKF_START, /* the host's memory is there */
	CKF_COUNT, /* read all items, to know how many there will be */
	CKF_CLEAR, /* zero the target */
	CKF_BUILD, /* read all items, and store them */
	CKF_COPY,  /* or copy an input's bytes, */
	CKF_REMOVE /* and take items away from the copy */
} ckf_phase;

struct ckf_rebuild
{
	const ckf_goal_row *row; /* what the goal says */
	ckf_phase phase;
	bool counts;       /* the next pass over the items only counts them */
	bool copies_input; /* no target is better than the input as it is */
	bool unbounded;    /* of chunks: the target may have any number of buckets, up to
						* `most` bytes */
	bool in_order;     /* items come sorted, equal ones side by side */
	bool once;         /* one copy of each prefix is stored */
	uint8_t w;         /* of the items: the least that comes in */
	uint8_t cut_w;     /* to this, all are cut */
	unsigned tries;    /* builds that failed for these items */

	const ckf_filter *in[CKF_MOST_INPUTS];
	unsigned inputs;
	uint64_t items;   /* to be stored: exactly, or at most */
	uint64_t added;   /* of chunks: to a set, stored or not; 0: not known */
	uint64_t most;    /* of chunks: bytes that the host can keep */
	int64_t capacity; /* that was asked for */

	unsigned scans;      /* that read inputs; the others merge */
	unsigned all_scans;  /* both */
	ckf_scan *root;      /* all items that come in, in order; or NULL */
	ckf_scan *removals;  /* what is taken away; or NULL */
	ckf_meeting meeting; /* of two inputs, where they are compared */

	/* The pass over all items. */
	uint64_t last;    /* the item that came last, as it came */
	uint64_t met;     /* the same, at the precision where equal ones count once */
	uint64_t group;   /* the prefix that came last; 0 before the first */
	uint64_t copies;  /* and how often */
	uint64_t passed;  /* items so far, without those that were dropped */
	uint64_t leaving; /* removals: the hash that came last, */
	unsigned came;    /* its copies so far, */
	unsigned taken;   /* and how many are to go */
	size_t worked;    /* in this step, in items */
	uint64_t place;   /* of CKF_CLEAR and CKF_COPY: bytes done */

	ckf_filter to;
	const ckf_sink *sink;
	ckf_build build;

	/* The host's buffers: what they must have, and where they were. */
	size_t dst_size, scratch_size;
	uint64_t scan_words;
	void *dst, *scratch;

	ckf_scan scan[]; /* one for each input, and one less to merge them */
};

/* Whole hashes come in, and may come out. */
CKF_INLINE bool
ckf_is_whole(const ckf_rebuild *r)
{
	return r->w == 64;
}

#endif
