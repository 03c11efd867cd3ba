/*
 * hostile.c - damaged and forged bytes through ckf_open and then through every operation: an error
 * or a wrong answer, but never a crash, a hang or a read outside the buffer.
 */
#include "hostile.h"

#include <stdlib.h>
#include <string.h>

typedef struct sample
{
	const char *name;
	int64_t capacity;
	double fpr;
	bool set, plain;
	uint8_t bucket_size;
	size_t items;
} sample;

/* From outside, from storage, and as the state of an aggregate. */
static const ckf_trust all_doors[] = {CKF_FOREIGN, CKF_STORED, CKF_STATE};

enum
{
	DOORS = 2,
	ALL_DOORS = 3
};

static void
build_sample(owned *o, const sample *s)
{
	ckf_params params = params_of(s->capacity, s->fpr, s->set, s->plain, s->bucket_size);

	owned_state(o, &params);
	for (size_t i = 0; i < s->items; i++)
		CHECK(owned_add(o, check_random()) == CKF_OK, "add");
	CHECK(owned_rebuild(o, CKF_FINISH, NULL) == CKF_OK, "finish");
}

/* Fewer or more bytes than the header says never open. */
static void
run_lengths(const void *arg)
{
	owned o;
	uint8_t *longer;
	size_t size;

	build_sample(&o, arg);
	size = o.filter.size;
	longer = check_alloc(2 * size + 64);
	memset(longer, 0, 2 * size + 64);
	memcpy(longer, o.bytes, size);
	for (size_t t = 0; t < ALL_DOORS; t++)
	{
		ckf_trust door = all_doors[t];

		for (size_t cut = 0; cut < size; cut++)
			CHECK(!hostile_try(o.bytes, cut, door, &o), "opened at %zu of %zu bytes", cut, size);
		for (size_t more = 1; more <= 64; more++)
			CHECK(!hostile_try(longer, size + more, door, &o), "opened with %zu bytes more", more);
		CHECK(!hostile_try(longer, 2 * size, door, &o), "opened at twice its size");
	}
	free(longer);
	owned_free(&o);
}

/* Which other values a byte of the header takes: all where fields of one byte
 * are, a choice in the long numbers. */
static bool
is_tried(size_t at, unsigned value)
{
	return at < 16 || (value & (value - 1)) == 0 || value == 255 || check_chance(4);
}

/* Every byte of the header changes. */
static void
run_header(const void *arg)
{
	owned o, other;
	uint8_t *bytes;
	unsigned opened = 0, tried = 0;

	build_sample(&o, arg);
	owned_copy(&other, &o);
	bytes = check_alloc(o.filter.size);
	for (size_t at = 0; at < CKF_HEADER_SIZE; at++)
		for (unsigned value = 1; value < 256; value++)
		{
			if (!is_tried(at, value) || check_below(100) >= check_rounds(100))
				continue;
			memcpy(bytes, o.bytes, o.filter.size);
			bytes[at] ^= (uint8_t)value;
			for (size_t t = 0; t < DOORS; t++, tried++)
				opened += hostile_try(bytes, o.filter.size, all_doors[t], &other);
		}
	check_note("%u of %u opened", opened, tried);
	free(bytes);
	owned_free(&o);
	owned_free(&other);
}

/* Words of 2, 4 and 8 bytes anywhere in the header become extreme. */
static void
run_extremes(const void *arg)
{
	static const uint64_t words[] = {0,
									 1,
									 UINT64_MAX,
									 UINT64_C(1) << 63,
									 UINT64_MAX >> 1,
									 UINT64_C(1) << 32,
									 UINT32_MAX,
									 UINT64_C(1) << 31,
									 UINT64_C(1000000000),
									 UINT64_C(0x7ff8000000000000),
									 UINT64_C(0x3ff0000000000000),
									 UINT64_C(0x0010000000000000)};
	owned o, other;
	uint8_t *bytes;

	build_sample(&o, arg);
	owned_copy(&other, &o);
	bytes = check_alloc(o.filter.size);
	for (size_t width = 2; width <= 8; width *= 2)
		for (size_t at = 0; at + width <= CKF_HEADER_SIZE; at += at < 16 ? 1 : width / 2)
			for (size_t w = 0; w < sizeof words / sizeof *words; w++)
			{
				if (check_below(100) >= check_rounds(100))
					continue;
				memcpy(bytes, o.bytes, o.filter.size);
				for (size_t i = 0; i < width; i++)
					bytes[at + i] = (uint8_t)(words[w] >> (8 * i));
				for (size_t t = 0; t < DOORS; t++)
					(void)hostile_try(bytes, o.filter.size, all_doors[t], &other);
			}
	free(bytes);
	owned_free(&o);
	owned_free(&other);
}

/* Flip bits anywhere, a few at once; write runs of zeros, ones and random bytes. */
static void
run_flips(const void *arg)
{
	owned o, other;
	uint8_t *bytes;
	unsigned opened = 0, tried = 0;

	build_sample(&o, arg);
	owned_copy(&other, &o);
	bytes = check_alloc(o.filter.size);
	for (uint64_t round = check_rounds(700); round > 0; round--)
	{
		size_t from = check_chance(70) && o.filter.size > CKF_HEADER_SIZE ? CKF_HEADER_SIZE : 0;

		memcpy(bytes, o.bytes, o.filter.size);
		for (uint64_t flips = 1 + check_below(8); flips > 0; flips--)
			bytes[from + check_below(o.filter.size - from)] ^= (uint8_t)(1 << check_below(8));
		if (check_chance(20))
		{
			size_t at = from + check_below(o.filter.size - from);
			int fill = check_chance(50) ? 0 : check_chance(50) ? 255 : (int)check_below(256);

			memset(bytes + at, fill, check_below(o.filter.size - at));
		}
		for (size_t t = 0; t < ALL_DOORS; t++, tried++)
			opened += hostile_try(bytes, o.filter.size, all_doors[t], &other);
	}
	check_note("%u of %u opened", opened, tried);
	free(bytes);
	owned_free(&o);
	owned_free(&other);
}

/* Every format version with every form of numbers, and any classes. */
static void
run_forms(const void *arg)
{
	owned o, other;
	uint8_t *bytes;
	unsigned opened = 0;

	build_sample(&o, arg);
	owned_copy(&other, &o);
	bytes = check_alloc(o.filter.size);
	memcpy(bytes, o.bytes, o.filter.size);
	for (unsigned at = 0; at < 5 * 256; at++)
	{
		bytes[3] = (uint8_t)(at / 256);
		bytes[14] = check_chance(50) ? o.bytes[14] : (uint8_t)check_random();
		bytes[15] = (uint8_t)(at % 256);
		for (size_t t = 0; t < DOORS; t++)
			opened += hostile_try(bytes, o.filter.size, all_doors[t], &other);
	}
	CHECK(opened > 0, "none opened");
	free(bytes);
	owned_free(&o);
	owned_free(&other);
}

/* Random bytes. */
static void
run_noise(const void *arg)
{
	owned other;
	sample s = {"", 0, 0.01, false, false, 4, 100};
	uint8_t bytes[512];

	(void)arg;
	build_sample(&other, &s);
	for (uint64_t round = check_rounds(8000); round > 0; round--)
	{
		size_t size = check_below(sizeof bytes);

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)check_random();
		if (size >= 8 && check_chance(80))
			memcpy(bytes, other.bytes, 8); /* past the magic */
		for (size_t t = 0; t < ALL_DOORS; t++)
			(void)hostile_try(bytes, size, all_doors[t], &other);
	}
	owned_free(&other);
}

/* ckf_open of stored bytes does not verify a count of 0. The filter is neutral in a merge,
 * whatever its slots contain. */
static void
run_neutral(const void *arg)
{
	owned ghost, other, results[2];

	build_sample(&ghost, arg);
	build_sample(&other, arg);
	memset(ghost.bytes + 16, 0, 8);
	ghost.bytes[14] = ghost.item_classes = 0;
	CHECK(ckf_open(&ghost.filter, ghost.bytes, ghost.filter.size, CKF_STORED) == CKF_OK, "open");
	CHECK(run_rebuild(&results[0], CKF_SUM, &ghost, &other) == CKF_OK, "sum");
	CHECK(run_rebuild(&results[1], CKF_SUM, &other, &ghost) == CKF_OK, "sum the other way");
	for (int i = 0; i < 2; i++)
	{
		CHECK(results[i].filter.count == other.filter.count, "items from nowhere");
		owned_free(&results[i]);
	}
	owned_free(&ghost);
	owned_free(&other);
}

/* A count above 0, although the slots are empty: the result of a rebuild has neither items nor
 * classes, and opens. */
static void
run_ghosts(const void *arg)
{
	owned ghosts, result;

	build_sample(&ghosts, arg);
	CHECK(ghosts.filter.encoding != CKF_HASHES, "no table");
	memset(ghosts.bytes + CKF_HEADER_SIZE, 0, ghosts.filter.size - CKF_HEADER_SIZE);
	CHECK(ckf_open(&ghosts.filter, ghosts.bytes, ghosts.filter.size, CKF_STORED) == CKF_OK, "open");
	CHECK(run_rebuild(&result, CKF_UNION, &ghosts, &ghosts) == CKF_OK, "union");
	CHECK(result.filter.count == 0 && result.filter.item_classes == 0, "union of nothing");
	owned_free(&result);
	CHECK(run_rebuild(&result, CKF_MERGE_SUM, &ghosts, NULL) == CKF_OK, "merge");
	CHECK(result.filter.count == 0 && result.filter.item_classes == 0, "a state of nothing");
	owned_free(&result);
	CHECK(run_rebuild(&result, CKF_FINISH_SUM, &ghosts, NULL) == CKF_OK, "finish");
	CHECK(result.filter.count == 0 && result.filter.item_classes == 0, "an aggregate of nothing");
	owned_free(&result);
	owned_free(&ghosts);
}

static const sample samples[] = {
	{"empty", 0, 0.01, false, false, 4, 0},
	{"hashes", 0, 0.01, false, false, 4, 5},
	{"hashes set", 0, 0.01, true, true, 8, 5},
	{"semi-sorted", 0, 0.01, false, false, 4, 150},
	{"semi-sorted set", 0, 0.0001, true, false, 4, 100},
	{"plain b=2", 0, 0.01, false, true, 2, 120},
	{"plain b=4", 0, 0.001, false, true, 4, 100},
	{"plain b=8", 0, 0.1, false, true, 8, 170},
	{"wide fingerprints", 1 << 30, 0.001, false, true, 8, 100},
};

/* The smallest table, so that a state takes its items one by one. */
static const sample few_items = {"few items", 1000, 0.01, false, true, 4, 14};

/* Tables of several segments with damage in a few places. */
static const sample large = {"several segments", 0, 0.01, false, false, 4, 280000};

static void
run_large(const void *arg)
{
	owned o;
	uint8_t *bytes;

	build_sample(&o, arg);
	bytes = check_alloc(o.filter.size);
	memcpy(bytes, o.bytes, o.filter.size);
	for (uint64_t i = check_rounds(4000); i > 0; i--)
		bytes[CKF_HEADER_SIZE + check_below(o.filter.size - CKF_HEADER_SIZE)] ^= 1;
	for (size_t t = 0; t < DOORS; t++)
		(void)hostile_try(bytes, o.filter.size, all_doors[t], &o);
	memset(bytes + CKF_HEADER_SIZE, 255, o.filter.size - CKF_HEADER_SIZE);
	for (size_t t = 0; t < DOORS; t++)
		(void)hostile_try(bytes, o.filter.size, all_doors[t], &o);
	free(bytes);
	owned_free(&o);
}

int
main(void)
{
	check_begin("core hostile bytes");
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
	{
		const sample *s = &samples[i];

		check_case(run_lengths, s, "lengths, %s", s->name);
		check_case(run_header, s, "header bytes, %s", s->name);
		check_case(run_extremes, s, "extreme words, %s", s->name);
		check_case(run_flips, s, "flips, %s", s->name);
		check_case(run_forms, s, "forms of numbers, %s", s->name);
	}
	check_case(run_neutral, &samples[3], "a count of 0, %s", samples[3].name);
	check_case(run_ghosts, &few_items, "a count of what is not there");
	check_case(run_noise, NULL, "noise");
	check_case(run_large, &large, "%s", large.name);
	return check_end();
}
