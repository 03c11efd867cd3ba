/*
 * ask.h - a row asks a filter.
 */
#ifndef CKFP_JOIN_ASK_H
#define CKFP_JOIN_ASK_H

#include "node.h"
#include "verify.h"

#include "executor/tuptable.h"

#pragma GCC visibility push(hidden)

/* A filter that a scan asks, or a node that has the rows of scans. */
typedef struct ckfp_ask
{
	ckfp_build *build;
	bool served; /* the server of a foreign scan asks the filter; its rows have passed */
	AttrNumber attribute[CKFP_JOIN_KEYS];
	ckfp_sleep sleep;
} ckfp_ask;

/* Does a row pass the filter? Counts the row. May allocate memory. */
static inline bool
ckfp_ask_row(ckfp_ask *ask, TupleTableSlot *slot)
{
	ckfp_build *build = ask->build;
	uint64 hash = 0;
	bool passes = true;
	int i;

	for (i = 0; i < build->record.columns && passes; i++)
	{
		bool isnull;
		Datum value = slot_getattr(slot, ask->attribute[i], &isnull);

		if (isnull)
			passes = false; /* it joins no row */
		else
			hash = ckfp_key_combine(hash, ckfp_key_hash(&build->probe_key[i], value));
	}
	if (passes && !ckf_contains(&build->filter.filter, hash))
	{
		passes = false;
		if (build->verify)
			ckfp_verify_denied(build, hash);
	}
	ckfp_build_count(build, passes);
	ckfp_sleep_count(&ask->sleep, passes);
	return passes || build->verify;
}

#pragma GCC visibility pop

#endif
