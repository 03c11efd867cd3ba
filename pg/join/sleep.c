/*
 * sleep.c - a scan stops to ask a filter for a while if too many of its rows pass.
 *
 * Rows that come one after the other often have the same keys: tables are in the order of time, or
 * partitioned. So a filter that is of no use for a stretch of rows may be of use for the next one.
 * After two windows in a row in which too many rows passed, the scan sleeps: the next rows pass
 * unasked. Then a short window tells whether it sleeps again, twice as long.
 */
#include "sleep.h"

void
ckfp_sleep_add(ckfp_sleepers *all, ckfp_sleep *sleep)
{
	sleep->all = all;
	sleep->next = all->first;
	all->first = sleep;
}

uint64
ckfp_sleep_unasked(const ckfp_sleepers *all)
{
	uint64 unasked = all->unasked;
	const ckfp_sleep *sleep;

	for (sleep = all->first; sleep != NULL; sleep = sleep->next)
		unasked -= sleep->asleep;
	return unasked;
}

void
ckfp_sleep_reset(ckfp_sleepers *all)
{
	ckfp_sleep *sleep;

	all->unasked = ckfp_sleep_unasked(all);
	all->bad = false;
	for (sleep = all->first; sleep != NULL; sleep = sleep->next)
	{
		sleep->asleep = 0;
		sleep->window = 0;
		sleep->left = 0;
	}
}

static void
ckfp_sleep_begin_window(ckfp_sleep *sleep, uint32 rows)
{
	sleep->window = rows;
	sleep->left = rows;
	sleep->passed = 0;
}

static void
ckfp_sleep_begin(ckfp_sleep *sleep)
{
	sleep->asleep = sleep->length;
	sleep->all->unasked += sleep->length;
	sleep->length = Min(2 * sleep->length, CKFP_LONGEST_SLEEP);
	ckfp_sleep_begin_window(sleep, CKFP_FIRST_WINDOW);
}

void
ckfp_sleep_next_window(ckfp_sleep *sleep)
{
	bool bad = sleep->passed > ckfp_join_max_pass * sleep->window;

	if (sleep->window == 0)
	{
		/* the window before was that of another scan: partitions are often alike */
		sleep->bad = sleep->all->bad;
		sleep->length = CKFP_SLEEP;
		ckfp_sleep_begin_window(sleep, CKFP_FIRST_WINDOW);
		return;
	}
	if (bad && sleep->bad && !sleep->all->never)
		ckfp_sleep_begin(sleep);
	else
		ckfp_sleep_begin_window(sleep, CKFP_WINDOW);
	if (!bad)
		sleep->length = CKFP_SLEEP;
	sleep->bad = bad;
	sleep->all->bad = bad;
}
