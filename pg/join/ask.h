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
	int target; /* the number of the scan among the targets of the filter */
	ckfp_sleep sleep;
} ckfp_ask;

/* The hash of the key of a row. False if one of its columns is NULL, since such a row joins no
 * other. */
static inline bool
ckfp_ask_hash(const ckfp_ask *ask, TupleTableSlot *slot, uint64 *hash)
{
	ckfp_build *build = ask->build;
	int i;

	*hash = 0;
	for (i = 0; i < build->record.columns; i++)
	{
		bool isnull;
		Datum value = slot_getattr(slot, ask->attribute[i], &isnull);

		if (isnull)
			return false;
		*hash = ckfp_key_combine(*hash, ckfp_key_hash(&build->probe_key[i], value));
	}
	return true;
}

/* Let verify know of a row that the filter denied, or whose partition would be skipped. */
static inline void
ckfp_ask_verify(const ckfp_ask *ask, const TupleTableSlot *slot, uint64 hash, bool passes)
{
	ckfp_build *build = ask->build;
	Datum values[CKFP_JOIN_KEYS];
	int i;

	if (!passes)
		ckfp_verify_denied(build, hash);
	if (!ckfp_partitions_skip(&build->partitions, ask->target))
		return;
	for (i = 0; i < build->record.columns; i++)
		values[i] = slot->tts_values[ask->attribute[i] - 1];
	ckfp_verify_skipped(build, hash, values);
}

/* Does a row pass the filter? Counts the row. May allocate memory. */
static inline bool
ckfp_ask_row(ckfp_ask *ask, TupleTableSlot *slot)
{
	ckfp_build *build = ask->build;
	uint64 hash;
	bool known = ckfp_ask_hash(ask, slot, &hash);
	bool passes = known && ckf_contains(&build->filter.filter, hash);

	if (unlikely(build->verify) && known)
		ckfp_ask_verify(ask, slot, hash, passes);
	ckfp_build_count(build, passes);
	ckfp_sleep_count(&ask->sleep, passes);
	return passes || build->verify;
}

#pragma GCC visibility pop

#endif
