/*
 * header.c - write the header (FORMAT.md, section 2).
 */
#include "filter/header.h"

/* merged_w in the upper six bits, where 63 stands for 64; then log2(b) - 1. */
static uint8_t
ckf_merged_byte(const ckf_filter *t)
{
	uint8_t w = t->merged_w == 64 ? 63 : t->merged_w;
	uint8_t b = t->merged_b == 2 ? 0 : t->merged_b == 4 ? 1 : 2;

	return (uint8_t)(w << 2 | b);
}

void
ckf_read_merged(ckf_filter *t)
{
	uint8_t byte = t->bytes[CKF_AT_MERGED];

	t->merged_w = byte >> 2 == 63 ? 64 : byte >> 2;
	t->merged_b = (uint8_t)(2U << (byte & 3));
}

void
ckf_write_header(const ckf_filter *t)
{
	uint8_t *p = t->bytes;

	memcpy(p + CKF_AT_MAGIC, "CKF", 3);
	p[CKF_AT_FORMAT] = CKF_FORMAT_VERSION;
	p[CKF_AT_HASH] = CKF_HASH_VERSION;
	p[CKF_AT_ENCODING] = t->encoding;
	p[CKF_AT_FLAGS] = t->flags;
	p[CKF_AT_B] = t->b;
	p[CKF_AT_F] = t->f;
	p[CKF_AT_W] = t->w;
	p[CKF_AT_G] = t->g;
	p[CKF_AT_C] = t->c;
	p[CKF_AT_M] = (uint8_t)t->m;
	p[CKF_AT_M + 1] = (uint8_t)(t->m >> 8);
	p[CKF_AT_RESERVED] = 0;
	p[CKF_AT_MERGED] = t->flags & CKF_FLAG_STATE ? ckf_merged_byte(t) : 0;
	ckf_store64(p + CKF_AT_COUNT, t->count);
	ckf_store64(p + CKF_AT_SEED, t->seed);
	ckf_store64(p + CKF_AT_CAPACITY, (uint64_t)t->capacity);
	ckf_store_double(p + CKF_AT_FPR, t->fpr);
}
