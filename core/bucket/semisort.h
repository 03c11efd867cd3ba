/*
 * semisort.h - semi-sorted buckets (paper, section 5.2): the low nibbles of a
 * bucket's four slots, in ascending order, as one 12-bit code.
 *
 * The code of a <= b <= c <= d is their rank among all such quadruples, read
 * with d as the leading place: C(a,1) + C(b+1,2) + C(c+2,3) + C(d+3,4).  There
 * are 3,876.
 */
#ifndef CKF_SEMISORT_H
#define CKF_SEMISORT_H

#include "filter/words.h"

#define CKF_CODES 3876
#define CKF_CODE_BITS 12

/* Four nibbles in ascending order, the smallest in the low bits, by code. */
extern const uint16_t ckf_nibbles[1 << CKF_CODE_BITS];

/* What the two smaller nibbles, and the two larger ones, add to the rank. */
extern const uint8_t ckf_rank_low[256];
extern const uint16_t ckf_rank_high[256];

/* The code of four nibbles, as in ckf_nibbles. */
CKF_INLINE unsigned
ckf_code_of(unsigned nibbles)
{
	return ckf_rank_low[nibbles & 255] + ckf_rank_high[nibbles >> 8];
}

#endif
