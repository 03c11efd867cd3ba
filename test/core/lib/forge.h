/*
 * forge.h - filters that are written by hand, field by field.
 */
#ifndef FORGE_H
#define FORGE_H

#include "drive.h"

/* A filter to forge: its header, and a body of the size that its fields require. */
typedef struct forged
{
	uint8_t version; /* of the format; 0: ours */
	uint8_t encoding, flags, b, f, w, g, c;
	uint32_t m;
	uint64_t count, seed;
	int64_t capacity;
	double fpr;
	size_t words; /* of a body that is no table */
} forged;

/* The size of its bytes; and write its header. */
size_t forged_size(const forged *x);
void forge_header(uint8_t *bytes, const forged *x);

/* Write the header, and a body of zeros, which the caller may change. */
typedef struct forgery
{
	uint8_t bytes[1 << 20];
	size_t size;
} forgery;

void forge(forgery *made, const forged *x);

/* Write a number. */
void put(uint8_t *p, uint64_t value, unsigned bytes);

#endif
