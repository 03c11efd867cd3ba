/*
 * state.c - the state of the plan node that owns a filter: started anew, given up; and that of the
 * scans that use it, which suspend their tests if too many rows pass.
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
		suspension->length = suspension->bad ? suspension->all->length : CKFP_SUSPENSION;
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
	suspension->all->length = suspension->length;
}

void
ckfp_owner_enter(ckfp_owner *owner, ckfp_filter_state state)
{
#ifdef CKF_TEST_BUILD
	/* the states that each one may follow, as bits */
	static const uint8 after[] = {
		[CKFP_FILTER_OFF] = 0xff,
		[CKFP_FILTER_NEW] = 0xff,
		[CKFP_FILTER_GATHERING] = 1 << CKFP_FILTER_NEW,
		[CKFP_FILTER_WAITING] = 1 << CKFP_FILTER_GATHERING | 1 << CKFP_FILTER_READY,
		[CKFP_FILTER_READY] =
			1 << CKFP_FILTER_NEW | 1 << CKFP_FILTER_GATHERING | 1 << CKFP_FILTER_WAITING,
	};

	if ((after[state] >> owner->state & 1) == 0)
		elog(PANIC, "join filter: state %d after %d", (int)state, (int)owner->state);
#endif
	owner->state = state;
}

static void
ckfp_owner_drop_filter(ckfp_owner *owner)
{
	ckfp_remote_set(owner->css.ss.ps.state, &owner->record, NULL);
	ckfp_partitions_start(&owner->partitions, &owner->record);
	owner->sent = false;
	owner->ranges.test.integers = NULL;
	ckfp_filter_free(&owner->filter);
}

void
ckfp_owner_give_up(ckfp_owner *owner, ckfp_given_up why)
{
	ckfp_owner_drop_filter(owner);
	ckfp_owner_enter(owner, CKFP_FILTER_OFF);
	if (why != CKFP_GIVEN_UP_NOT)
		owner->counts.given_up = why;
}

void
ckfp_owner_ready(ckfp_owner *owner)
{
	owner->counts.keys = owner->filter.keys;
	owner->counts.memory = ckfp_filter_memory(&owner->filter);
	if (owner->filter.integers.width > 0)
		owner->ranges.test = (ckfp_key_test){.integers = &owner->filter.integers,
											 .length = get_typlen(owner->record.column[0].probe),
											 .exact = true};
	ckfp_owner_enter(owner, CKFP_FILTER_READY);
}

bool
ckfp_owner_is_remote(const ckfp_owner *owner)
{
	foreach_ptr (const ckfp_join_target, target, owner->record.targets)
		if (ckfp_remote_uses(target))
			return true;
	return false;
}

void
ckfp_owner_read_first(ckfp_owner *owner)
{
	if (owner->join != NULL)
		owner->join->hj_OuterNotEmpty = true;
}

void
ckfp_owner_start(ckfp_owner *owner)
{
	ckfp_owner_drop_filter(owner);
	ckfp_suspension_reset(&owner->suspensions);
	if (owner->state == CKFP_FILTER_OFF)
		return;
	ckfp_owner_enter(owner, CKFP_FILTER_NEW);
	if (owner->record.first && (ckfp_owner_is_remote(owner) || owner->partitions.scans > 0))
		ckfp_owner_read_first(owner);
}

void
ckfp_owner_know_partitions(ckfp_owner *owner)
{
	owner->counts.scans = (uint64)owner->partitions.scans;
	owner->counts.skipped = (uint64)ckfp_partitions_skipped(&owner->partitions);
}

void
ckfp_owner_know_ranges(ckfp_owner *owner)
{
	const ckfp_ranges *ranges = ckfp_key_ranges_of(&owner->ranges, 0);

	if (owner->ranges.state != CKFP_RANGES_KNOWN || owner->partitions.known ||
		owner->partitions.scans == 0)
		return;
	ckfp_partitions_add_ranges(&owner->partitions, ranges->range, ranges->ranges, ranges->length);
	ckfp_partitions_finish(&owner->partitions);
	ckfp_owner_know_partitions(owner);
}

ckfp_join_counts
ckfp_owner_counts(const ckfp_owner *owner)
{
	ckfp_join_counts counts = owner->counts;

	counts.untested = ckfp_suspension_untested(&owner->suspensions);
	counts.blocks = owner->ranges.blocks;
	counts.blocks_skipped = owner->ranges.skipped;
	counts.unskipped = owner->ranges.unskipped;
	return counts;
}

ckfp_join_counts
ckfp_owner_all_counts(const ckfp_owner *owner)
{
	ckfp_join_counts counts = ckfp_owner_counts(owner);

	ckfp_counts_add(&counts, &owner->workers);
	return counts;
}
