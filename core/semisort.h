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

#include "internal.h"

#define CKF_CODES 3876
#define CKF_CODE_BITS 12

/* C(n+1,2), C(n+2,3), C(n+3,4) for n = 0 .. 15 */
static const uint8_t ckf_rank_b[16] = {0,  1,  3,  6,  10, 15, 21,  28,
									   36, 45, 55, 66, 78, 91, 105, 120};
static const uint16_t ckf_rank_c[16] = {0,   1,   4,   10,  20,  35,  56,  84,
										120, 165, 220, 286, 364, 455, 560, 680};
static const uint16_t ckf_rank_d[16] = {0,   1,   5,   15,   35,   70,   126,  210,
										330, 495, 715, 1001, 1365, 1820, 2380, 3060};

/* Four nibbles in ascending order, the smallest in the low bits, by code. */
extern const uint16_t ckf_nibbles[1 << CKF_CODE_BITS];

CKF_INLINE unsigned
ckf_code_of(unsigned a, unsigned b, unsigned c, unsigned d)
{
	return a + ckf_rank_b[b] + ckf_rank_c[c] + ckf_rank_d[d];
}

#endif
