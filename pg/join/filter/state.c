/*
 * state.c - the state of the plan node that builds a filter: started anew, given up; and that of
 * the scans that use it, which suspend their tests if too many rows pass.
 *
 * Rows that come one after the other often have the same keys: tables are in the order of time, or
 * partitioned. So a filter that is of no use for a stretch of rows may be of use for the next one.
 * After two windows in a row in which too many rows passed, the scan suspends its tests: the next
 * rows pass untested. Then a short window tells whether it is suspended again, twice as long.
 */
#include "join/filter/filter.h"
#include "join/remote/remote.h"

#include "utils/lsyscache.h"

void
ckfp_suspension_add(ckfp_suspensions *all, ckfp_suspension *suspension)
{
	suspension->all = all;
	suspension->next = all->first;
	all->first = suspension;
}

uint64
ckfp_suspension_untested(const ckfp_suspensions *all)
{
	uint64 untested = all->untested;

	for (const ckfp_suspension *suspension = all->first; suspension != NULL;
		 suspension = suspension->next)
		untested -= suspension->suspended;
	return untested;
}

void
ckfp_suspension_reset(ckfp_suspensions *all)
{
	all->untested = ckfp_suspension_untested(all);
	all->bad = false;
	for (ckfp_suspension *suspension = all->first; suspension != NULL;
		 suspension = suspension->next)
	{
		suspension->suspended = 0;
		suspension->window = 0;
		suspension->left = 0;
	}
}

static void
ckfp_suspension_begin_window(ckfp_suspension *suspension, uint32 rows)
{
	suspension->window = rows;
	suspension->left = rows;
	suspension->passed = 0;
}

static void
ckfp_suspension_begin(ckfp_suspension *suspension)
{
	suspension->suspended = suspension->length;
	suspension->all->untested += suspension->length;
	suspension->length = Min(2 * suspension->length, CKFP_LONGEST_SUSPENSION);
	ckfp_suspension_begin_window(suspension, CKFP_FIRST_WINDOW);
}

void
ckfp_suspension_next_window(ckfp_suspension *suspension)
{
	bool bad = suspension->passed > ckfp_join_max_pass * suspension->window;

	if (suspension->window == 0)
	{
		/* the window before was that of another scan: partitions are often alike */
		suspension->bad = suspension->all->bad;
		suspension->length = CKFP_SUSPENSION;
		ckfp_suspension_begin_window(suspension, CKFP_FIRST_WINDOW);
		return;
	}
	if (bad && suspension->bad && !suspension->all->never)
		ckfp_suspension_begin(suspension);
	else
		ckfp_suspension_begin_window(suspension, CKFP_WINDOW);
	if (!bad)
		suspension->length = CKFP_SUSPENSION;
	suspension->bad = bad;
	suspension->all->bad = bad;
}

void
ckfp_build_enter(ckfp_build *build, ckfp_build_state state)
{
#ifdef CKF_TEST_BUILD
	/* the states that each one may follow, as bits */
	static const uint8 after[] = {
		[CKFP_BUILD_OFF] = 0xff,
		[CKFP_BUILD_NEW] = 0xff,
		[CKFP_BUILD_GATHERING] = 1 << CKFP_BUILD_NEW,
		[CKFP_BUILD_WAITING] = 1 << CKFP_BUILD_GATHERING | 1 << CKFP_BUILD_READY,
		[CKFP_BUILD_READY] =
			1 << CKFP_BUILD_NEW | 1 << CKFP_BUILD_GATHERING | 1 << CKFP_BUILD_WAITING,
	};

	if ((after[state] >> build->state & 1) == 0)
		elog(PANIC, "join filter: state %d after %d", (int)state, (int)build->state);
#endif
	build->state = state;
}

static void
ckfp_build_drop_filter(ckfp_build *build)
{
	ckfp_remote_set(build->css.ss.ps.state, &build->record, NULL);
	ckfp_partitions_start(&build->partitions, &build->record);
	build->sent = false;
	build->ranges.test.integers = NULL;
	ckfp_filter_free(&build->filter);
}

void
ckfp_build_give_up(ckfp_build *build, ckfp_given_up why)
{
	ckfp_build_drop_filter(build);
	ckfp_build_enter(build, CKFP_BUILD_OFF);
	if (why != CKFP_GIVEN_UP_NOT)
		build->counts.given_up = why;
}

void
ckfp_build_ready(ckfp_build *build)
{
	build->counts.keys = build->filter.keys;
	build->counts.memory = ckfp_filter_memory(&build->filter);
	if (build->filter.integers.width > 0)
		build->ranges.test = (ckfp_key_test){.integers = &build->filter.integers,
											 .length = get_typlen(build->record.column[0].probe),
											 .exact = true};
	ckfp_build_enter(build, CKFP_BUILD_READY);
}

bool
ckfp_build_is_remote(const ckfp_build *build)
{
	foreach_ptr (const ckfp_join_target, target, build->record.targets)
		if (ckfp_remote_uses(target))
			return true;
	return false;
}

void
ckfp_build_read_first(ckfp_build *build)
{
	if (build->join != NULL)
		build->join->hj_OuterNotEmpty = true;
}

void
ckfp_build_start(ckfp_build *build)
{
	ckfp_build_drop_filter(build);
	ckfp_suspension_reset(&build->suspensions);
	if (build->state == CKFP_BUILD_OFF)
		return;
	ckfp_build_enter(build, CKFP_BUILD_NEW);
	if (build->record.first && (ckfp_build_is_remote(build) || build->partitions.scans > 0))
		ckfp_build_read_first(build);
}

void
ckfp_build_know_partitions(ckfp_build *build)
{
	build->counts.scans = (uint64)build->partitions.scans;
	build->counts.skipped = (uint64)ckfp_partitions_skipped(&build->partitions);
}

void
ckfp_build_know_ranges(ckfp_build *build)
{
	const ckfp_ranges *ranges = ckfp_key_ranges_of(&build->ranges, 0);

	if (build->ranges.state != CKFP_RANGES_KNOWN || build->partitions.known ||
		build->partitions.scans == 0)
		return;
	ckfp_partitions_add_ranges(&build->partitions, ranges->range, ranges->ranges, ranges->length);
	ckfp_partitions_finish(&build->partitions);
	ckfp_build_know_partitions(build);
}

ckfp_join_counts
ckfp_build_counts(const ckfp_build *build)
{
	ckfp_join_counts counts = build->counts;

	counts.untested = ckfp_suspension_untested(&build->suspensions);
	counts.blocks = build->ranges.blocks;
	counts.blocks_skipped = build->ranges.skipped;
	return counts;
}

ckfp_join_counts
ckfp_build_all_counts(const ckfp_build *build)
{
	ckfp_join_counts counts = ckfp_build_counts(build);

	ckfp_counts_add(&counts, &build->workers);
	return counts;
}
