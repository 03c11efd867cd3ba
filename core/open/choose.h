/*
 * choose.h - choose a table's geometry (FORMAT.md, section 5).
 */
#ifndef CKF_CHOOSE_H
#define CKF_CHOOSE_H

#include "cuckoofilter.h"

#define CKF_HASHES_BONUS 32 /* bytes that hashes may cost above a table */

/*
 * Choose the geometry of fewest bytes for `items` prefixes of t->w bits.  The caller
 * sets b, c and the flags of t; the call sets its encoding, g, m and f.  If f would be
 * below c, it also raises w, up to max_w.  false: f would still be below c, or the
 * table exceeds the address space of this machine.
 */
bool ckf_choose(ckf_filter *t, uint64_t items, unsigned max_w);

/* Choose the m and f of fewest bytes for `items` in one segment, with the encoding and the rho_bits
 * of t.  false: no m is possible. */
bool ckf_choose_buckets(ckf_filter *t, uint64_t items);

/*
 * Choose a table for `items` whole hashes.  w is the least precision that keeps the rate of t
 * for the larger of its capacity and `items`, and for `expected` items if CKF_MAX_PREFIX bits
 * suffice for that.  w is at most max_w.  false: only whole hashes keep the rate.
 */
bool ckf_choose_first(ckf_filter *t, uint64_t items, uint64_t expected, unsigned max_w);

/* Whether a table has fewer bytes than `items` whole hashes.  true: t is the table of
 * ckf_choose_first; false: the content of t is undefined. */
bool ckf_choose_fewest(ckf_filter *t, uint64_t items, uint64_t expected);

/*
 * Choose a larger geometry of the same w, after `tries` builds of `items` have
 * failed.  false: f would be below c, the table would be nearly empty, or it
 * exceeds the address space of this machine.
 */
#define CKF_ANY_ITEMS (UINT64_C(1) << 60) /* no table is nearly empty with so many */
bool ckf_enlarge(ckf_filter *t, unsigned tries, uint64_t items);

/* The buckets of a half to try after `tries` builds with fewer have failed; the last was with m. */
uint32_t ckf_more_buckets(uint32_t m, unsigned tries);

/* The largest number of copies for which one table of the w, b, c and flags of `like` is possible
 * and its rate is within the limit. */
uint64_t ckf_most_copies(const ckf_filter *like);

/* After ckf_enlarge failed: whether f was the reason, so that a longer prefix helps. */
bool ckf_lacks_bits(const ckf_filter *t, uint64_t items);

#endif
