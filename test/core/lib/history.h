/*
 * history.h - a filter, its exact model, and the operations that a random history applies to both.
 * It serves the lockstep suite and the fuzz target of histories.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "model.h"

/* Where the hashes of a history come from. */
typedef enum source
{
	UNIFORM,
	CLUSTERED, /* few values of the top bits: prefixes that collide */
	SEQUENTIAL /* prefixes side by side */
} source;

typedef struct shape
{
	int64_t capacity;
	double fpr;
	bool set, plain;
	uint8_t bucket_size;
	source from;
	unsigned burst; /* items added at once, at most */
} shape;

typedef struct history
{
	const shape *shape;
	uint64_t seed; /* of the filters; unions need the same */
	owned filter;
	model model;
} history;

/* A history adds no new items past this many copies. */
#define HISTORY_ITEMS 5000

/* A filter that is empty, made in one of two ways. */
void history_start(history *h, const shape *s, uint64_t seed);
void history_free(history *h);

/* A hash of the shape's source. */
uint64_t history_hash(const shape *s);

/* Change filter and oracle, and compare what can be seen of it. */
ckf_status history_add(history *h, uint64_t hash);
void history_add_new(history *h);
void history_add_again(history *h);
void history_remove(history *h, uint64_t hash);
void history_remove_some(history *h);
void history_rehouse(history *h, ckf_operation operation);

/* Many at once, as a host would do it: new ones and others in; others out. */
void history_add_many(history *h);
void history_remove_many(history *h);

/* Another shape for a filter to be merged with. */
shape history_unlike(const shape *s, bool set);

/* Union or sum with a filter of a short history of its own: of the two, or
 * collected in an aggregate's states. */
void history_merge(history *h, bool sum, const shape *s);

/* Any one of these, or others. */
void history_operate(history *h);

#endif
