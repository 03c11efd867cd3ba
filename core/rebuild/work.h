/*
 * work.h - a rebuild under way.
 */
#ifndef CKF_WORK_H
#define CKF_WORK_H

#include "rebuild/scan.h"
#include "rebuild/sink.h"

/* Two inputs, of at most two parts each; and what merges those scans. */
#define CKF_MOST_SCANS (2 * CKF_SCANS_OF_ONE)
#define CKF_MOST_MERGES (CKF_MOST_SCANS - 1)

typedef enum ckf_phase
{
	CKF_PRESORT, /* sort what comes unsorted */
	CKF_COUNT,   /* read all items, to know how many there will be */
	CKF_CLEAR,   /* zero the target */
	CKF_BUILD,   /* read all items, and store them */
	CKF_COPY,    /* or copy an input's bytes, */
	CKF_REMOVE   /* and take items away from the copy */
} ckf_phase;

struct ckf_rebuild
{
	ckf_goal goal;
	ckf_phase phase;
	bool counts;       /* the next pass over the items only counts them */
	bool counted;      /* `items` is exact */
	bool whole;        /* whole hashes come in, and may come out */
	bool no_table;     /* a state's items do not fit into a table */
	bool in_order;     /* items come sorted, equal ones side by side */
	bool appends;      /* a log takes the items as they come, in place */
	bool copies_input; /* no target is better than the input as it is */
	bool unbounded; /* of chunks: the target may have any number of buckets, up to `most` bytes */

	/* How copies are counted: `distinct` drops those of one item, told apart at
	 * the precision meet_w, before a prefix counts its items; `once` then
	 * stores one of each prefix. */
	bool distinct, once;
	uint8_t meet_w;
	uint8_t cut_w; /* to this, all are cut */

	const ckf_filter *in[2];
	unsigned inputs;
	uint64_t items;   /* to be stored: exactly, or at most */
	uint64_t added;   /* of chunks: to a set, stored or not; 0: not known */
	uint64_t most;    /* of chunks: bytes that the host can keep */
	int64_t capacity; /* that was asked for */
	uint8_t w;        /* of the items: the least that comes in, or to which they are cut */
	unsigned tries;   /* builds that failed for these items */

	unsigned scans;      /* that read inputs; the others merge */
	unsigned all_scans;  /* both */
	ckf_scan *root;      /* all items that come in, in order; or NULL */
	ckf_scan *removals;  /* what is taken away; or NULL */
	ckf_meeting meeting; /* of two inputs, where they are compared */

	/* The pass over all items. */
	uint64_t last;    /* the item that came last, as it came */
	uint64_t met;     /* the same, at meet_w */
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

	ckf_scan scan[CKF_MOST_SCANS + CKF_MOST_MERGES];
};

#endif
