/*
 * engine.h - our filters as the benchmarks use them, through the engine's
 * public header alone.  A failure ends the program.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "cuckoofilter.h"
#include "subject.h"

typedef struct engine
{
	uint8_t *bytes;
	bool state; /* a running aggregate */
	ckf_filter filter;
} engine;

/* What the benchmarks vary. */
ckf_params engine_params(double fpr, uint64_t capacity, bool plain, unsigned b);

/* An empty filter, which grows. */
void engine_create(engine *e, const ckf_params *params);
void engine_destroy(engine *e);

/* Run a rebuild of a and b (or NULL) into a new filter. */
void engine_rebuild(engine *to, ckf_operation goal, const engine *a, const engine *b);

/* Add keys, each hashed here, and grow where there is no room. */
void engine_add(engine *e, const uint64_t *keys, size_t n);

/* The aggregate: every key into a running state, then the filter. */
void engine_aggregate(engine *to, const ckf_params *params, const uint64_t *keys, size_t n);

/* The same of all keys at once; room has n words, touched before it is timed. */
void engine_bulk(engine *to, const ckf_params *params, const uint64_t *keys, size_t n,
				 uint64_t *room);

/* The keys' hashes, sorted: what an aggregate's state leaves its process as.
 * What engine_rebuild makes of it with CKF_FINISH is the aggregate's filter. */
void engine_sorted(engine *to, const ckf_params *params, const uint64_t *keys, size_t n);

/* The aggregate's filter of n hashes that are random each in its n-th of the
 * range (good to see how large a table becomes). */
void engine_spread(engine *to, const ckf_params *params, size_t n);

/* An empty table that is large enough for n items. */
void engine_make_room(engine *to, const ckf_params *params, size_t n);

/* How many of the keys are in, asked at once. */
size_t engine_contains_many(const engine *e, const uint64_t *keys, size_t n);

double engine_bits_per_item(const engine *e);

/*
 * Our two layouts as subjects, of the references' size and rate: plain of 12
 * bits and semi-sorted of 13, in tables that do not grow.
 */
#define ENGINES 2
extern const subject engines[ENGINES];

#endif
