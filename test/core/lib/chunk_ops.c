/*
 * chunk_ops.c - see chunk_ops.h.
 */
#include "chunk_ops.h"

#include <stdlib.h>

enum
{
	CHECK_BYTES = 3, /* the last ones: FORMAT.md, section 10 */
	MOST_STEPS = 100000,
	MOST_BYTES = 16 << 20 /* of an export */
};

void
chunk_make_check(const shelf *s, uint64_t start, uint8_t *bytes, size_t size)
{
	uint64_t check =
		ckf_hash_bytes(CKF_CLASS_BYTES, bytes, size - CHECK_BYTES, s->chunks->check ^ start);

	for (size_t i = 0; i < CHECK_BYTES; i++)
		bytes[size - CHECK_BYTES + i] = (uint8_t)(check >> (8 * i));
}

static void
take_all(ckf_edit *edit)
{
	uint8_t *out = guard_new(CKF_CHUNK_MAX, 1);
	ckf_chunk_piece part;
	ckf_status status;
	unsigned parts = 0;

	while ((status = ckf_edit_next(edit, out, &part)) == CKF_MORE)
		CHECK(++parts < MOST_STEPS && part.size <= CKF_CHUNK_MAX, "an edit does not end");
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
	ckf_chunk_piece part;

	ckf_edit_pack(s->edit, s->chunks);
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
	ckf_rebuild *rebuild = guard_new(CKF_REBUILD_SIZE(1), 8);
	ckf_buffers buffers = {0};
	ckf_status status = ckf_export_start(rebuild, s->chunks, chunk, 0, CKF_ITEM_NUMBER, MOST_BYTES);
	unsigned steps = 0;

	while (status == CKF_OK && (status = ckf_rebuild_step(rebuild, &buffers)) != CKF_OK)
	{
		CHECK(++steps < MOST_STEPS, "an export does not end");
		if (status == CKF_FEED)
			status = ckf_export_feed(rebuild, check_chance(90) ? chunk : NULL);
		else if (status == CKF_MORE || status == CKF_ROOM)
		{
			if (status == CKF_ROOM)
				give_buffers(&buffers);
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

bool
chunk_try(const shelf *s, uint64_t start, const uint8_t *bytes, size_t size)
{
	uint8_t *copy = guard_copy(bytes, size);
	ckf_chunk chunk;
	bool opens;

	guard_read_only(copy, true);
	opens = ckf_chunk_open(&chunk, s->chunks, start, copy, size) == CKF_OK;
	if (opens)
	{
		ask_it(&chunk);
		change_it(s, &chunk);
		if (check_chance(30))
			pack_it(s, &chunk);
		if (check_chance(30))
			export_it(s, &chunk);
	}
	guard_free(copy);
	return opens;
}
