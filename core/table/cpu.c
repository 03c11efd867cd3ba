/*
 * cpu.c - which fast paths this processor supports.  All paths compute the same results.
 */
#include "filter/methods.h"

#ifdef CKF_TEST_BUILD
#include <stdlib.h>
#endif

#if defined(__x86_64__)
/* Whether the environment asks for the portable paths.  Only test builds read it. */
static bool
ckf_portable_only(void)
{
#ifdef CKF_TEST_BUILD
	const char *portable = getenv("CUCKOOFILTER_PORTABLE");

	return portable && *portable && *portable != '0';
#else
	return false;
#endif
}
#endif

bool
ckf_use_pdep(void)
{
#if defined(__x86_64__)
	/* 0: not known yet, 1: no, 2: yes.  Threads may compute it at the same time; all get the
	 * same value. */
	static int known;
	int use = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (use == 0)
	{
		__builtin_cpu_init();
		/* AMD's first two generations of Zen have pdep, in microcode that is slower
		 * than the portable path */
		use = ckf_portable_only() || !__builtin_cpu_supports("bmi2") ||
					  __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2")
				  ? 1
				  : 2;
		__atomic_store_n(&known, use, __ATOMIC_RELAXED);
	}
	return use == 2;
#else
	return false;
#endif
}
