/*
 * operation.h - the properties of each operation of a rebuild, as a table with a row for each
 * operation and a column for each property.  Other code reads the row and never compares
 * operations.
 */
#ifndef CKF_OPERATION_H
#define CKF_OPERATION_H

#include "cuckoofilter.h"

/* Whether the items are counted before the target is chosen. */
typedef enum ckf_operation_count
{
	CKF_COUNT_ALWAYS,
	CKF_COUNT_NEVER, /* the count of the input is used */
	CKF_COUNT_CUT,   /* if the items are prefixes, since different items may be equal */
	CKF_COUNT_SAMPLE /* if there are several inputs, or the items are prefixes, of which a sample
					  * is counted */
} ckf_operation_count;

/* What is built from whole hashes. */
typedef enum ckf_operation_whole
{
	CKF_WHOLE_HASHES, /* sorted hashes, whatever their number */
	CKF_WHOLE_FEW,    /* sorted hashes up to CKF_MAX_HASHES, else a table */
	CKF_WHOLE_SMALLER /* sorted hashes or a table, whichever has fewer bytes */
} ckf_operation_whole;

/* The number of items for which the precision of a first table is chosen, if there are n. */
typedef enum ckf_operation_expects
{
	CKF_EXPECT_THESE, /* n */
	CKF_EXPECT_MORE,  /* 16 n */
	CKF_EXPECT_ADDS   /* 16 CKF_MAX_HASHES: the first table that single adds build */
} ckf_operation_expects;

/* The table that is built from prefixes. */
typedef enum ckf_operation_cut
{
	CKF_CUT_SAME,   /* keeps their precision; refused above its limit of items */
	CKF_CUT_ANY,    /* keeps their precision; any number of items, and sorted prefixes if no table
					 * can be filled */
	CKF_CUT_LARGER, /* keeps their precision, and has more buckets than the input */
	CKF_CUT_FIRST   /* has the precision that the number of items needs, at most theirs */
} ckf_operation_cut;

typedef struct ckf_operation_row
{
	ckf_operation_count counts;
	ckf_operation_whole whole;
	ckf_operation_expects expects;
	ckf_operation_cut cut;
	bool set;         /* the result is a set; else it is one if an input is */
	bool distinct;    /* equal items count once, before they are cut to the target's precision */
	bool compares;    /* the items are those in all inputs; an empty input changes the result */
	bool only_counts; /* builds no filter */
	bool grows;       /* the result has room for more items */
	bool copies;      /* the result is a copy of the input */
	bool shrinks;     /* the input is copied unless the result has fewer bytes */
	bool of_items;    /* the capacity is at least the number of items */
	bool adds;        /* the second input has the hashes to add */
	bool removes;     /* the second input has the hashes to remove */
	bool merges;      /* inputs may be results of earlier merges, so no refusal names an input */
	bool falls_back;  /* if no table can be filled, parameters are relaxed (fallback.c) */
} ckf_operation_row;

const ckf_operation_row *ckf_operation_of(ckf_operation operation);

/* ---------------------------- result.c: the parameters of a result (FORMAT.md, section 8) */

/*
 * Set the parameters of a rebuild's result in `to`, from those of the inputs: seed, capacity,
 * rate (and so c), kind, layout, b, and the w and the item classes.  The other fields become
 * those of the first input.
 * No other code decides them.
 * CKF_SEED_DIFFERS, CKF_OLD_ITEMS.
 */
ckf_status ckf_result_parameters(ckf_filter *to, ckf_operation operation,
								 const ckf_filter *const *in, unsigned inputs);

/*
 * Whether the items of a filter may be added to a table of chunks.  The table keeps its seed,
 * kind and precision, so the sum of both must have the same ones.
 * CKF_SEED_DIFFERS; CKF_IS_SET: the filter is a set and the table is not; CKF_PRECISION:
 * the filter has less precision than the table.
 */
ckf_status ckf_chunks_accept(const ckf_filter *chunks, const ckf_filter *filter);

#endif
