/*
 * choose.h - choose a table's geometry (FORMAT.md, section 5).
 */
#ifndef CKF_CHOOSE_H
#define CKF_CHOOSE_H

#include "cuckoofilter.h"

/*
 * Choose the geometry of fewest bytes that holds `items` prefixes of t->w bits:
 * sets t's encoding, g, m and f, and a larger w, up to max_w, where f would fall
 * below c.  t's b, c and flags are given.  false: f falls below c all the same,
 * or no buffer can be so large on this machine.
 */
bool ckf_choose(ckf_filter *t, uint64_t items, unsigned max_w);

/* The same for one segment whose rho_bits are given, with t's encoding: the m and f of
 * fewest bytes that hold `items` in it.  false: no m is possible. */
bool ckf_choose_buckets(ckf_filter *t, uint64_t items);

/*
 * Choose a table for `items` whole hashes, which have spent no precision yet: w follows
 * from t's rate for the larger of t's capacity and `items` and, as far as a w of
 * CKF_MAX_PREFIX bits goes, for `expected` items.  max_w is the most that w may be.
 * false: only whole hashes keep the rate.
 */
bool ckf_choose_first(ckf_filter *t, uint64_t items, uint64_t expected, unsigned max_w);

/* Choose what has the fewest bytes for `items` whole hashes: true: the table of
 * ckf_choose_first, now in t; false: the hashes themselves, and t is of no use. */
bool ckf_choose_fewest(ckf_filter *t, uint64_t items, uint64_t expected);

/*
 * Choose a larger geometry of the same w, after `tries` builds have failed to
 * hold `items`.  false: f would fall below c, the table would be nearly empty, or
 * no buffer can be so large on this machine.
 */
#define CKF_ANY_ITEMS (UINT64_C(1) << 60) /* which are never too few for the table */
bool ckf_enlarge(ckf_filter *t, unsigned tries, uint64_t items);

/* After that failed: was it for f alone, so that a longer prefix would do? */
bool ckf_lacks_bits(const ckf_filter *t, uint64_t items);

#endif
