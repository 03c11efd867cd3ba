/*
 * model.h - the exact model of a filter: multisets of hashes and of hash prefixes, which the tests
 * change together with the filter.
 *
 * `truth` has the items that are in the filter, as its user counts them.  `groups` has the copies
 * of each prefix that the filter must report: a deletable filter has up to 2 b copies and then
 * stays as it is, and a set has one.
 */
#ifndef MODEL_H
#define MODEL_H

#include "drive.h"

/* Counts of 64-bit keys: open addressing; a key of count 0 is not in. */
typedef struct map
{
	uint64_t *keys;
	uint32_t *counts;
	uint8_t *used;
	size_t slots; /* a power of two */
	size_t filled;
} map;

void map_free(map *m);
uint32_t map_get(const map *m, uint64_t key);
void map_set(map *m, uint64_t key, uint32_t count);

/* Walk: start with *at = 0; false at the end. */
bool map_next(const map *m, size_t *at, uint64_t *key, uint32_t *count);

typedef struct model
{
	map truth;
	map groups;
	map rounded;    /* numbers that are in by their rounded hashes only, and stay (item_of_hash) */
	uint64_t count; /* sum of groups */
	uint64_t prefixes; /* groups with copies */
	unsigned w, c, b;
	bool set;
} model;

void model_init(model *m, const ckf_filter *filter);
void model_free(model *m);

/* The prefix of a hash at this precision: FORMAT.md's cut. */
uint64_t cut_prefix(uint64_t hash, unsigned w, unsigned c);
uint64_t model_prefix(const model *m, uint64_t hash);

void model_add(model *m, uint64_t hash);

/* The oracle of an aggregate's result: one copy of each distinct hash. */
void model_of_distinct(model *m, const owned *result, const uint64_t *hashes, size_t n);

/* Add a number as an older version did. */
void model_add_rounded(model *m, ckf_hashes item);

/* Remove one copy of an item from `truth`; stays: the filter keeps it (stays_in). */
void model_remove(model *m, uint64_t hash, bool stays);

/* Whether a removal of the hash takes a copy away. */
bool model_removes(const model *m, uint64_t hash);

/* The filter may have been cut: follow it to its w, c and b; less precision is
 * allowed, more only where nothing is in. */
void model_follow(model *m, const ckf_filter *filter);

/* m, new: the union or sum of n models, at the precision of the resulting filter. */
void model_merge(model *m, const model *inputs, size_t n, bool sum, const ckf_filter *result);

/* Add a model to m, which keeps its precision, kind and bucket size.  What was saturated
 * is saturated in m. */
void model_pour(model *m, const model *in);

/* Copies of the prefix that has most of them. */
uint32_t model_most_copies(const model *m);

/* An item that is in, any; false: there is none. */
bool model_member(const model *m, uint64_t *hash);

/* Compare one hash's answers; then everything. */
void model_check_hash(const model *m, const owned *o, uint64_t hash);
void model_check(const model *m, const owned *o);

/* The same for a number of class 8 that is in, in any form. */
void model_check_number(const owned *o, uint64_t hash);

#endif
