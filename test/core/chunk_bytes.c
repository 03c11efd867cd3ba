/*
 * chunk_bytes.c - chunks that nobody should have written: anyone may write a table's rows.
 * They give errors or wrong answers, and every call on them ends within its bytes.
 */
#include "inputs.h"
#include "shelf.h"

#include <stdlib.h>
#include <string.h>

#include "thresholds.h"

enum
{
	TRAILER = 8, /* FORMAT.md, section 10 */
	AT_KIND = 0, /* in it */
	AT_M = 1,
	AT_COUNT = 3,
	AT_CHECK = 5,
	CHECK_BYTES = 3,
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
	ckf_params params;

	do
	{
		params = draw_params(&all);
		params.capacity += params.capacity == 0;
	} while (!shelf_new(s, &params, 0, 0));
	qsort(hashes, n, sizeof *hashes, compare_hashes);
	shelf_add(s, hashes, n, true);
	free(hashes);
}

/* One of its rows, or what looks like one. */
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

/* The check that the bytes should have. */
static void
make_check(const shelf *s, forged *f)
{
	uint64_t check = ckf_hash_bytes(CKF_CLASS_BYTES, f->bytes, f->size - CHECK_BYTES,
									s->chunks->check ^ f->start);

	for (int i = 0; i < CHECK_BYTES; i++)
		f->bytes[f->size - CHECK_BYTES + (size_t)i] = (uint8_t)(check >> (8 * i));
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

/* Where the fields ask for another length, one that fits is looked for. */
static void
find_size(const shelf *s, forged *f)
{
	ckf_chunk chunk;

	for (size_t size = TRAILER; size <= CKF_CHUNK_MAX; size++)
	{
		set_size(f, size);
		make_check(s, f);
		if (ckf_chunk_open(&chunk, s->chunks, f->start, f->bytes, f->size) == CKF_OK)
			return;
	}
}

/* ---------------------------------------------------------------- asked */

static void
take_all(ckf_edit *edit)
{
	uint8_t *out = guard_new(CKF_CHUNK_MAX, 1);
	ckf_chunk_part part;
	ckf_status status;
	unsigned parts = 0;

	while ((status = ckf_edit_next(edit, out, &part)) == CKF_MORE)
		CHECK(++parts < 100000 && part.size <= CKF_CHUNK_MAX, "an edit does not end");
	CHECK(status == CKF_OK || status == CKF_BAD_BYTES || status == CKF_FEED, "status %d", status);
	guard_free(out);
}

static uint64_t *
hashes_near(const ckf_chunk *chunk, size_t n)
{
	uint64_t *hashes = check_alloc((n + 1) * sizeof *hashes);

	for (size_t i = 0; i < n; i++)
		hashes[i] = chunk->start + check_random() % (chunk->last - chunk->start);
	if (check_chance(80))
		qsort(hashes, n, sizeof *hashes, compare_hashes);
	return hashes;
}

static void
change_it(const shelf *s, const ckf_chunk *chunk)
{
	size_t n = 1 + check_below(check_chance(50) ? 3 : 2000), taken;
	uint64_t *hashes = hashes_near(chunk, n);
	bool whole = check_chance(70);

	if (ckf_edit_add(s->edit, s->chunks, chunk, hashes, n, whole, &taken) == CKF_OK)
		take_all(s->edit);
	CHECK(taken <= n, "%zu of %zu taken", taken, n);
	if (ckf_edit_remove(s->edit, s->chunks, chunk, hashes, n, &taken) == CKF_OK)
		take_all(s->edit);
	free(hashes);
}

static void
pack_it(const shelf *s, const ckf_chunk *chunk)
{
	uint8_t *out = guard_new(CKF_CHUNK_MAX, 1);
	ckf_chunk_part part;

	CHECK(ckf_edit_pack(s->edit, s->chunks) == CKF_OK, "pack");
	CHECK(ckf_edit_next(s->edit, out, &part) == CKF_FEED, "no feed is asked for");
	if (ckf_edit_feed(s->edit, chunk) == CKF_OK)
	{
		take_all(s->edit);
		(void)ckf_edit_feed(s->edit, check_chance(50) ? chunk : NULL);
		take_all(s->edit);
	}
	guard_free(out);
}

static void
export_it(const shelf *s, const ckf_chunk *chunk)
{
	ckf_rebuild *rebuild = guard_new(CKF_REBUILD_SIZE, 8);
	ckf_buffers buffers = {0};
	ckf_status status = ckf_export_start(rebuild, s->chunks, chunk, 0, CKF_ITEM_NUMBER);
	unsigned steps = 0;

	while (status == CKF_OK && (status = ckf_rebuild_step(rebuild, &buffers)) != CKF_OK)
	{
		CHECK(++steps < 100000, "an export does not end");
		if (status == CKF_FEED)
			status = ckf_export_feed(rebuild, check_chance(90) ? chunk : NULL);
		else if (status == CKF_MORE)
			status = CKF_OK;
		else if (status == CKF_ROOM)
		{
			guard_free(buffers.dst);
			guard_free(buffers.scratch);
			buffers.dst = guard_new(buffers.dst_room = buffers.dst_size, 1);
			buffers.scratch = guard_new(buffers.scratch_room = buffers.scratch_size, 8);
			status = CKF_OK;
		}
	}
	CHECK(status == CKF_OK || status == CKF_BAD_BYTES || status == CKF_PRECISION, "export: %d",
		  status);
	guard_free(buffers.dst);
	guard_free(buffers.scratch);
	guard_free(rebuild);
}

static void
ask_it(const ckf_chunk *chunk)
{
	for (int i = 0; i < 50; i++)
	{
		uint64_t hash = check_chance(20)
							? check_random()
							: chunk->start + check_random() % (chunk->last - chunk->start);
		unsigned copies = ckf_chunk_copies(chunk, hash);

		CHECK(copies <= 16 && ckf_chunk_contains(chunk, hash) == (copies > 0), "%u copies", copies);
		CHECK(copies == 0 || ckf_chunk_covers(chunk, hash), "out of range");
	}
	CHECK(!ckf_chunk_covers(chunk, chunk->last + 1) || chunk->depth == 0, "behind the range");
	(void)ckf_chunk_check(chunk);
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
		uint8_t *bytes;
		ckf_chunk chunk;

		draw_row(&s, &f);
		forge(&f);
		if (check_chance(4))
			find_size(&s, &f);
		make_check(&s, &f);
		bytes = guard_copy(f.bytes, f.size);
		guard_read_only(bytes, true);
		if (ckf_chunk_open(&chunk, s.chunks, f.start, bytes, f.size) == CKF_OK)
		{
			opened++;
			ask_it(&chunk);
			change_it(&s, &chunk);
			if (check_chance(30))
				pack_it(&s, &chunk);
			if (check_chance(30))
				export_it(&s, &chunk);
		}
		guard_free(bytes);
	}
	CHECK(opened > 0 || s.n == 0, "nothing that was forged has opened");
	shelf_free(&s);
}

/* Without the right check nothing opens: not with a changed bit, cut, in another row, or in a
 * table of other parameters. */
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

/* What calls are not for. */
static void
run_misuse(const void *arg)
{
	ckf_params params = params_of(100000, 0.01, false, false, 4);
	uint64_t hashes[2] = {5, 3};
	ckf_chunk_part part;
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
