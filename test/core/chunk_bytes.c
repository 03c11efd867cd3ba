/*
 * chunk_bytes.c - damaged and forged chunks, since anybody may write the rows of a table.  They
 * give errors or wrong answers, and every call on them stays within its bytes.
 */
#include "chunk_ops.h"

#include <stdlib.h>
#include <string.h>

#include "thresholds.h"

enum
{
	TRAILER = 8, /* FORMAT.md, section 10 */
	AT_KIND = 0, /* in it */
	AT_M = 1,
	AT_COUNT = 3,
	MOST_BYTES = CKF_CHUNK_MAX + 100
};

/* Bytes of a chunk that are changed by a test. */
typedef struct forged
{
	uint8_t bytes[MOST_BYTES];
	size_t size;
	uint64_t start;
} forged;

static void
draw_shelf(shelf *s)
{
	world all = world_new(5000);
	size_t n = check_chance(30) ? check_below(40) : check_below(4000);
	unsigned kind = check_chance(70) ? 0 : (unsigned)check_below(HASH_KINDS);
	uint64_t *hashes = world_hashes(&all, kind, n);

	shelf_draw(s, &all);
	qsort(hashes, n, sizeof *hashes, compare_hashes);
	shelf_add(s, hashes, n, true);
	free(hashes);
}

/* A row of the table, or forged bytes of one. */
static void
draw_row(const shelf *s, forged *f)
{
	if (s->n > 0)
	{
		const row *r = &s->rows[check_below(s->n)];

		memcpy(f->bytes, r->bytes, f->size = r->size);
		f->start = r->start;
		return;
	}
	f->size = TRAILER + check_below(60);
	for (size_t i = 0; i < f->size; i++)
		f->bytes[i] = (uint8_t)check_random();
	f->start = 0;
}

static void
set_size(forged *f, size_t size)
{
	uint8_t trailer[TRAILER];

	memcpy(trailer, f->bytes + f->size - TRAILER, TRAILER);
	for (size_t i = f->size - TRAILER; i < MOST_BYTES; i++)
		f->bytes[i] = (uint8_t)check_random();
	f->size = size;
	memcpy(f->bytes + f->size - TRAILER, trailer, TRAILER);
}

static void
set_word(forged *f, size_t at, unsigned value)
{
	f->bytes[f->size - TRAILER + at] = (uint8_t)value;
	f->bytes[f->size - TRAILER + at + 1] = (uint8_t)(value >> 8);
}

static void
forge(forged *f)
{
	uint8_t *trailer;

	switch (check_below(8))
	{
		case 0: /* bits of the body */
			for (uint64_t n = 1 + check_below(20); n > 0; n--)
				f->bytes[check_below(f->size)] ^= (uint8_t)(1U << check_below(8));
			break;
		case 1: /* all of it */
			for (size_t i = 0; i + TRAILER < f->size; i++)
				f->bytes[i] = (uint8_t)check_random();
			break;
		case 2:
			memset(f->bytes, check_chance(50) ? 0 : 255, f->size - TRAILER);
			break;
		case 3:
			set_size(f, TRAILER + check_below(MOST_BYTES - TRAILER));
			break;
		case 4:
			set_word(f, AT_M, (unsigned)check_below(check_chance(70) ? 300 : 65536));
			break;
		case 5:
			set_word(f, AT_COUNT, (unsigned)check_below(check_chance(70) ? 700 : 65536));
			break;
		case 6: /* kind and depth */
			f->bytes[f->size - TRAILER + AT_KIND] = (uint8_t)check_random();
			break;
		default: /* a body of the length that the fields ask for */
			trailer = f->bytes + f->size - TRAILER;
			trailer[AT_KIND] =
				(uint8_t)(check_below(3) << 6 | check_below(check_chance(50) ? 4 : 64));
			set_word(f, AT_COUNT, (unsigned)check_below(600));
			set_word(f, AT_M, trailer[AT_KIND] >> 6 == 2 ? 1 + (unsigned)check_below(400) : 0);
			f->start = check_random() & ~(UINT64_MAX >> (trailer[AT_KIND] & 63));
	}
}

/* If the fields need another length, find a length that fits. */
static void
find_size(const shelf *s, forged *f)
{
	ckf_chunk chunk;

	for (size_t size = TRAILER; size <= CKF_CHUNK_MAX; size++)
	{
		set_size(f, size);
		chunk_make_check(s, f->start, f->bytes, f->size);
		if (ckf_chunk_open(&chunk, s->chunks, f->start, f->bytes, f->size) == CKF_OK)
			return;
	}
}

/* ---------------------------------------------------------------- cases */

static void
run_forged(const void *arg)
{
	unsigned opened = 0;
	shelf s;

	(void)arg;
	draw_shelf(&s);
	for (int i = 0; i < 60; i++)
	{
		forged f;

		draw_row(&s, &f);
		forge(&f);
		if (check_chance(4))
			find_size(&s, &f);
		chunk_make_check(&s, f.start, f.bytes, f.size);
		opened += chunk_try(&s, f.start, f.bytes, f.size);
	}
	CHECK(opened > 0 || s.n == 0, "nothing that was forged has opened");
	shelf_free(&s);
}

/* Without the right check no bytes open: with a changed bit, cut, in another row, or in a table
 * with other parameters. */
static void
run_damaged(const void *arg)
{
	shelf s, other;
	ckf_params params = params_of(123456, 0.02, false, true, 2);

	(void)arg;
	draw_shelf(&s);
	CHECK(shelf_new(&other, &params, 0, 0), "no chunks");
	for (size_t i = 0; i < s.n && i < 20; i++)
	{
		const row *r = &s.rows[i];
		ckf_chunk chunk;
		uint8_t *bytes = guard_copy(r->bytes, r->size);

		for (int k = 0; k < 40; k++)
		{
			size_t at =
				check_chance(30) ? r->size - 1 - check_below(TRAILER) : check_below(r->size);
			uint8_t bit = (uint8_t)(1U << check_below(8));

			bytes[at] ^= bit;
			CHECK(ckf_chunk_open(&chunk, s.chunks, r->start, bytes, r->size) == CKF_BAD_BYTES,
				  "a changed bit of byte %zu is not noticed", at);
			bytes[at] ^= bit;
		}
		for (size_t cut = 1; cut < 20 && cut <= r->size; cut++)
			CHECK(ckf_chunk_open(&chunk, s.chunks, r->start, bytes, r->size - cut) == CKF_BAD_BYTES,
				  "a chunk that was cut opens");
		CHECK(ckf_chunk_open(&chunk, s.chunks, r->start ^ UINT64_C(1) << 63, bytes, r->size) ==
				  CKF_BAD_BYTES,
			  "a chunk opens in another row");
		CHECK(ckf_chunk_open(&chunk, other.chunks, r->start, bytes, r->size) == CKF_BAD_BYTES,
			  "a chunk opens in another table");
		guard_free(bytes);
	}
	shelf_free(&other);
	shelf_free(&s);
}

/* Calls in the wrong order, or with wrong arguments. */
static void
run_misuse(const void *arg)
{
	ckf_params params = params_of(100000, 0.01, false, false, 4);
	uint64_t hashes[2] = {5, 3};
	ckf_chunk_piece part;
	ckf_chunk chunk;
	uint8_t *out = guard_new(CKF_CHUNK_MAX, 1);
	world all = world_new(5000);
	uint64_t *many = world_hashes(&all, 0, 5000);
	size_t taken;
	shelf s;

	(void)arg;
	CHECK(shelf_new(&s, &params, 0, 0), "no chunks");
	CHECK(ckf_edit_add(s.edit, s.chunks, NULL, hashes, 2, true, &taken) == CKF_BAD_BYTES,
		  "hashes out of order");
	CHECK(ckf_edit_add(s.edit, s.chunks, NULL, hashes, 0, true, &taken) == CKF_OK && taken == 0 &&
			  ckf_edit_next(s.edit, out, &part) == CKF_MORE && part.depth == 0 && part.count == 0,
		  "no chunk without items");
	CHECK(ckf_chunk_open(&chunk, s.chunks, part.start, out, part.size) == CKF_OK &&
			  ckf_chunk_check(&chunk) == CKF_OK && !ckf_chunk_contains(&chunk, 5),
		  "not a chunk without items");
	CHECK(ckf_edit_next(s.edit, out, &part) == CKF_OK && ckf_edit_stored(s.edit) == 0,
		  "more than a chunk without items");
	CHECK(ckf_edit_add(s.edit, s.chunks, &chunk, hashes, 0, true, &taken) == CKF_OK && taken == 0 &&
			  ckf_edit_next(s.edit, out, &part) == CKF_OK,
		  "nothing to add");
	CHECK(ckf_edit_remove(s.edit, s.chunks, NULL, hashes, 1, &taken) == CKF_OK && taken == 1 &&
			  ckf_edit_next(s.edit, out, &part) == CKF_OK && ckf_edit_stored(s.edit) == 0,
		  "nothing to remove from");
	qsort(many, 5000, sizeof *many, compare_hashes);
	shelf_add(&s, many, 5000, true);
	CHECK(shelf_find(&s, 0, &chunk) && s.n > 1, "one chunk of 5000 items");
	hashes[0] = UINT64_MAX;
	CHECK(ckf_edit_add(s.edit, s.chunks, &chunk, hashes, 1, true, &taken) == CKF_BAD_BYTES,
		  "a hash out of range");
	CHECK(ckf_edit_feed(s.edit, &chunk) == CKF_BAD_BYTES, "a feed that was not asked for");
	CHECK(ckf_chunk_copies(&chunk, UINT64_MAX) == 0 && !ckf_chunk_contains(&chunk, UINT64_MAX),
		  "a hash out of range is in");
	free(many);
	guard_free(out);
	shelf_free(&s);
}

int
main(void)
{
	check_begin("chunk_bytes");
	check_case(run_misuse, NULL, "misuse");
	for (uint64_t i = 0; i < check_rounds(100); i++)
		check_case(run_forged, NULL, "forged %llu", (unsigned long long)i);
	for (uint64_t i = 0; i < check_rounds(40); i++)
		check_case(run_damaged, NULL, "damaged %llu", (unsigned long long)i);
	return check_end();
}
