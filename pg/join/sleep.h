/*
 * sleep.h - a scan stops to ask a filter for a while if too many of its rows pass.
 */
#ifndef CKFP_JOIN_SLEEP_H
#define CKFP_JOIN_SLEEP_H

#include "join.h"

#pragma GCC visibility push(hidden)

/* The number of rows in a window, in which the rows that pass are counted; and in a window at the
 * start of a scan, or after a sleep. */
#define CKFP_WINDOW 4096
#define CKFP_FIRST_WINDOW 512

/* The number of rows in the first and in the longest sleep. */
#define CKFP_SLEEP 4096
#define CKFP_LONGEST_SLEEP 65536

/* What a filter knows of the scans that ask it. */
typedef struct ckfp_sleepers
{
	struct ckfp_sleep *first; /* one for each scan */
	bool bad;                 /* too many rows passed in the last window of any scan */
	bool never;               /* they never sleep */
	uint64 unasked;           /* rows in the sleeps that have begun */
} ckfp_sleepers;

/* A scan that asks a filter. */
typedef struct ckfp_sleep
{
	ckfp_sleepers *all;
	struct ckfp_sleep *next;
	uint32 asleep; /* the number of rows that pass unasked before the next window */
	uint32 window; /* the number of rows in the window; 0: the scan has not started */
	uint32 left;   /* those that are still to come, */
	uint32 passed; /* and those that passed */
	bool bad;      /* too many rows passed in the window before */
	uint32 length; /* the number of rows in the next sleep */
} ckfp_sleep;

/* Add a scan to a filter. */
void ckfp_sleep_add(ckfp_sleepers *all, ckfp_sleep *sleep);

/* Wake all scans, which then begin anew. */
void ckfp_sleep_reset(ckfp_sleepers *all);

/* The number of rows that passed unasked. */
uint64 ckfp_sleep_unasked(const ckfp_sleepers *all);

/* Begin another window, or go to sleep. */
void ckfp_sleep_next_window(ckfp_sleep *sleep);

/* Does the scan sleep? Counts a row that passes unasked. */
static inline bool
ckfp_sleep_passes(ckfp_sleep *sleep)
{
	if (sleep->asleep == 0)
		return false;
	sleep->asleep--;
	return true;
}

/* Count a row that was tested. */
static inline void
ckfp_sleep_count(ckfp_sleep *sleep, bool passed)
{
	if (unlikely(sleep->left == 0))
		ckfp_sleep_next_window(sleep);
	sleep->passed += passed;
	sleep->left--;
	if (unlikely(sleep->left == 0))
		ckfp_sleep_next_window(sleep);
}

#pragma GCC visibility pop

#endif
