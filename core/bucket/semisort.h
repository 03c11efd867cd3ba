/*
 * semisort.h - the code of a semi-sorted bucket (paper, section 5.2): the low nibbles of its four
 * slots, in ascending order, as one number of 12 bits.
 *
 * The code of a <= b <= c <= d is their rank among all 3,876 ascending quadruples.  These are
 * ordered by d, then by c, b and a.  The rank is the number of quadruples before this one:
 * C(d+3,4) of them have a smaller d; of those with the same d, C(c+2,3) have a smaller c; then
 * C(b+1,2) a smaller b, and C(a,1) a smaller a.
 */
#ifndef CKF_SEMISORT_H
#define CKF_SEMISORT_H

#include "filter/words.h"

#define CKF_CODES 3876
#define CKF_CODE_BITS 12

/* For each code, its four nibbles in ascending order, the smallest in the low bits. */
extern const uint16_t ckf_nibbles[1 << CKF_CODE_BITS];

/* The part of the rank that follows from the two smaller nibbles, and from the two larger ones. */
extern const uint8_t ckf_rank_low[256];
extern const uint16_t ckf_rank_high[256];

/* The code of four nibbles, as in ckf_nibbles. */
CKF_INLINE unsigned
ckf_code_of(unsigned nibbles)
{
	return ckf_rank_low[nibbles & 255] + ckf_rank_high[nibbles >> 8];
}

#endif
