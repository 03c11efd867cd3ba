/*
 * saturated.h - groups of 2 b copies where b becomes larger.
 *
 * A group of 2 b copies is saturated: it stands for any number of copies, and removals
 * leave it as it is (FORMAT.md, section 4).  Where its items go into larger buckets, it
 * must have 2 b copies of the larger b, or removals would take it away while items of it
 * are left.
 */
#ifndef CKF_SATURATED_H
#define CKF_SATURATED_H

#include "cuckoofilter.h"

/* Items that come in ascending order, copies as equal ones. */
typedef struct ckf_saturated
{
	uint64_t item;   /* that came last; 0 before the first */
	unsigned copies; /* and how often */
	unsigned full;   /* copies of a saturated group */
	unsigned raised; /* copies that it gets; none is raised where that is less */
} ckf_saturated;

/* Items that `n` of them become at most, full being 4 or more and raised 16 or less. */
#define CKF_RAISED_ITEMS(n) (4 * (n) + 12)

/* Write the next n items to `to`, each saturated group with as many copies as it gets.
 * Returns how many were written. */
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
