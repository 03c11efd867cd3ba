/*
 * shelf.c - see shelf.h.
 */
#include "shelf.h"

#include <stdlib.h>
#include <string.h>

bool
shelf_new(shelf *s, const ckf_params *params, uint32_t page_room, uint32_t row_room)
{
	memset(s, 0, sizeof *s);
	s->chunks = guard_new(sizeof *s->chunks, 8);
	if (ckf_chunks_init(s->chunks, params) != CKF_OK)
	{
		guard_free(s->chunks);
		return false;
	}
	s->chunks->page_room = page_room;
	s->chunks->row_room = row_room;
	guard_read_only(s->chunks, true);
	s->edit = guard_new(CKF_EDIT_SIZE, 8);
	return true;
}

void
shelf_draw(shelf *s, const world *w)
{
	ckf_params params;

	do
	{
		params = draw_params(w);
		params.capacity += params.capacity == 0;
	} while (!shelf_new(s, &params, 0, 0));
}

void
shelf_free(shelf *s)
{
	for (size_t i = 0; i < s->n; i++)
		guard_free(s->rows[i].bytes);
	free(s->rows);
	guard_free(s->edit);
	guard_read_only(s->chunks, false);
	guard_free(s->chunks);
}

/* The last row that begins at or before the hash; n: there is none. */
static size_t
find_row(const shelf *s, uint64_t hash)
{
	size_t low = 0, high = s->n;

	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (s->rows[middle].start <= hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? low - 1 : s->n;
}

static void
open_row(const shelf *s, size_t i, ckf_chunk *chunk)
{
	const row *r = &s->rows[i];

	CHECK(ckf_chunk_open(chunk, s->chunks, r->start, r->bytes, r->size) == CKF_OK,
		  "row %zu does not open", i);
}

bool
shelf_find(const shelf *s, uint64_t hash, ckf_chunk *chunk)
{
	size_t i = find_row(s, hash);

	if (i == s->n)
		return false;
	open_row(s, i, chunk);
	CHECK(ckf_chunk_covers(chunk, hash), "no chunk has hash %#llx", (unsigned long long)hash);
	return true;
}

unsigned
shelf_copies(const shelf *s, uint64_t hash)
{
	ckf_chunk chunk;
	unsigned copies;

	if (!shelf_find(s, hash, &chunk))
		return 0;
	copies = ckf_chunk_copies(&chunk, hash);
	CHECK(ckf_chunk_contains(&chunk, hash) == (copies > 0), "contains is not copies");
	return copies;
}

static row
row_of(const ckf_chunk_piece *part, const uint8_t *bytes)
{
	row r = {part->start, guard_copy(bytes, part->size), part->size};

	guard_read_only(r.bytes, true);
	return r;
}

/* Put rows in the place of `gone` rows from number i on. */
static void
put_rows(shelf *s, size_t i, size_t gone, const row *rows, size_t n)
{
	for (size_t k = 0; k < gone; k++)
		guard_free(s->rows[i + k].bytes);
	if (s->n + n > s->room)
	{
		s->room = 2 * (s->n + n);
		s->rows = realloc(s->rows, s->room * sizeof *s->rows);
		CHECK(s->rows != NULL, "no memory");
	}
	if (s->n + n > 0)
		memmove(s->rows + i + n, s->rows + i + gone, (s->n - i - gone) * sizeof *rows);
	if (n > 0)
		memcpy(s->rows + i, rows, n * sizeof *rows);
	s->n = s->n + n - gone;
}

/* The rows that an edit writes. */
typedef struct made
{
	row *rows;
	size_t n, room;
} made;

static void
keep(made *m, const ckf_chunk_piece *part, const uint8_t *bytes)
{
	if (m->n == m->room)
	{
		m->room = 2 * m->room + 4;
		m->rows = realloc(m->rows, m->room * sizeof *m->rows);
		CHECK(m->rows != NULL, "no memory");
	}
	m->rows[m->n++] = row_of(part, bytes);
}

/* Check that a part is valid, and begins after the part before. */
static void
check_part(const shelf *s, const ckf_chunk_piece *part, const uint8_t *out, uint64_t start)
{
	ckf_chunk chunk;

	CHECK(part->start == start, "a part does not follow the one before");
	/* whole hashes may take more */
	CHECK(part->size <= (part->depth == 0 ? CKF_CHUNK_MAX : s->chunks->limit),
		  "a part of %zu bytes", part->size);
	CHECK(ckf_chunk_open(&chunk, s->chunks, part->start, out, part->size) == CKF_OK,
		  "a part does not open");
	CHECK(ckf_chunk_check(&chunk) == CKF_OK, "a part is not sound");
	CHECK(chunk.depth == part->depth && chunk.count == part->count &&
			  chunk.last == ckf_chunk_last(part->start, part->depth),
		  "a part tells otherwise than the edit");
}

/* Write all parts of an edit that reads no other chunks. Their ranges cover start .. last. */
static void
take_parts(shelf *s, made *m, uint64_t start, uint64_t last)
{
	uint8_t *out = guard_new(CKF_CHUNK_MAX, 1);
	uint64_t next = start;
	ckf_chunk_piece part;
	ckf_status status;

	while ((status = ckf_edit_next(s->edit, out, &part)) == CKF_MORE)
	{
		check_part(s, &part, out, next);
		keep(m, &part, out);
		next = ckf_chunk_last(part.start, part.depth) + 1;
	}
	CHECK(status == CKF_OK, "a part: status %d", status);
	CHECK(ckf_edit_next(s->edit, out, &part) == CKF_OK, "a part behind the last one");
	CHECK(m->n == 0 || next == last + 1, "the parts are not all of the range");
	CHECK(m->n > 0 || ckf_edit_stored(s->edit) == 0, "stored, and no part");
	s->count += (uint64_t)ckf_edit_stored(s->edit);
	guard_free(out);
}

void
shelf_add(shelf *s, const uint64_t *items, size_t n, bool whole)
{
	size_t taken;

	for (size_t k = 0; whole && k < n; k++)
		s->classes |= class_of_hash(items[k]);
	s->added += n;
	for (; n > 0; items += taken, n -= taken)
	{
		size_t i = find_row(s, items[0]);
		uint64_t before = s->count;
		ckf_chunk chunk;
		made m = {0};
		ckf_status status;

		if (i < s->n)
			open_row(s, i, &chunk);
		status =
			ckf_edit_add(s->edit, s->chunks, i < s->n ? &chunk : NULL, items, n, whole, &taken);
		CHECK(status == CKF_OK && taken > 0, "add: status %d", status);
		CHECK(i == s->n ? taken == n : taken == n || items[taken] > chunk.last,
			  "%zu of %zu items taken", taken, n);
		take_parts(s, &m, i < s->n ? chunk.start : 0, i < s->n ? chunk.last : UINT64_MAX);
		CHECK(s->count <= before + taken, "stored more than was added");
		put_rows(s, i < s->n ? i : 0, m.n > 0 && i < s->n, m.rows, m.n);
		free(m.rows);
	}
}

ckf_status
shelf_remove(shelf *s, const uint64_t *hashes, size_t n)
{
	size_t taken;

	for (; n > 0; hashes += taken, n -= taken)
	{
		size_t i = find_row(s, hashes[0]);
		ckf_chunk chunk;
		made m = {0};
		ckf_status status;

		if (i < s->n)
			open_row(s, i, &chunk);
		status = ckf_edit_remove(s->edit, s->chunks, i < s->n ? &chunk : NULL, hashes, n, &taken);
		if (status == CKF_IS_SET)
			return status;
		CHECK(status == CKF_OK && taken > 0, "remove: status %d", status);
		take_parts(s, &m, i < s->n ? chunk.start : 0, i < s->n ? chunk.last : UINT64_MAX);
		put_rows(s, i < s->n ? i : 0, m.n > 0 && i < s->n, m.rows, m.n);
		free(m.rows);
	}
	return CKF_OK;
}

void
shelf_pack(shelf *s)
{
	uint8_t *out = guard_new(CKF_CHUNK_MAX, 1);
	uint64_t start = 0;
	size_t fed = 0;
	made m = {0};
	ckf_chunk_piece part;
	ckf_chunk chunk;
	ckf_status status;

	ckf_edit_pack(s->edit, s->chunks);
	while ((status = ckf_edit_next(s->edit, out, &part)) != CKF_OK)
		if (status == CKF_FEED)
		{
			if (fed < s->n)
				open_row(s, fed, &chunk);
			CHECK(ckf_edit_feed(s->edit, fed < s->n ? &chunk : NULL) == CKF_OK, "feed");
			fed++;
		}
		else
		{
			CHECK(status == CKF_MORE, "pack: status %d", status);
			check_part(s, &part, out, start);
			keep(&m, &part, out);
			start = ckf_chunk_last(part.start, part.depth) + 1;
			CHECK(fed == s->n || s->rows[fed].start >= start, "a part of what was not fed");
		}
	CHECK(start == 0 && fed == (s->n > 0 ? s->n : 1), "a pack that is not of all");
	CHECK(ckf_edit_stored(s->edit) == 0, "a pack stored something");
	put_rows(s, 0, s->n, m.rows, m.n);
	free(m.rows);
	guard_free(out);
}

ckf_status
shelf_merge(shelf *s, const owned *filter)
{
	ckf_prefixes *prefixes = guard_new(CKF_PREFIXES_SIZE, 8);
	void *scratch = guard_new(ckf_prefixes_scratch(&filter->filter), 8);
	ckf_status status = ckf_prefixes_start(prefixes, s->chunks, &filter->filter, scratch);
	ckf_status end = status;
	const uint64_t *items;
	size_t n;

	while (end == CKF_OK && (end = ckf_prefixes_next(prefixes, &items, &n)) == CKF_MORE)
	{
		uint64_t *copy = check_alloc((n + 1) * sizeof *copy);

		memcpy(copy, items, n * sizeof *copy);
		shelf_add(s, copy, n, ckf_prefixes_whole(prefixes));
		free(copy);
		end = CKF_OK;
	}
	CHECK(end == status, "the items of a filter: status %d", end);
	if (status == CKF_OK)
		s->classes |= filter->item_classes;
	guard_free(scratch);
	guard_free(prefixes);
	return status;
}

ckf_status
shelf_export(const shelf *s, uint64_t most, owned *result, ckf_refusal *refusal)
{
	ckf_rebuild *rebuild = guard_new(CKF_REBUILD_SIZE(1), 8);
	ckf_buffers buffers = {0};
	size_t fed = 0;
	ckf_chunk chunk;
	ckf_status status;

	if (s->n > 0)
		open_row(s, 0, &chunk);
	status =
		ckf_export_start(rebuild, s->chunks, s->n > 0 ? &chunk : NULL, s->added, s->classes, most);
	while (status == CKF_OK && (status = ckf_rebuild_step(rebuild, &buffers)) != CKF_OK)
	{
		if (status == CKF_FEED)
		{
			fed = ckf_export_again(rebuild) ? 0 : fed;
			if (fed < s->n)
				open_row(s, fed, &chunk);
			CHECK(ckf_export_feed(rebuild, fed < s->n ? &chunk : NULL) == CKF_OK, "feed");
			fed++;
		}
		else if (status == CKF_ROOM)
		{
			CHECK(buffers.dst_size <= most, "a target of %zu bytes, of at most %llu",
				  buffers.dst_size, (unsigned long long)most);
			give_buffers(&buffers);
		}
		else if (status != CKF_MORE)
			break;
		status = CKF_OK;
	}
	if (status == CKF_OK)
	{
		owned_open(result, buffers.dst, buffers.dst_size, CKF_FOREIGN);
		result->item_classes = result->filter.count > 0 ? (uint8_t)s->classes : 0;
		result->format = CKF_FORMAT_VERSION;
	}
	else if (status == CKF_PRECISION)
		ckf_rebuild_refusal(rebuild, refusal);
	guard_free(buffers.dst);
	guard_free(buffers.scratch);
	guard_free(rebuild);
	return status;
}

uint64_t
shelf_check(const shelf *s)
{
	uint64_t bytes = 0, count = 0, next = 0;

	for (size_t i = 0; i < s->n; i++)
	{
		ckf_chunk chunk;

		CHECK(s->rows[i].start == next, "row %zu does not follow the one before", i);
		open_row(s, i, &chunk);
		CHECK(ckf_chunk_check(&chunk) == CKF_OK, "row %zu is not sound", i);
		CHECK(chunk.kind != 0 || s->n == 1, "whole hashes beside others");
		next = chunk.last + 1;
		count += chunk.count;
		bytes += s->rows[i].size;
	}
	CHECK(next == 0, "the rows are not all of the hashes");
	CHECK(count == s->count, "%llu copies, must be %llu", (unsigned long long)count,
		  (unsigned long long)s->count);
	return bytes;
}

uint64_t
shelf_crowded(const shelf *s)
{
	uint64_t crowded = 0;
	ckf_chunk chunk;

	for (size_t i = 0; i < s->n; i++)
	{
		open_row(s, i, &chunk);
		if (chunk.kind < 2 ||
			(uint64_t)chunk.count * 2 <= (uint64_t)chunk.table.m * chunk.table.b * 3)
			crowded += chunk.count;
	}
	return crowded;
}

uint64_t
shelf_distinct(const shelf *s)
{
	void *scratch = guard_new(CKF_CHUNK_DISTINCT_SCRATCH, 8);
	uint64_t distinct = 0;
	ckf_chunk chunk;

	for (size_t i = 0; i < s->n; i++)
	{
		open_row(s, i, &chunk);
		CHECK(ckf_chunk_is_whole(&chunk) == (chunk.kind == 0), "row %zu: whole hashes", i);
		distinct += ckf_chunk_distinct(&chunk, scratch);
	}
	guard_free(scratch);
	return distinct;
}

bool
shelf_whole(const shelf *s)
{
	ckf_chunk chunk;

	if (s->n == 0)
		return true;
	open_row(s, 0, &chunk);
	return chunk.kind == 0;
}
