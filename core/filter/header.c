/*
 * header.c - write the header (FORMAT.md, section 2).
 */
#include "filter/header.h"

void
ckf_write_header(const ckf_filter *t)
{
	uint8_t *p = t->bytes;
	uint64_t fpr;

	memcpy(&fpr, &t->fpr, sizeof fpr);
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
	p[CKF_AT_ITEM_CLASSES] = t->item_classes;
	p[CKF_AT_RESERVED] = 0;
	ckf_store64(p + CKF_AT_COUNT, t->count);
	ckf_store64(p + CKF_AT_SEED, t->seed);
	ckf_store64(p + CKF_AT_CAPACITY, (uint64_t)t->capacity);
	ckf_store64(p + CKF_AT_FPR, fpr);
}
