/*
 * state.h - the state of a large aggregate as a host stores it: a collector for items, or the list
 * of filters of a merge.  It serves drive.c.
 */
#ifndef STATE_H
#define STATE_H

#include "drive.h"

struct large
{
	ckf_collector *collector; /* guarded; or NULL */
	ckf_merger merger;
};

/* Do what a collector asks for, in guarded memory. */
ckf_status collector_make_room(ckf_collector *collector);

/* A new collector that keeps `most` copies of each hash; collector_free. */
ckf_collector *collector_new(const ckf_filter *promise, unsigned most);
void collector_take(ckf_collector *collector, const uint64_t *hashes, size_t n);
void collector_settle(ckf_collector *collector);
void collector_free(ckf_collector *collector);

/* Turn a flat state over items into a collector. */
void state_outgrow(owned *state);

/* The filters of which a rebuild makes the result of a filter or state. Returns how many. */
unsigned state_inputs(const owned *o, const ckf_filter **in);

#endif
