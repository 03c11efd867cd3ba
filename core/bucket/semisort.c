/*
 * semisort.c - the tables of semi-sorted codes, which the preprocessor generates.
 */
#include "bucket/semisort.h"

/* C(a,1) for all a, plus r = C(b+1,2). */
#define CKF_LOW(r)                                                                                 \
	r, r + 1, r + 2, r + 3, r + 4, r + 5, r + 6, r + 7, r + 8, r + 9, r + 10, r + 11, r + 12,      \
		r + 13, r + 14, r + 15

const uint8_t ckf_rank_low[256] = {
	CKF_LOW(0),  CKF_LOW(1),  CKF_LOW(3),   CKF_LOW(6),   CKF_LOW(10), CKF_LOW(15),
	CKF_LOW(21), CKF_LOW(28), CKF_LOW(36),  CKF_LOW(45),  CKF_LOW(55), CKF_LOW(66),
	CKF_LOW(78), CKF_LOW(91), CKF_LOW(105), CKF_LOW(120),
};

/* C(c+2,3) for all c, plus r = C(d+3,4). */
#define CKF_HIGH(r)                                                                                \
	r, r + 1, r + 4, r + 10, r + 20, r + 35, r + 56, r + 84, r + 120, r + 165, r + 220, r + 286,   \
		r + 364, r + 455, r + 560, r + 680

const uint16_t ckf_rank_high[256] = {
	CKF_HIGH(0),    CKF_HIGH(1),    CKF_HIGH(5),    CKF_HIGH(15),   CKF_HIGH(35),  CKF_HIGH(70),
	CKF_HIGH(126),  CKF_HIGH(210),  CKF_HIGH(330),  CKF_HIGH(495),  CKF_HIGH(715), CKF_HIGH(1001),
	CKF_HIGH(1365), CKF_HIGH(1820), CKF_HIGH(2380), CKF_HIGH(3060),
};

/* The quadruples in the order of their codes.  CKF_An lists them for given b, c, d and all a up to
 * n; CKF_Bn for given c, d and all b up to n; CKF_Cn for a given d and all c up to n. */

#define CKF_Q(a, b, c, d) (a) | (b) << 4 | (c) << 8 | (d) << 12

#define CKF_A0(b, c, d) CKF_Q(0, b, c, d)
#define CKF_A1(b, c, d) CKF_A0(b, c, d), CKF_Q(1, b, c, d)
#define CKF_A2(b, c, d) CKF_A1(b, c, d), CKF_Q(2, b, c, d)
#define CKF_A3(b, c, d) CKF_A2(b, c, d), CKF_Q(3, b, c, d)
#define CKF_A4(b, c, d) CKF_A3(b, c, d), CKF_Q(4, b, c, d)
#define CKF_A5(b, c, d) CKF_A4(b, c, d), CKF_Q(5, b, c, d)
#define CKF_A6(b, c, d) CKF_A5(b, c, d), CKF_Q(6, b, c, d)
#define CKF_A7(b, c, d) CKF_A6(b, c, d), CKF_Q(7, b, c, d)
#define CKF_A8(b, c, d) CKF_A7(b, c, d), CKF_Q(8, b, c, d)
#define CKF_A9(b, c, d) CKF_A8(b, c, d), CKF_Q(9, b, c, d)
#define CKF_A10(b, c, d) CKF_A9(b, c, d), CKF_Q(10, b, c, d)
#define CKF_A11(b, c, d) CKF_A10(b, c, d), CKF_Q(11, b, c, d)
#define CKF_A12(b, c, d) CKF_A11(b, c, d), CKF_Q(12, b, c, d)
#define CKF_A13(b, c, d) CKF_A12(b, c, d), CKF_Q(13, b, c, d)
#define CKF_A14(b, c, d) CKF_A13(b, c, d), CKF_Q(14, b, c, d)
#define CKF_A15(b, c, d) CKF_A14(b, c, d), CKF_Q(15, b, c, d)

#define CKF_B0(c, d) CKF_A0(0, c, d)
#define CKF_B1(c, d) CKF_B0(c, d), CKF_A1(1, c, d)
#define CKF_B2(c, d) CKF_B1(c, d), CKF_A2(2, c, d)
#define CKF_B3(c, d) CKF_B2(c, d), CKF_A3(3, c, d)
#define CKF_B4(c, d) CKF_B3(c, d), CKF_A4(4, c, d)
#define CKF_B5(c, d) CKF_B4(c, d), CKF_A5(5, c, d)
#define CKF_B6(c, d) CKF_B5(c, d), CKF_A6(6, c, d)
#define CKF_B7(c, d) CKF_B6(c, d), CKF_A7(7, c, d)
#define CKF_B8(c, d) CKF_B7(c, d), CKF_A8(8, c, d)
#define CKF_B9(c, d) CKF_B8(c, d), CKF_A9(9, c, d)
#define CKF_B10(c, d) CKF_B9(c, d), CKF_A10(10, c, d)
#define CKF_B11(c, d) CKF_B10(c, d), CKF_A11(11, c, d)
#define CKF_B12(c, d) CKF_B11(c, d), CKF_A12(12, c, d)
#define CKF_B13(c, d) CKF_B12(c, d), CKF_A13(13, c, d)
#define CKF_B14(c, d) CKF_B13(c, d), CKF_A14(14, c, d)
#define CKF_B15(c, d) CKF_B14(c, d), CKF_A15(15, c, d)

#define CKF_C0(d) CKF_B0(0, d)
#define CKF_C1(d) CKF_C0(d), CKF_B1(1, d)
#define CKF_C2(d) CKF_C1(d), CKF_B2(2, d)
#define CKF_C3(d) CKF_C2(d), CKF_B3(3, d)
#define CKF_C4(d) CKF_C3(d), CKF_B4(4, d)
#define CKF_C5(d) CKF_C4(d), CKF_B5(5, d)
#define CKF_C6(d) CKF_C5(d), CKF_B6(6, d)
#define CKF_C7(d) CKF_C6(d), CKF_B7(7, d)
#define CKF_C8(d) CKF_C7(d), CKF_B8(8, d)
#define CKF_C9(d) CKF_C8(d), CKF_B9(9, d)
#define CKF_C10(d) CKF_C9(d), CKF_B10(10, d)
#define CKF_C11(d) CKF_C10(d), CKF_B11(11, d)
#define CKF_C12(d) CKF_C11(d), CKF_B12(12, d)
#define CKF_C13(d) CKF_C12(d), CKF_B13(13, d)
#define CKF_C14(d) CKF_C13(d), CKF_B14(14, d)
#define CKF_C15(d) CKF_C14(d), CKF_B15(15, d)

const uint16_t ckf_nibbles[1 << CKF_CODE_BITS] = {
	CKF_C0(0),   CKF_C1(1),   CKF_C2(2),   CKF_C3(3),   CKF_C4(4),   CKF_C5(5),
	CKF_C6(6),   CKF_C7(7),   CKF_C8(8),   CKF_C9(9),   CKF_C10(10), CKF_C11(11),
	CKF_C12(12), CKF_C13(13), CKF_C14(14), CKF_C15(15),
};
