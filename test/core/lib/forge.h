/*
 * forge.h - filters that are written by hand, field by field, for the suites that test what
 * ckf_open accepts.
 */
#ifndef FORGE_H
#define FORGE_H

#include "drive.h"

/* A filter to forge: its header, and a body of the size that its fields require. */
typedef struct forged
{
	uint8_t version; /* of the format; 0: ours */
	uint8_t encoding, flags, b, f, w, g, c;
	int classes;      /* byte 14 and 256; 0: what the count asks for */
	uint8_t reserved; /* byte 15 */
	uint32_t m;
	uint64_t count, seed;
	int64_t capacity;
	double fpr;
	size_t words; /* of a body that is no table */
	int longer;   /* bytes more than it should have */
} forged;

uint64_t forged_bucket_bits(const forged *x);

/* The size of its bytes without `longer`; and write its header. */
size_t forged_size(const forged *x);
void forge_header(uint8_t *bytes, const forged *x);

/* Write the header, and a body of zeros, which the caller may change. */
typedef struct forgery
{
	uint8_t bytes[1 << 20];
	size_t size;
} forgery;

void forge(forgery *made, const forged *x);

/* Put a number, or bits, at a place that is zero. */
void put(uint8_t *p, uint64_t value, unsigned bytes);
void put_bits(uint8_t *body, uint64_t at, uint64_t value, unsigned bits);

/* The status of ckf_open. */
bool opens(const forgery *made, ckf_trust trust);

#endif
