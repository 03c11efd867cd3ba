/*
 * attack.h - hashes that an attacker chooses. The attacker knows the seed, so can find items
 * with any hash, and may read the filter at any time.
 */
#ifndef ATTACK_H
#define ATTACK_H

#include "check.h"
#include "cuckoofilter.h"

typedef enum attack
{
	EQUAL_ITEMS,     /* one item over and over */
	EQUAL_PREFIXES,  /* other items of one prefix */
	SIDE_BY_SIDE,    /* neighbouring prefixes, each until it is saturated */
	ONE_PAIR,        /* other prefixes of the same two buckets */
	ONE_BUCKET,      /* other prefixes of one bucket in half 1 */
	EQUAL_TAGS,      /* one fingerprint everywhere */
	EQUAL_LOW_BITS,  /* only the top 32 bits differ */
	EQUAL_HIGH_BITS, /* only the low 32 bits differ */
	LOW_ENTROPY,     /* few items */
	COUNTING_UP,     /* 0, 1, 2 .. in the top bits */
	COUNTING_DOWN,   /* and in all of them, backwards */
	ATTACKS
} attack;

extern const char *const attack_names[ATTACKS];

typedef struct attacker
{
	attack how;
	uint64_t base;  /* a random hash to start from */
	uint64_t sent;  /* hashes so far */
	uint64_t next;  /* place in a search of prefixes */
	uint32_t aimed; /* m that the search is for */
} attacker;

void attacker_start(attacker *a, attack how);

/* The next hash against a filter of this geometry. */
uint64_t attacker_next(attacker *a, const ckf_filter *filter);

#endif
