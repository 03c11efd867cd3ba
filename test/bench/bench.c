/*
 * bench.c - time, medians, progress, CSV.
 */
#include "bench.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool
bench_quick(void)
{
	const char *quick = getenv("QUICK");

	return quick != NULL && *quick != '\0' && *quick != '0';
}

double
bench_now(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int
bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
bench_median(double *figures, size_t n)
{
	if (n == 0)
		return 0;
	qsort(figures, n, sizeof *figures, bench_compare);
	return (figures[(n - 1) / 2] + figures[n / 2]) / 2;
}

void
bench_say(const char *format, ...)
{
	static double start;
	va_list arguments;

	if (start == 0)
		start = bench_now();
	fprintf(stderr, "%6.1f s  ", bench_now() - start);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

void
bench_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

FILE *
bench_csv(const char *directory, const char *name, const char *columns)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s.csv", directory, name);
	file = fopen(path, "w");
	if (file == NULL)
		bench_fail("cannot write %s", path);
	fprintf(file, "%s\n", columns);
	return file;
}

void *
bench_memory(size_t bytes)
{
	void *memory = malloc(bytes);

	if (memory == NULL)
		bench_fail("no memory for %zu bytes", bytes);
	memset(memory, 0, bytes);
	return memory;
}
