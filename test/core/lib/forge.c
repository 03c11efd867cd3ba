/*
 * forge.c - see forge.h.  The layout is that of FORMAT.md, sections 2 to 4.
 */
#include "forge.h"

#include <string.h>

void
put(uint8_t *p, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t
forged_bucket_bits(const forged *x)
{
	return x->encoding == CKF_SEMI_SORTED ? 4 * (x->f - 1U) : x->b * x->f;
}

static bool
is_table(const forged *x)
{
	return x->encoding == CKF_SEMI_SORTED || x->encoding == CKF_PLAIN;
}

size_t
forged_size(const forged *x)
{
	uint64_t bits = (2 * x->m * forged_bucket_bits(x)) << x->g;

	return CKF_HEADER_SIZE + (is_table(x) ? (size_t)((bits + 7) / 8 + 8) : 8 * x->words);
}

/* Byte 14 of a valid filter. */
static unsigned
likely_classes(const forged *x)
{
	return x->version != 1 && x->count > 0 ? CKF_ITEM_TEXT : 0;
}

void
forge_header(uint8_t *bytes, const forged *x)
{
	uint64_t fpr;

	memcpy(&fpr, &x->fpr, sizeof fpr);
	memset(bytes, 0, CKF_HEADER_SIZE);
	memcpy(bytes, "CKF\2\1", 5);
	if (x->version > 0)
		bytes[3] = x->version;
	put(bytes + 5, x->encoding, 1);
	put(bytes + 6, x->flags, 1);
	put(bytes + 7, x->b, 1);
	put(bytes + 8, x->f, 1);
	put(bytes + 9, x->w, 1);
	put(bytes + 10, x->g, 1);
	put(bytes + 11, x->c, 1);
	put(bytes + 12, x->m, 2);
	put(bytes + 14, likely_classes(x), 1);
	put(bytes + 16, x->count, 8);
	put(bytes + 24, x->seed, 8);
	put(bytes + 32, (uint64_t)x->capacity, 8);
	put(bytes + 40, fpr, 8);
}

void
forge(forgery *made, const forged *x)
{
	size_t size = forged_size(x);

	CHECK(size + 8 < sizeof made->bytes, "too large");
	memset(made->bytes, 0, size + 8);
	forge_header(made->bytes, x);
	made->size = size;
}
