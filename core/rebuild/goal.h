/*
 * goal.h - what each goal of a rebuild does, as a table: a row for each goal, a column for
 * each property.  Code asks the row, and never which goal it is.
 */
#ifndef CKF_GOAL_H
#define CKF_GOAL_H

#include "cuckoofilter.h"

/* The kind of the result. */
typedef enum ckf_goal_kind
{
	CKF_KIND_OF_INPUTS, /* a set if an input is one */
	CKF_KIND_SET
} ckf_goal_kind;

/* Are the items counted before the target is chosen? */
typedef enum ckf_goal_count
{
	CKF_COUNT_NEVER, /* the input tells how many there are */
	CKF_COUNT_CUT,   /* if they have been cut, so that some may have become equal */
	CKF_COUNT_MANY,  /* if there are several inputs, or some have been cut */
	CKF_COUNT_ALWAYS
} ckf_goal_count;

/* What is built of whole hashes. */
typedef enum ckf_goal_whole
{
	CKF_WHOLE_HASHES, /* hashes, however many */
	CKF_WHOLE_FEW,    /* hashes up to CKF_MAX_HASHES, else a table */
	CKF_WHOLE_SMALLER /* whichever has fewer bytes */
} ckf_goal_whole;

/* For how many items the precision of a first table is chosen: n are there. */
typedef enum ckf_goal_expects
{
	CKF_EXPECT_THESE, /* n */
	CKF_EXPECT_MORE,  /* 16 n */
	CKF_EXPECT_ADDS   /* 16 CKF_MAX_HASHES, as single adds do, which pass that many */
} ckf_goal_expects;

/* What is built of items that have been cut: a table, */
typedef enum ckf_goal_cut
{
	CKF_CUT_SAME,   /* of their precision, up to its limit */
	CKF_CUT_ANY,    /* the same without a limit */
	CKF_CUT_LARGER, /* of their precision, with more buckets than the input has */
	CKF_CUT_FIRST   /* of the precision that their number asks for, at most theirs */
} ckf_goal_cut;

typedef struct ckf_goal_row
{
	ckf_goal_kind kind;
	ckf_goal_count counts;
	ckf_goal_whole whole;
	ckf_goal_expects expects;
	ckf_goal_cut cut;
	bool distinct;   /* equal items of an input count once, whatever they are cut to */
	bool compares;   /* only what all inputs have in common is an item; empty inputs matter */
	bool builds;     /* a filter; else the items are only counted */
	bool grows;      /* the result has room for more items */
	bool shrinks;    /* the input stays unless the result has fewer bytes */
	bool of_items;   /* the capacity is at least the number of items */
	bool adds;       /* the second input has hashes to be added */
	bool removes;    /* the second input has hashes to be removed */
	bool merges;     /* the inputs may be what merges have come to */
	bool falls_back; /* where no table can be filled, to one that is less (fallback.h) */
} ckf_goal_row;

const ckf_goal_row *ckf_goal_of(ckf_goal goal);

#endif
