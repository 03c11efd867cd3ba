/*
 * inputs.h - filters that differ in every parameter, as inputs of merges; the parameters of those
 * that are merged themselves are those of FORMAT.md, section 8.
 */
#ifndef INPUTS_H
#define INPUTS_H

#include "model.h"

/* What the inputs of one test share. */
typedef struct world
{
	uint64_t base;       /* hashes are drawn from it, so that inputs overlap */
	uint64_t seed;       /* of most filters */
	size_t most;         /* items of a filter, at most */
	unsigned other_seed; /* per cent of the filters that have another seed */
	bool crowds;         /* some filters have hashes that crowd together */
	bool whole;          /* all filters are in whole hashes */
	bool narrow;         /* filters have little precision left, but a few have a coarse rate */
} world;

/* Draws driven_numbers, too. */
world world_new(size_t most);

/* Hash number i of a kind; kind 0 is as good as random, the others crowd. */
enum
{
	HASH_KINDS = 5
};

uint64_t world_hash(const world *w, unsigned kind, uint64_t i);

/* n hashes of one kind; the caller frees them. */
uint64_t *world_hashes(const world *w, unsigned kind, size_t n);

/* Some of them take the place of others. */
void repeat_some(uint64_t *hashes, size_t n);

/* At most so many hashes of a kind, where `most` is the most of good ones: a set
 * of hashes that crowd, of which some bits were cut, may be refused. */
size_t most_items(size_t most, unsigned kind);

/* A size on either side of each threshold of the engine. */
size_t draw_size(size_t most);

/* Anything that ckf_create takes; capacity 0, for aggregates, now and then. */
ckf_params draw_params(const world *w);

typedef struct input
{
	owned filter;
	model model;
	bool crowded; /* its hashes are not as good as random */
} input;

/* Any filter; with depth > 0 also a merge of such filters. */
void input_draw(input *in, const world *w, unsigned depth);
void input_free(input *in);

/* Smallest w that keeps the rate for n items (FORMAT.md, section 5); 57: none. */
unsigned prefix_bits(double n, double fpr, unsigned c);

/* The standard error of the estimated overlap of two filters that have so many items for
 * themselves, and so many in both (OVERLAP.md). */
double overlap_error(double only_a, double only_b, double both, unsigned w, unsigned c);

/* May a comparison of two filters of so many items be refused for their sizes; may it not be? */
bool may_be_unlike(double a, double b, unsigned w);
bool may_be_alike(double a, double b, unsigned w);

/* Items of the largest inputs: lowered thresholds need no more than these. */
#define LARGEST_INPUT ((size_t)(CKF_MAX_HASHES < 4096 ? 10000 : 1000000))

/* Put inputs into a random order. */
void inputs_shuffle(const input **order, size_t n);

#endif
