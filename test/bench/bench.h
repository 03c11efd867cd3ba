/*
 * bench.h - what the benchmark programs share: time, medians, progress, CSV.
 *
 * Every program writes its figures as CSV into the directory that its first
 * argument names; report.py and the gnuplot scripts read nothing else.
 * QUICK=1 in the environment makes all sizes small.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

bool bench_quick(void);

/* Seconds since some start. */
double bench_now(void);

/* The median of n figures, which are sorted in place; 0 where n is 0. */
double bench_median(double *figures, size_t n);

/* One line of progress on stderr, with the time since the program began. */
void bench_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Open DIRECTORY/NAME.csv and write its first line.  Ends the program where
 * that fails, as all that follow here: a benchmark has nobody to tell. */
FILE *bench_csv(const char *directory, const char *name, const char *columns);

/* Memory that is there, touched, and zero. */
void *bench_memory(size_t bytes);

_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
