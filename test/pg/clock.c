/*
 * clock.c - clocks for the join filters of a server that do not depend on the machine; preloaded
 * into the server by t/054_join_nestloop_price.pl, which builds it.
 *
 * Processor time passes only when the process uses a block, BLOCK_NS each, and when it then asks
 * for its processor time, COLD_NS after the answer. The time of day also passes when the process
 * reads a block, READ_NS, and when it asks for the time, CALL_NS: so long it has waited for a
 * processor. All other callers get the machine's clocks.
 */
#define _GNU_SOURCE /* dladdr */

#include "postgres.h"

#include "executor/instrument.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64
setting(const char *name)
{
	const char *value = getenv(name);

	return value != NULL ? atoll(value) : 0;
}

static bool
is_for_join_filters(void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) != 0 && strstr(info.dli_fname, "cuckoofilter_join") != NULL;
}

int
clock_gettime(clockid_t clock, struct timespec *time)
{
	static int64 waited = 0;
	static int64 cold = 0;
	static int64 last = 0;
	const BufferUsage *usage;
	int64 blocks;
	int64 ns;

	if (!is_for_join_filters(__builtin_return_address(0)))
		return (int)syscall(SYS_clock_gettime, clock, time);
	usage = dlsym(RTLD_DEFAULT, "pgBufferUsage");
	blocks = usage->shared_blks_hit + usage->shared_blks_read;
	ns = blocks * setting("BLOCK_NS") + cold;
	if (clock == CLOCK_MONOTONIC)
	{
		waited += setting("CALL_NS");
		ns += waited + usage->shared_blks_read * setting("READ_NS");
	}
	else if (blocks != last)
	{
		cold += setting("COLD_NS");
		last = blocks;
	}
	time->tv_sec = ns / 1000000000;
	time->tv_nsec = ns % 1000000000;
	return 0;
}
