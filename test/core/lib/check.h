/*
 * check.h - assertions, replayable seeds and guarded buffers for the tests of
 * the core.
 *
 * A suite is a program: main() calls check_begin, check_case for each case and
 * returns check_end().  A case that fails stops there, the next ones run.
 *
 * Environment:
 *   SEED=n      replay: every case derives its own seed from n and its name
 *   CASE=text   run only the cases whose name contains text
 *   ROUNDS=n    per cent of the usual rounds of the random tests (100)
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Fail the running case unless cond holds; the rest is a printf message. */
#define CHECK(cond, ...)                                                                           \
	do                                                                                             \
	{                                                                                              \
		if (!(cond))                                                                               \
			check_fail(__FILE__, __LINE__, #cond, __VA_ARGS__);                                    \
	} while (0)

void check_begin(const char *suite);

/* Run one case; arg goes to it as it is. */
void check_case(void (*run)(const void *arg), const void *arg, const char *name_format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print "SUITE: N passed, M failed"; the exit status of main. */
int check_end(void);

_Noreturn void check_fail(const char *file, int line, const char *what, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line of figures beside the running case. */
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Random numbers of the running case. */
uint64_t check_random(void);
uint64_t check_below(uint64_t n); /* 0 .. n - 1; n > 0 */
bool check_chance(unsigned percent);

/*
 * For fuzz targets, which have no cases: take random numbers from these bytes
 * first, then from a fixed seed; and let a failure abort.
 */
void check_feed(const uint8_t *bytes, size_t size);

/* Whether the bytes of check_feed are not yet used up. */
bool check_fed(void);

/* Random bits that never come from check_feed: where buffers lie. */
uint64_t check_noise(void);

/* n scaled by ROUNDS, at least 1. */
uint64_t check_rounds(uint64_t n);

/*
 * Buffers between two pages that trap.  Each lies, at random, right at the
 * end of its pages or right at their start; what alignment leaves over is
 * filled with a pattern that guard_free checks.  Contents start as garbage.
 */
void *guard_new(size_t size, size_t align);
void guard_free(void *buffer);
void guard_read_only(void *buffer, bool read_only);

/* How many of them this process has not freed. */
size_t guard_held(void);

/* A guarded copy of bytes, at any alignment. */
void *guard_copy(const void *bytes, size_t size);

/* malloc that fails the case instead of returning NULL. */
void *check_alloc(size_t size);

#endif
