/*
 * subject.h - a filter as the benchmarks see it: loops over keys.
 *
 * A loop is one call, and a reference filter's code is inline in it, so what
 * is measured is the filter.  Keys are hashed inside the loop.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stddef.h>
#include <stdint.h>

typedef struct subject
{
	const char *name;
	/* Items that it is filled with, per slot of 12 bits. */
	double full;
	/* An empty filter in about so many bytes; NULL where memory is short. */
	void *(*create)(uint64_t bytes);
	void (*destroy)(void *filter);
	/* Add keys up to the first that it has no room for; returns how many. */
	size_t (*add)(void *filter, const uint64_t *keys, size_t n);
	/* How many of the keys are in, asked one by one. */
	size_t (*contains)(const void *filter, const uint64_t *keys, size_t n);
	/* The same, asked at once; NULL where the filter has no way to. */
	size_t (*contains_many)(const void *filter, const uint64_t *keys, size_t n);
	/* How many were found and taken out; NULL where the filter cannot. */
	size_t (*remove)(void *filter, const uint64_t *keys, size_t n);
	uint64_t (*bytes)(const void *filter);
	uint64_t (*count)(const void *filter);
} subject;

/* Slots of 12 bits: all filters are made from the same bytes. */
static inline uint64_t
subject_slots(uint64_t bytes)
{
	return bytes * 8 / 12;
}

#define FULL_CUCKOO 0.95 /* a cuckoo table nearly always takes so much */
#define FULL_BLOOM (12.0 / 13)
#define FULL_QUOTIENT 0.9
#define FULL_D_LEFT 0.77

/* The six of the paper, in its order: CF, ss-CF, BF, blk-BF, QF, dl-CBF. */
#define REFERENCES 6
extern const subject references[REFERENCES];

#endif
