/*
 * work.h - a job under way, in the room that ckf_job has for it.
 */
#ifndef CKF_WORK_H
#define CKF_WORK_H

#include "rebuild/build.h"
#include "rebuild/walk.h"

typedef struct ckf_work
{
	ckf_goal goal;
	bool counting; /* the first walk of two */
	bool started;  /* streams and build are under way in the host's buffers */
	bool once;     /* a prefix is stored once, however often it comes */
	bool cut;      /* prefixes are cut to the target's w */
	bool in_order; /* items come sorted, equal ones side by side */
	bool whole;    /* whole hashes come in, and may come out */
	bool copy;     /* no target is better than the input's own bytes */
	unsigned inputs;
	unsigned tries;
	uint64_t items;  /* to be stored, as far as known */
	uint64_t last;   /* the item walked last */
	uint64_t group;  /* the prefix that came last; 0 before the first */
	uint64_t copies; /* and how often */
	uint64_t walked; /* items so far */
	const ckf_filter *in[2];
	ckf_walk walk;
	ckf_filter to;
	ckf_build build;
} ckf_work;

/* target.c */

/* Start from what `in` was made for. */
void ckf_target_from(ckf_filter *to, const ckf_filter *in);
/* Hashes. */
void ckf_target_hashes(ckf_filter *to);
/* Choose work->to for work->items; false: precision is used up. */
bool ckf_choose_target(ckf_work *work);
/* Is the chosen table better than what there is without one? */
bool ckf_is_worth_it(const ckf_work *work);

#endif
