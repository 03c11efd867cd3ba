/*
 * node.c - the state of the plan node that builds a filter: started anew, given up, and switched
 * off if too many rows pass.
 */
#include "node.h"
#include "remote.h"

static void
ckfp_build_drop_filter(ckfp_build *build)
{
	ckfp_remote_set(build->css.ss.ps.state, &build->record, NULL);
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
	build->windows = 0;
	build->in_window = true;
	build->window_edge = build->counts.tested + CKFP_WINDOW;
	build->passed_before = build->counts.tested - build->counts.removed;
	/* With this flag the hash join reads the build side before the first row of the probe side. */
	if (build->gathering && build->record.first && ckfp_build_is_remote(build))
		build->join->hj_OuterNotEmpty = true;
}

/* -------------------------------------------------------------- adaptivity */

/* Did too many rows pass in two of the last three windows? One window is not enough, since
 * neighbouring rows often have the same keys. */
static bool
ckfp_too_many_passed(unsigned windows)
{
	return (windows & 3) == 3 || (windows & 5) == 5;
}

void
ckfp_build_toggle_window(ckfp_build *build)
{
	uint64 passed = build->counts.tested - build->counts.removed;

	build->in_window = !build->in_window;
	if (build->in_window)
	{
		build->passed_before = passed;
		build->window_edge += CKFP_WINDOW;
		return;
	}
	build->window_edge += CKFP_WINDOW_STEP - CKFP_WINDOW;
	passed -= build->passed_before;
	build->windows = (build->windows << 1 | (passed > ckfp_join_max_pass * CKFP_WINDOW)) & 7;
	if (ckfp_too_many_passed(build->windows) && !build->verify)
	{
		build->counts.switched_off = build->counts.tested;
		ckfp_build_give_up(build, CKFP_GIVEN_UP_NOT);
	}
}
