/*
 * work.h - the state of a rebuild in progress, and the parts that work on it.
 */
#ifndef CKF_WORK_H
#define CKF_WORK_H

#include "rebuild/operation.h"
#include "scan/scan.h"
#include "scan/sink.h"

typedef enum ckf_phase
{
	CKF_START, /* wait until the host has provided the memory, then begin */
	CKF_COUNT, /* read and count all items */
	CKF_CLEAR, /* zero the target, if its sink needs that */
	CKF_BUILD, /* read and store all items */
	CKF_COPY,  /* copy the bytes of the first input */
	CKF_REMOVE /* remove items from the copy, if there are removals */
} ckf_phase;

struct ckf_rebuild
{
	const ckf_operation_row *row; /* the properties of the operation */
	ckf_phase phase;
	bool counts;       /* the next pass over the items only counts them */
	bool samples;      /* that pass counts only a sample, and `items` becomes an estimate */
	bool copies_input; /* the result begins as a copy of the first input */
	bool unbounded;    /* chunks: the target may have any number of buckets, up to
						* `most` bytes */
	bool in_order;     /* items come in ascending order; else only their segments do (growth) */
	bool deduplicated; /* one copy of each prefix is stored */
	uint8_t w;         /* precision of the items: the least of all inputs */
	uint8_t cut_w;     /* precision to which this pass cuts the items */
	unsigned tries;    /* builds that failed for these items */

	const ckf_filter *in[CKF_MOST_INPUTS];
	unsigned inputs;
	uint64_t items;           /* items to store: the exact number, an upper bound, or an estimate */
	uint64_t added;           /* chunks of a set: items added, stored or not; 0: not known */
	uint64_t most;            /* chunks: bytes of the largest filter that the host can keep */
	int64_t capacity;         /* the requested capacity */
	const ckf_filter *before; /* growth amid a batch: the filter before the batch */
	uint64_t more;            /* growth amid a batch: its items */

	unsigned scans;                /* scans that read an input */
	unsigned all_scans;            /* these, and the scans that merge others */
	ckf_scan *root;                /* the scan of all items in order; or NULL */
	ckf_scan *removals;            /* the scan of the hashes to remove; or NULL */
	ckf_intersection intersection; /* operations that compare two inputs */

	/* The pass over all items. */
	uint64_t last;          /* the last item, before it was cut */
	uint64_t distinct_last; /* operations of distinct items: the last item, cut to w */
	uint64_t group;         /* the last prefix, cut to cut_w; 0 before the first */
	uint64_t copies;        /* copies of this prefix so far */
	uint64_t passed;        /* operations of distinct items: distinct items so far */
	uint64_t read;          /* counting: items read so far, with those that are not stored */
	uint64_t removal;       /* removals: the last hash of the input */
	unsigned removal_seen;  /* removals: copies of that hash read so far */
	unsigned removal_due;   /* removals: copies of that hash to remove */
	size_t work;            /* work done in this step, in items */
	uint64_t done;          /* CKF_CLEAR and CKF_COPY: bytes done */

	ckf_filter to;
	ckf_build build;

	/* The host's buffers: the requested sizes, and the addresses at the last step. */
	size_t dst_size, scratch_size;
	uint64_t scan_words;
	void *dst, *scratch;

	ckf_scan scan[]; /* one for each input, and one less to merge them */
};

/* Whether the items are whole hashes. */
CKF_INLINE bool
ckf_is_whole(const ckf_rebuild *r)
{
	return r->w == 64;
}

/* -------------------------------------------------------------------- inputs.c: the scans */

/* Make the scans of r->in.  r->root becomes the scan of all items in order, or NULL if there are
 * none; r->removals that of the hashes to remove. */
void ckf_scan_inputs(ckf_rebuild *r);

/* Assign the host's scratch to all scans. */
void ckf_place_scans(ckf_rebuild *r, uint64_t *scratch);

/* ------------------------------------------------ pass.c: all items are counted or stored */

/* Begin with the first item. */
void ckf_pass_start(ckf_rebuild *r);

/* Count or store a piece of a block.  CKF_OK: there are no more items, or the sample is counted;
 * CKF_MORE; CKF_ROOM: the target is full; CKF_BAD_BYTES. */
ckf_status ckf_pass_piece(ckf_rebuild *r);

/* Remove a block of hashes from the copy of a table.  CKF_OK: there are no more. */
ckf_status ckf_pass_removals(ckf_rebuild *r);

/* ----------------------------------------- target.c: what is built (FORMAT.md, section 5) */

/* Set the target's parameters, its kind, and how copies are counted.  The items have not been
 * read yet.  CKF_SEED_DIFFERS, CKF_OLD_ITEMS. */
ckf_status ckf_target_start(ckf_rebuild *r, ckf_operation operation);

/* Whether the items must be counted before ckf_target_choose. */
bool ckf_target_counts(const ckf_rebuild *r);

/* Choose r->to for r->items.  CKF_MORE: the parameters have changed, count the
 * items again.  CKF_PRECISION: no target is possible. */
ckf_status ckf_target_choose(ckf_rebuild *r);

/* Choose a larger target, after one could not place all items.  CKF_MORE: the parameters have
 * changed, count the items again.  CKF_PRECISION: no target is possible.  CKF_BAD_BYTES: the
 * input has more items than its header says. */
ckf_status ckf_target_enlarge(ckf_rebuild *r);

/* -------------------- fallback.c: relaxed parameters of an export (FORMAT.md, section 10) */

/*
 * Relax the parameters of r->to, whose table cannot be filled.  The items must be counted
 * again.  `short_tags`: the table is impossible because f would be below c.
 * false: nothing more can be relaxed.
 */
bool ckf_fall_back(ckf_rebuild *r, bool short_tags);

#endif
