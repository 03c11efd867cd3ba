/*
 * chunk.c - open (and validate) a chunk, look up hashes, and read its items.
 */
#include "chunk/chunk.h"
#include "filter/methods.h"
#include "scan/scan.h"

/* Where the trailer's fields are, from its first byte on. */
enum
{
	CKF_AT_KIND = 0,        /* and depth below its two bits */
	CKF_AT_BUCKETS = 1,     /* 2 bytes: m */
	CKF_AT_CHUNK_COUNT = 3, /* 2 bytes */
	CKF_AT_CHECK = 5        /* 3 bytes */
};

#define CKF_DEPTH_BITS 6

/* The check: a hash of all bytes before it, the row number and the table's parameters. */
static uint32_t
ckf_chunk_check_of(const uint8_t *bytes, size_t size, const ckf_chunks *chunks, uint64_t start)
{
	return ckf_hash_bytes(CKF_CLASS_BYTES, bytes, size - CKF_CHECK_BYTES, chunks->check ^ start) &
		   0xFFFFFF;
}

static uint32_t
ckf_load16(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static void
ckf_store16(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

void
ckf_chunk_seal(uint8_t *bytes, const ckf_chunks *chunks, uint64_t start, unsigned depth,
			   unsigned kind, uint32_t m, uint32_t count, size_t body)
{
	uint8_t *p = bytes + body;
	uint32_t check;

	p[CKF_AT_KIND] = (uint8_t)(kind << CKF_DEPTH_BITS | depth);
	ckf_store16(p + CKF_AT_BUCKETS, m);
	ckf_store16(p + CKF_AT_CHUNK_COUNT, count);
	check = ckf_chunk_check_of(bytes, body + CKF_TRAILER, chunks, start);
	ckf_store16(p + CKF_AT_CHECK, check);
	p[CKF_AT_CHECK + 2] = (uint8_t)(check >> 16);
}

/* ------------------------------------------------------------------- open */

bool
ckf_chunk_geometry(ckf_filter *t, const ckf_filter *like, unsigned depth, uint32_t m)
{
	*t = *like;
	t->w = (uint8_t)(like->w - depth);
	t->g = 0;
	t->m = m;
	if (m < 1 || m > CKF_MAX_BUCKETS)
		return false;
	t->f = (uint8_t)ckf_tag_bits(t->w, m);
	if (t->f < t->c || t->f > CKF_MAX_TAG)
		return false;
	ckf_derive(t);
	t->max_count = UINT64_MAX; /* the limit applies to the whole table */
	return true;
}

/* A chunk has no header: its buckets begin at its first byte. */
static bool
ckf_open_table(ckf_chunk *chunk, uint32_t m)
{
	ckf_filter *t = &chunk->table;

	if (!ckf_chunk_geometry(t, &chunk->chunks->like, chunk->depth, m))
		return false;
	t->bytes = NULL;
	t->body = (uint8_t *)(uintptr_t)chunk->bytes;
	t->size = CKF_HEADER_SIZE + ckf_chunk_table_bytes(t);
	t->room = t->size;
	t->count = chunk->count;
	return chunk->size == ckf_chunk_table_bytes(t) + CKF_TRAILER &&
		   chunk->count <= (uint64_t)2 * m * t->b;
}

static bool
ckf_open_list(ckf_chunk *chunk, uint32_t m)
{
	unsigned most = ckf_chunk_most_copies(chunk->chunks);

	if (m != 0 ||
		chunk->size - CKF_TRAILER != ckf_bits_to_bytes((uint64_t)chunk->count * chunk->width))
		return false;
	return chunk->width >= 12 || chunk->count <= (uint32_t)most << chunk->width;
}

static bool
ckf_open_body(ckf_chunk *chunk, uint32_t m)
{
	chunk->width = (uint8_t)(chunk->chunks->like.w - chunk->depth);
	switch (chunk->kind)
	{
		case CKF_CHUNK_HASHES:
			chunk->width = 64;
			return chunk->depth == 0 && ckf_open_list(chunk, m);
		case CKF_CHUNK_PREFIXES:
			return ckf_open_list(chunk, m);
		case CKF_CHUNK_TABLE:
			return ckf_open_table(chunk, m);
		default:
			return false;
	}
}

ckf_status
ckf_chunk_open(ckf_chunk *chunk, const ckf_chunks *chunks, uint64_t start, const void *bytes,
			   size_t size)
{
	const uint8_t *p = bytes;
	const uint8_t *trailer;
	uint32_t check;

	if (size < CKF_TRAILER || size > CKF_CHUNK_MAX)
		return CKF_BAD_BYTES;
	trailer = p + size - CKF_TRAILER;
	check = ckf_load16(trailer + CKF_AT_CHECK) | (uint32_t)trailer[CKF_AT_CHECK + 2] << 16;
	chunk->chunks = chunks;
	chunk->bytes = p;
	chunk->size = (uint32_t)size;
	chunk->kind = trailer[CKF_AT_KIND] >> CKF_DEPTH_BITS;
	chunk->depth = trailer[CKF_AT_KIND] & ((1 << CKF_DEPTH_BITS) - 1);
	chunk->count = ckf_load16(trailer + CKF_AT_CHUNK_COUNT);
	if (chunk->depth > CKF_CHUNK_MAX_DEPTH || chunk->depth >= chunks->like.w ||
		(start & UINT64_MAX >> chunk->depth) != 0 ||
		check != ckf_chunk_check_of(p, size, chunks, start))
		return CKF_BAD_BYTES;
	chunk->start = start;
	chunk->last = ckf_chunk_last(start, chunk->depth);
	return ckf_open_body(chunk, ckf_load16(trailer + CKF_AT_BUCKETS)) ? CKF_OK : CKF_BAD_BYTES;
}

/* ----------------------------------------------------------------- lookup */

/* Convert an item to the bits of a list. */
static uint64_t
ckf_list_key(const ckf_chunk *chunk, uint64_t hash)
{
	uint64_t item = ckf_chunk_cut(chunk->chunks, chunk->kind == CKF_CHUNK_HASHES, hash);

	return item << chunk->depth >> (64 - chunk->width);
}

static unsigned
ckf_list_copies(const ckf_chunk *chunk, uint64_t hash)
{
	uint64_t key = ckf_list_key(chunk, hash);
	unsigned most = ckf_chunk_most_copies(chunk->chunks);
	unsigned copies = 0;
	size_t low = 0;
	size_t n = chunk->count;

	while (n > 0)
	{
		size_t half = n / 2;
		bool above = ckf_list_get(chunk->bytes, low + half, chunk->width) < key;

		low = above ? low + half + 1 : low;
		n = above ? n - half - 1 : half;
	}
	while (copies < most && low < chunk->count &&
		   ckf_list_get(chunk->bytes, low++, chunk->width) == key)
		copies++;
	return copies;
}

bool
ckf_chunk_contains(const ckf_chunk *chunk, uint64_t hash)
{
	if (!ckf_chunk_covers(chunk, hash))
		return false;
	return chunk->kind == CKF_CHUNK_TABLE ? ckf_contains(&chunk->table, hash << chunk->depth)
										  : ckf_list_copies(chunk, hash) > 0;
}

unsigned
ckf_chunk_copies(const ckf_chunk *chunk, uint64_t hash)
{
	if (!ckf_chunk_covers(chunk, hash))
		return 0;
	return chunk->kind == CKF_CHUNK_TABLE ? ckf_copies(&chunk->table, hash << chunk->depth)
										  : ckf_list_copies(chunk, hash);
}

/* ------------------------------------------------------------------ items */

/* Read a list, in place at the end of the buffer. */
static size_t
ckf_list_items(const ckf_chunk *chunk, uint64_t *items)
{
	size_t i;

	for (i = 0; i < chunk->count; i++)
	{
		uint64_t key = ckf_list_get(chunk->bytes, i, chunk->width);

		items[i] = chunk->start | key << (64 - chunk->width) >> chunk->depth;
	}
	return i;
}

static size_t
ckf_chunk_table_items(const ckf_chunk *chunk, uint64_t *items)
{
	size_t work = 0;
	ckf_scan scan;
	size_t i;

	chunk->table.methods->source->scan(&chunk->table, &scan);
	scan.memory = items;
	scan.work = &work;
	(void)ckf_scan_ready(&scan);
	for (i = 0; i < scan.have; i++)
		items[i] = chunk->start | items[i] >> chunk->depth;
	return scan.have;
}

size_t
ckf_chunk_items(const ckf_chunk *chunk, uint64_t *items)
{
	return chunk->kind == CKF_CHUNK_TABLE ? ckf_chunk_table_items(chunk, items)
										  : ckf_list_items(chunk, items);
}

_Static_assert(CKF_CHUNK_SCRATCH * sizeof(uint64_t) <= CKF_CHUNK_DISTINCT_SCRATCH,
			   "CKF_CHUNK_DISTINCT_SCRATCH is too small");

size_t
ckf_chunk_distinct(const ckf_chunk *chunk, void *scratch)
{
	uint64_t *items = scratch;
	size_t n = ckf_chunk_items(chunk, items);
	size_t distinct = 0;
	size_t i;

	for (i = 0; i < n; i++)
		distinct += i == 0 || items[i] != items[i - 1];
	return distinct;
}

/* ------------------------------------------------------------------ check */

/* Whether this item is possible in the list; `same` is the number of equal items before it. */
static bool
ckf_list_item_possible(const ckf_chunk *chunk, size_t i, unsigned *same)
{
	uint64_t key = ckf_list_get(chunk->bytes, i, chunk->width);
	uint64_t before = i > 0 ? ckf_list_get(chunk->bytes, i - 1, chunk->width) : 0;
	uint64_t item = chunk->start | key << (64 - chunk->width) >> chunk->depth;

	*same = i > 0 && key == before ? *same + 1 : 0;
	return (i == 0 || key >= before) && *same < ckf_chunk_most_copies(chunk->chunks) &&
		   item == ckf_chunk_cut(chunk->chunks, chunk->kind == CKF_CHUNK_HASHES, item);
}

static ckf_status
ckf_list_check(const ckf_chunk *chunk)
{
	uint64_t bits = (uint64_t)chunk->count * chunk->width;
	unsigned same = 0;
	size_t i;

	for (i = 0; i < chunk->count; i++)
		if (!ckf_list_item_possible(chunk, i, &same))
			return CKF_BAD_BYTES;
	return bits % 8 == 0 || chunk->bytes[bits / 8] >> (bits % 8) == 0 ? CKF_OK : CKF_BAD_BYTES;
}

ckf_status
ckf_chunk_check(const ckf_chunk *chunk)
{
	ckf_check check = {0, 0};
	ckf_status status;

	if (chunk->kind != CKF_CHUNK_TABLE)
		return ckf_list_check(chunk);
	while ((status = ckf_check_step(&chunk->table, &check)) == CKF_MORE)
		;
	return status;
}
