/*
 * drive.h - what a host does around the core: own the bytes, grow them, run
 * jobs.  Every buffer is guarded (check.h), every promise of cuckoofilter.h
 * that can be seen from here is checked on the way.
 */
#ifndef DRIVE_H
#define DRIVE_H

#include "check.h"
#include "cuckoofilter.h"

/* A filter or an aggregate's state, and the buffer it lies in. */
typedef struct owned
{
	ckf_filter filter;
	uint8_t *bytes; /* guarded */
} owned;

/* Build parameters in one expression. */
ckf_params params_of(int64_t capacity, double fpr, bool set, bool plain, unsigned bucket_size);

bool filter_is_set(const ckf_filter *filter);

void owned_create(owned *o, const ckf_params *params);
void owned_state(owned *o, const ckf_params *params);

/* Own a copy of bytes; the case fails where they do not open. */
void owned_open(owned *o, const void *bytes, size_t size, ckf_trust trust);

void owned_copy(owned *o, const owned *from);
void owned_free(owned *o);

/* Open again, with fresh eyes, and compare with what the handle tells. */
void owned_check(const owned *o);

bool owned_same_bytes(const owned *a, const owned *b);

/* Add; grows as a host would.  CKF_OK or CKF_PRECISION. */
ckf_status owned_add(owned *o, uint64_t hash);

ckf_status owned_remove(owned *o, uint64_t hash, bool *found);

/* What the core has asked of this host since the program started. */
typedef struct work
{
	uint64_t jobs;    /* run */
	uint64_t steps;   /* of jobs and of pouring; a walk of few items is one */
	uint64_t bytes;   /* of jobs' buffers, added up */
	uint64_t largest; /* bytes of a result that a job asked for */
} work;

extern work driven;

/* Items after which jobs and pouring should have come back, for their host to
 * look for interrupts; but a table's segment is never parted. */
#define MOST_OF_A_STEP 100000

/* Run a job from a and b into a new owned filter; the inputs are read-only
 * meanwhile.  Where it does not come to CKF_OK, nothing is to be freed. */
ckf_status run_job(owned *result, ckf_goal goal, const owned *a, const owned *b);

/* The same in place of o. */
ckf_status owned_job(owned *o, ckf_goal goal, const owned *b);

/* Pour a filter or state into a state, to the end. */
typedef enum pour
{
	POUR_UNION,
	POUR_SUM,
	POUR_COMBINE
} pour;

ckf_status owned_pour(owned *state, const owned *in, pour how);

/* An aggregate over n hashes, and the same by ckf_bulk. */
void build_aggregate(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n);
void build_bulk(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n);

#endif
