/*
 * saturated.h - keep groups saturated when b becomes larger.
 *
 * A group of 2 b copies is saturated: it stands for any number of copies, and removals do
 * not change it (FORMAT.md, section 4).  If its items move to larger buckets, the group must
 * get 2 b copies of the larger b.  Else removals could delete all its copies while items of
 * the group are left.
 */
#ifndef CKF_SATURATED_H
#define CKF_SATURATED_H

#include "cuckoofilter.h"

/* The state while items are read in ascending order. */
typedef struct ckf_saturated
{
	uint64_t item;   /* the last item; 0 before the first */
	unsigned copies; /* copies of that item so far */
	unsigned full;   /* copies of a saturated group before */
	unsigned raised; /* copies of a saturated group after; ignored if less than `full` */
} ckf_saturated;

/* An upper bound of the items that are written for `n`, if full >= 4 and raised <= 16. */
#define CKF_RAISED_ITEMS(n) (4 * (n) + 12)

/* Write the next n items to `to`, and the additional copies of saturated groups.
 * Returns the number of items written. */
static inline size_t
ckf_raise_saturated(ckf_saturated *s, const uint64_t *items, size_t n, uint64_t *to)
{
	size_t made = 0;
	size_t i;

	for (i = 0; i < n; i++)
	{
		unsigned more;

		s->copies = items[i] == s->item ? s->copies + 1 : 1;
		s->item = items[i];
		to[made++] = items[i];
		for (more = s->full; s->copies == s->full && more < s->raised; more++)
			to[made++] = items[i];
	}
	return made;
}

#endif
