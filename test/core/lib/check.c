/*
 * check.c - runner of test cases, see check.h.
 */
#define _GNU_SOURCE
#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif

/* A case that runs longer than this hangs, even under an emulator. */
enum
{
	HANG_SECONDS = 1800
};

static const char *suite_name;
static uint64_t master_seed;
static uint64_t random_state;
static unsigned rounds_percent = 100;
static unsigned passed, failed;
static char case_name[200];
static jmp_buf case_end;
static bool in_case;
static const uint8_t *feed, *feed_end;

static uint64_t
mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void
report_failure(void)
{
	printf("  to replay: SEED=%llu CASE='%s'\n", (unsigned long long)master_seed, case_name);
}

static void
on_crash(int signal_number)
{
	printf("  FAILED %s: signal %d (%s)\n", case_name, signal_number,
		   signal_number == SIGALRM ? "hangs" : strsignal(signal_number));
	report_failure();
	printf("%s: %u passed, %u failed\n", suite_name, passed, failed + 1);
	fflush(stdout);
	_exit(1);
}

static void
catch_crashes(void)
{
	static const int caught[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	size_t n = sizeof caught / sizeof *caught;

#ifdef UNDER_ASAN
	n = 1; /* the sanitizer's own report tells more */
#endif
	for (size_t i = 0; i < n; i++)
		signal(caught[i], on_crash);
}

void
check_begin(const char *suite)
{
	const char *seed = getenv("SEED");
	const char *rounds = getenv("ROUNDS");
	struct timespec now;

	suite_name = suite;
	clock_gettime(CLOCK_REALTIME, &now);
	master_seed = mix((uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec) >> 32;
	if (seed != NULL && *seed != '\0')
		master_seed = strtoull(seed, NULL, 0);
	if (rounds != NULL && *rounds != '\0')
		rounds_percent = (unsigned)strtoul(rounds, NULL, 10);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%s: SEED=%llu ROUNDS=%u\n", suite, (unsigned long long)master_seed, rounds_percent);
	catch_crashes();
}

/* The seed depends on the name, so that one case replays alone. */
static void
seed_case(void)
{
	random_state = mix(master_seed);
	for (const char *p = case_name; *p != '\0'; p++)
		random_state = mix(random_state + (unsigned char)*p);
}

void
check_case(void (*run)(const void *arg), const void *arg, const char *name_format, ...)
{
	const char *wanted = getenv("CASE");
	va_list args;

	va_start(args, name_format);
	vsnprintf(case_name, sizeof case_name, name_format, args);
	va_end(args);
	if (wanted != NULL && strstr(case_name, wanted) == NULL)
		return;
	seed_case();
	alarm(HANG_SECONDS);
	in_case = true;
	if (setjmp(case_end) == 0)
	{
		run(arg);
		passed++;
		printf("  ok %s\n", case_name);
	}
	else
		failed++;
	in_case = false;
	alarm(0);
}

int
check_end(void)
{
	if (passed + failed == 0)
		failed = 1; /* a run without a case has tested nothing */
	printf("%s: %u passed, %u failed\n", suite_name, passed, failed);
	return failed == 0 ? 0 : 1;
}

void
check_fail(const char *file, int line, const char *what, const char *format, ...)
{
	va_list args;

	printf("  FAILED %s\n    %s:%d: %s\n    ", case_name, file, line, what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	report_failure();
	fflush(stdout);
	if (!in_case)
		abort();
	longjmp(case_end, 1);
}

void
check_note(const char *format, ...)
{
	va_list args;

	printf("    ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void
check_feed(const uint8_t *bytes, size_t size)
{
	feed = bytes;
	feed_end = size > 0 ? bytes + size : bytes;
	random_state = 0;
}

bool
check_fed(void)
{
	return feed < feed_end;
}

uint64_t
check_noise(void)
{
	random_state += UINT64_C(0x9e3779b97f4a7c15);
	return mix(random_state);
}

/* The next bytes that were fed, at most n of them. */
static uint64_t
feed_bytes(size_t n)
{
	uint64_t value = 0;

	for (; n > 0 && feed < feed_end; n--)
		value = value << 8 | *feed++;
	return value;
}

uint64_t
check_random(void)
{
	return check_fed() ? feed_bytes(8) : check_noise();
}

uint64_t
check_below(uint64_t n)
{
	return (check_fed() && n <= 256 ? feed_bytes(1) : check_random()) % n;
}

bool
check_chance(unsigned percent)
{
	return check_below(100) < percent;
}

uint64_t
check_rounds(uint64_t n)
{
	uint64_t scaled = n * rounds_percent / 100;

	return scaled > 0 ? scaled : 1;
}

void *
check_alloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	CHECK(p != NULL, "out of memory: %zu bytes", size);
	return p;
}
