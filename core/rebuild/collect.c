/*
 * collect.c - the quick way into a state for the items of a small filter, as
 * GROUP BY makes millions of them: each is added by itself, where that costs
 * less than to rebuild the state.
 */
#include "filter/header.h"
#include "filter/operations.h"
#include "rebuild/promise.h"
#include "rebuild/scan.h"
#include "small/log.h"
#include "small/state.h"
#include "thresholds.h"

/* Bytes of a filter that is merged in one go, since it is read without a look for
 * interrupts: a table of the smallest segments may have any number of them. */
#define CKF_MOST_BYTES ((size_t)8 * CKF_STEP)

bool
ckf_few(const ckf_filter *t, uint64_t n)
{
	return n <= t->count / CKF_FEW_SHARE;
}

/* May so many items be added one by one to a state that promises what `to` does
 * from then on, and is each certain to find room? */
static bool
ckf_takes_each(const ckf_filter *state, const ckf_filter *to, uint64_t items)
{
	return (!ckf_state_is_log(state) || ckf_log_may_promise(state, to)) &&
		   ckf_state_takes(state, items);
}

/* Add all items of a scan. */
static ckf_status
ckf_add_each(ckf_filter *state, ckf_scan *s)
{
	ckf_status status = CKF_OK;

	ckf_scan_rewind(s, 64);
	while (status == CKF_OK && (ckf_scan_ready(s) || !s->ended))
		while (status == CKF_OK && s->at < s->have)
			status = state->operations->add(state, s->keys[s->at++]);
	return status;
}

ckf_status
ckf_collect(ckf_filter *state, const ckf_filter *in, ckf_goal goal)
{
	const ckf_filter *both[2] = {state, in};
	ckf_scan scan[CKF_SCANS_OF_ONE];
	uint64_t memory[CKF_FEW_WORDS];
	unsigned scans, i;
	size_t worked = 0;
	uint64_t items = ckf_items(in);
	ckf_filter to;
	ckf_status status = ckf_promise(&to, goal, both, 2);

	if (status != CKF_OK)
		return status;
	if (!(state->flags & CKF_FLAG_STATE) || in->size > CKF_MOST_BYTES ||
		!ckf_takes_each(state, &to, items))
		return CKF_ROOM;
	/* what says that it is empty is neutral, as in a rebuild */
	scans = items > 0 ? in->operations->source->scans(in, scan) : 0;
	for (i = 0; i < scans; i++)
		if (scan[i].words > CKF_FEW_WORDS || ckf_scan_sorts(&scan[i]))
			return CKF_ROOM;
	*state = to;
	ckf_write_header(state);
	for (i = 0; i < scans && status == CKF_OK; i++)
	{
		scan[i].memory = memory;
		scan[i].worked = &worked;
		status = ckf_add_each(state, &scan[i]);
	}
	if (ckf_items(state) == 0) /* the filter had fewer than it said */
		ckf_set_item_classes(state, 0);
	return status;
}
