/*
 * check.h - what the suites in C share: checks that are counted, and a generator of numbers.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long passed, failed;

/* Count a check.  One that fails is printed with what was checked and what was found. */
static inline void
check_found(bool ok, const char *what, const char *found)
{
	if (ok)
		passed++;
	else
	{
		failed++;
		printf("FAILED: %.300s: %.300s\n", what, found ? found : "NULL");
	}
}

static inline void
check(bool ok, const char *what)
{
	check_found(ok, what, "");
}

/* Print the counts; the exit status of the suite. */
static inline int
check_end(const char *suite)
{
	printf("%s: %lu passed, %lu failed\n", suite, passed, failed);
	return failed > 0;
}

static uint64_t check_state; /* of check_random */

/* Take the seed from SEED, or draw one, and print it. */
static inline void
check_seed(void)
{
	const char *given = getenv("SEED");

	check_state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	printf("SEED=%llu\n", (unsigned long long)check_state);
}

static inline uint64_t
check_random(void)
{
	uint64_t x = check_state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

#endif
