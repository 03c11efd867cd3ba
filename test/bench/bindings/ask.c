/*
 * ask.c - the C library in the benchmark of the bindings, beside libbloom where WITH_BLOOM is
 * defined.  A line of output: package, figure, items, seconds of user time.
 */
#include "cuckoofilter_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#ifdef WITH_BLOOM
#include <bloom.h>
#endif

enum
{
	ITEMS = 1000000,
	TEXT = 16
};

static int64_t asked[ITEMS];
static char texts[ITEMS][TEXT];
static uint64_t hashes[ITEMS];
static uint8_t found[ITEMS];

static double
user_time(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

static void
tell(const char *package, const char *figure, double since)
{
	printf("%s\t%s\t%d\t%.6f\n", package, figure, ITEMS, user_time() - since);
}

/* Half of the lookups are about items of the filter: all of these must be found. */
static void
expect_half(const char *figure, int count)
{
	if (count < ITEMS / 2 || count > ITEMS / 2 + ITEMS / 50)
	{
		fprintf(stderr, "%s: %d items were found\n", figure, count);
		exit(1);
	}
}

static cuckoofilter *
build(const char *figure, bool text)
{
	cuckoofilter_builder *builder = cuckoofilter_build(0.01, 0, NULL, NULL);
	double start = user_time();
	cuckoofilter *filter;

	for (int i = 0; i < ITEMS; i++)
	{
		char buffer[TEXT];
		size_t size = text ? (size_t)snprintf(buffer, TEXT, "user-%d", i) : 0;

		cuckoofilter_build_add(
			builder, text ? cuckoofilter_text(buffer, size) : cuckoofilter_integer(i), NULL);
	}
	filter = cuckoofilter_build_end(builder, NULL);
	if (!text)
		tell("C", figure, start);
	cuckoofilter_build_free(builder);
	return filter;
}

static void
ask(void)
{
	cuckoofilter *numbers = build("build, integers", false), *users = build("", true);
	int count = 0;
	double start = user_time();

	for (int i = 0; i < ITEMS; i++)
		count += cuckoofilter_contains(numbers, cuckoofilter_integer(asked[i]), NULL);
	tell("C", "one by one, integers", start);
	expect_half("one by one", count);
	start = user_time();
	for (int i = 0; i < ITEMS; i++)
		hashes[i] = ckf_hash_integer(asked[i], 0);
	cuckoofilter_contains_hashes(numbers, hashes, ITEMS, CKF_ITEM_NUMBER, found, NULL);
	tell("C", "many, integers", start);
	count = 0;
	for (int i = 0; i < ITEMS; i++)
		count += found[i];
	expect_half("many", count);
	count = 0;
	start = user_time();
	for (int i = 0; i < ITEMS; i++)
		count += cuckoofilter_contains(users, cuckoofilter_text(texts[i], strlen(texts[i])), NULL);
	tell("C", "one by one, texts", start);
	expect_half("texts", count);
	cuckoofilter_free(numbers);
	cuckoofilter_free(users);
}

#ifdef WITH_BLOOM
static void
ask_bloom(void)
{
	struct bloom bloom;
	double start;
	int count = 0;

	bloom_init(&bloom, ITEMS, 0.01);
	start = user_time();
	for (int64_t i = 0; i < ITEMS; i++)
		bloom_add(&bloom, &i, sizeof i);
	tell("libbloom (C)", "build, integers", start);
	start = user_time();
	for (int i = 0; i < ITEMS; i++)
		count += bloom_check(&bloom, &asked[i], sizeof asked[i]);
	tell("libbloom (C)", "one by one, integers", start);
	expect_half("libbloom", count);
	bloom_free(&bloom);
}
#endif

int
main(void)
{
	/* the integers ITEMS/2 .. ITEMS*3/2, in an order that no cache helps */
	for (int i = 0; i < ITEMS; i++)
	{
		asked[i] = ITEMS / 2 + (int64_t)i * 7919 % ITEMS;
		snprintf(texts[i], TEXT, "user-%lld", (long long)asked[i]);
	}
	ask();
#ifdef WITH_BLOOM
	ask_bloom();
#endif
	return 0;
}
