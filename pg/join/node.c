/*
 * node.c - the state of the plan node that builds a filter: started anew, and given up.
 */
#include "node.h"
#include "remote.h"

static void
ckfp_build_drop_filter(ckfp_build *build)
{
	ckfp_remote_set(build->css.ss.ps.state, &build->record, NULL);
	ckfp_partitions_start(&build->partitions);
	build->sent = false;
	ckfp_filter_free(&build->filter);
}

void
ckfp_build_give_up(ckfp_build *build, ckfp_given_up why)
{
	ckfp_build_drop_filter(build);
	build->gathering = false;
	build->asking = false;
	build->disabled = true;
	if (why != CKFP_GIVEN_UP_NOT)
		build->counts.given_up = why;
}

bool
ckfp_build_is_remote(const ckfp_build *build)
{
	ListCell *cell;

	foreach (cell, build->record.targets)
		if (ckfp_remote_asks(lfirst(cell)))
			return true;
	return false;
}

void
ckfp_build_start(ckfp_build *build)
{
	ckfp_build_drop_filter(build);
	build->asking = false;
	build->gathering = !build->disabled;
	ckfp_sleep_reset(&build->sleepers);
	/* With this flag the hash join reads the build side before the first row of the probe side. */
	if (build->gathering && build->record.first &&
		(ckfp_build_is_remote(build) || build->partitions.scans > 0))
		build->join->hj_OuterNotEmpty = true;
}

void
ckfp_build_know_partitions(ckfp_build *build)
{
	build->counts.scans = (uint64)build->partitions.scans;
	build->counts.skipped = (uint64)ckfp_partitions_skipped(&build->partitions);
}

ckfp_join_counts
ckfp_build_counts(const ckfp_build *build)
{
	ckfp_join_counts counts = build->counts;

	counts.unasked = ckfp_sleep_unasked(&build->sleepers);
	return counts;
}
