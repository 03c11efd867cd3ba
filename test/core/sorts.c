/*
 * sorts.c - the sort of hashes, and of keys by some of their bits, compared with qsort.
 */
#include "collectors.h"

#include "collect/sort.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

/* A key, cut to the bits by which it is sorted, and its number. */
typedef struct numbered
{
	uint64_t cut;
	size_t number;
} numbered;

static int
compare_numbered(const void *a, const void *b)
{
	const numbered *x = a, *y = b;

	if (x->cut != y->cut)
		return (x->cut > y->cut) - (x->cut < y->cut);
	return (x->number > y->number) - (x->number < y->number);
}

/* Random keys with leading zeros.  A part of them are near another key, or equal to it. */
static void
draw_keys(uint64_t *keys, size_t n)
{
	unsigned shift = (unsigned)check_below(60), near = 30 * (unsigned)check_below(4);

	for (size_t i = 0; i < n; i++)
		keys[i] = i > 0 && check_chance(near) ? keys[check_below(i)] ^ check_below(3)
											  : check_random() >> shift;
}

/* Sort n keys by `width` bits from `low` up: keys that are equal in these keep their order. */
static void
sort_keys(size_t n, unsigned low, unsigned width, bool whole)
{
	uint64_t *keys = guard_new(8 * n + 8, 8), *scratch = guard_new(8 * n + 8, 8);
	uint64_t *given = check_alloc(8 * n + 8);
	numbered *want = check_alloc((n + 1) * sizeof *want);
	const uint64_t *got = keys;

	draw_keys(keys, n);
	memcpy(given, keys, 8 * n);
	for (size_t i = 0; i < n; i++)
		want[i] = (numbered){keys[i] >> low << (64 - width), i};
	qsort(want, n, sizeof *want, compare_numbered);
	if (whole)
		got = ckf_sort_hashes(keys, scratch, n);
	else
		ckf_sort(keys, scratch, n, low, low + width);
	for (size_t i = 0; i < n; i++)
		CHECK(got[i] == given[want[i].number], "key %zu of %zu, sorted by %u bits from %u up", i, n,
			  width, low);
	free(want);
	free(given);
	guard_free(keys);
	guard_free(scratch);
}

/* Keys in any number, sorted by all bits or by some. */
static void
run_sort(const void *arg)
{
	static const size_t edges[] = {1, 48, 48, 200, 4096, CKF_LARGEST_PART};
	static const unsigned widths[] = {1, 8, 11, 22, 33};

	(void)arg;
	for (uint64_t round = check_rounds(400); round > 0; round--)
	{
		size_t n = edges[check_below(6)];
		bool whole = check_chance(30);
		unsigned width = check_chance(50) ? widths[check_below(5)] + (unsigned)check_below(2)
										  : 1 + (unsigned)check_below(64);

		n = check_chance(60) ? n - 1 + check_below(4) : check_below(2 * n) + 1;
		width = whole ? 64 : width;
		sort_keys(n, (unsigned)check_below(65 - width), width, whole);
	}
}

/* Many keys in a later partition: it is sorted in a scratch of its own. */
static void
run_parts(const void *arg)
{
	size_t n = 4 * CKF_LARGEST_PART;
	uint64_t *keys = guard_new(8 * n, 8), *scratch = guard_new(8 * n, 8);
	uint64_t *want = check_alloc(8 * n), *got;

	(void)arg;
	for (size_t i = 0; i < n; i++)
		keys[i] = check_random() >> 8 | (i % 4 == 0 ? 0 : UINT64_C(1) << 63);
	memcpy(want, keys, 8 * n);
	qsort(want, n, 8, compare_hashes);
	got = ckf_sort_hashes(keys, scratch, n);
	CHECK(memcmp(want, got, 8 * n) == 0, "the order of keys");
	free(want);
	guard_free(keys);
	guard_free(scratch);
}

int
main(void)
{
	check_begin("core sorts");
	check_case(run_sort, NULL, "sorting");
	check_case(run_parts, NULL, "sorting a later partition");
	return check_end();
}
