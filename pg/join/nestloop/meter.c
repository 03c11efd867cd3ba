/*
 * meter.c - what a piece of work costs this process.
 *
 * To wait for a processor is no cost: on a busy machine everything waits for one. So the processor
 * time counts, and the time that blocks took to come. The latter is the rest of the time, of work
 * that has read blocks, up to a limit for each block: a process may wait for both.
 */
#include "join/nestloop/nestloop.h"

#include "executor/instrument.h"

#include <time.h>

/* To wait for a block costs at most so much, in ns. */
#define CKFP_BLOCK_NS 100e3

/* The samples after which the older ones count half. */
#define CKFP_SAMPLES 64

/* The pieces of no work by which the cost of measuring is found. */
#define CKFP_EMPTY_SAMPLES 9

static double
ckfp_clock(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) != 0)
		return 0;
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int64
ckfp_blocks_read(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

/* The processor's clock is read last, and first in the end, since that is a call of the kernel. It
 * is also read at first: a call after much other work takes several times as long as the next one,
 * and would count as a part of the work. */
void
ckfp_meter_start(ckfp_meter *meter)
{
	ckfp_clock(CLOCK_THREAD_CPUTIME_ID);
	meter->blocks = ckfp_blocks_read();
	meter->clock = ckfp_clock(CLOCK_MONOTONIC);
	meter->processor = ckfp_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* The processor time since then, with that of measuring. */
static double
ckfp_meter_processor(const ckfp_meter *meter)
{
	return ckfp_clock(CLOCK_THREAD_CPUTIME_ID) - meter->processor;
}

/* What measuring adds to a cost. It is found once in a process. */
static double
ckfp_meter_own(void)
{
	static double own = -1;
	ckfp_costs samples = {0};
	ckfp_meter meter;

	if (own >= 0)
		return own;
	while (samples.n < CKFP_EMPTY_SAMPLES)
	{
		ckfp_meter_start(&meter);
		ckfp_costs_add(&samples, ckfp_meter_processor(&meter), 0);
	}
	own = ckfp_costs_mean(&samples);
	return own;
}

double
ckfp_meter_read(const ckfp_meter *meter, double *wait)
{
	double processor = ckfp_meter_processor(meter);
	double rest = ckfp_clock(CLOCK_MONOTONIC) - meter->clock - processor;
	double blocks = (double)(ckfp_blocks_read() - meter->blocks);

	*wait = Max(Min(rest, blocks * CKFP_BLOCK_NS), 0);
	return Max(processor - ckfp_meter_own(), 0) + *wait;
}

void
ckfp_costs_add(ckfp_costs *samples, double cost, double wait)
{
	if (samples->n >= CKFP_SAMPLES)
	{
		samples->n /= 2;
		samples->sum /= 2;
		samples->wait /= 2;
		samples->most /= 2;
	}
	samples->n++;
	samples->sum += cost;
	samples->wait += wait;
	samples->most = Max(samples->most, cost);
}

double
ckfp_costs_mean(const ckfp_costs *samples)
{
	return samples->n > 1 ? (samples->sum - samples->most) / (samples->n - 1) : 0;
}
