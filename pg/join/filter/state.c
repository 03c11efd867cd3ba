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
ckfp_filter_node_enter(ckfp_filter_node *filter_node, ckfp_filter_state state)
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

	if ((after[state] >> filter_node->state & 1) == 0)
		elog(PANIC, "join filter: state %d after %d", (int)state, (int)filter_node->state);
#endif
	filter_node->state = state;
}

static void
ckfp_filter_node_drop_filter(ckfp_filter_node *filter_node)
{
	ckfp_remote_set(filter_node->css.ss.ps.state, &filter_node->record, NULL);
	ckfp_partitions_start(&filter_node->partitions, &filter_node->record);
	filter_node->sent = false;
	filter_node->ranges.test.integers = NULL;
	ckfp_filter_free(&filter_node->filter);
}

void
ckfp_filter_node_give_up(ckfp_filter_node *filter_node, ckfp_given_up why)
{
	ckfp_filter_node_drop_filter(filter_node);
	ckfp_filter_node_enter(filter_node, CKFP_FILTER_OFF);
	if (why != CKFP_GIVEN_UP_NOT)
		filter_node->counts.given_up = why;
}

void
ckfp_filter_node_ready(ckfp_filter_node *filter_node)
{
	filter_node->counts.keys = filter_node->filter.keys;
	filter_node->counts.memory = ckfp_filter_memory(&filter_node->filter);
	if (filter_node->filter.integers.width > 0)
		filter_node->ranges.test =
			(ckfp_key_test){.integers = &filter_node->filter.integers,
							.length = get_typlen(filter_node->record.column[0].probe),
							.exact = true};
	ckfp_filter_node_enter(filter_node, CKFP_FILTER_READY);
}

bool
ckfp_filter_node_is_remote(const ckfp_filter_node *filter_node)
{
	foreach_ptr (const ckfp_join_target, target, filter_node->record.targets)
		if (ckfp_remote_uses(target))
			return true;
	return false;
}

void
ckfp_filter_node_read_first(ckfp_filter_node *filter_node)
{
	if (filter_node->join != NULL)
		filter_node->join->hj_OuterNotEmpty = true;
}

void
ckfp_filter_node_start(ckfp_filter_node *filter_node)
{
	ckfp_filter_node_drop_filter(filter_node);
	ckfp_suspension_reset(&filter_node->suspensions);
	if (filter_node->state == CKFP_FILTER_OFF)
		return;
	ckfp_filter_node_enter(filter_node, CKFP_FILTER_NEW);
	if (filter_node->record.first &&
		(ckfp_filter_node_is_remote(filter_node) || filter_node->partitions.scans > 0))
		ckfp_filter_node_read_first(filter_node);
}

void
ckfp_filter_node_know_partitions(ckfp_filter_node *filter_node)
{
	filter_node->counts.scans = (uint64)filter_node->partitions.scans;
	filter_node->counts.skipped = (uint64)ckfp_partitions_skipped(&filter_node->partitions);
}

void
ckfp_filter_node_know_ranges(ckfp_filter_node *filter_node)
{
	const ckfp_ranges *ranges = ckfp_key_ranges_of(&filter_node->ranges, 0);

	if (filter_node->ranges.state != CKFP_RANGES_KNOWN || filter_node->partitions.known ||
		filter_node->partitions.scans == 0)
		return;
	ckfp_partitions_add_ranges(&filter_node->partitions, ranges->range, ranges->ranges,
							   ranges->length);
	ckfp_partitions_finish(&filter_node->partitions);
	ckfp_filter_node_know_partitions(filter_node);
}

ckfp_join_counts
ckfp_filter_node_counts(const ckfp_filter_node *filter_node)
{
	ckfp_join_counts counts = filter_node->counts;

	counts.untested = ckfp_suspension_untested(&filter_node->suspensions);
	counts.blocks = filter_node->ranges.blocks;
	counts.blocks_skipped = filter_node->ranges.skipped;
	counts.unskipped = filter_node->ranges.unskipped;
	return counts;
}

ckfp_join_counts
ckfp_filter_node_all_counts(const ckfp_filter_node *filter_node)
{
	ckfp_join_counts counts = ckfp_filter_node_counts(filter_node);

	ckfp_counts_add(&counts, &filter_node->workers);
	return counts;
}
