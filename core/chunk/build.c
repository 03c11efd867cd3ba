/*
 * build.c - build a chunk from items.  It is a table.  It is a list if a list has no more bytes,
 * or if no table of acceptable size can place the items.
 */
#include "chunk/chunk.h"
#include "open/choose.h"
#include "filter/methods.h"
#include "scan/sink.h"

/* Items that are given to a table at once. */
#define CKF_CHUNK_PIECE 128

/* Write a list: of each item, the bits after those of the range. */
static size_t
ckf_build_list(const ckf_chunk_plan *plan, const uint64_t *items, size_t n, unsigned width,
			   uint8_t *out)
{
	size_t body = ckf_bits_to_bytes((uint64_t)n * width);
	size_t i;

	memset(out, 0, body + CKF_TRAILER);
	for (i = 0; i < n; i++)
	{
		uint64_t key = items[i] << plan->depth >> (64 - width);

		if (width == 64)
			ckf_store64(out + 8 * i, key);
		else
			ckf_store_bits(out, (uint64_t)i * width, width, key);
	}
	ckf_chunk_seal(out, plan->chunks, plan->start, plan->depth,
				   plan->whole ? CKF_CHUNK_HASHES : CKF_CHUNK_PREFIXES, 0, (uint32_t)n, body);
	return body + CKF_TRAILER;
}

/* The items for the table: the bits after those of the range, aligned to the left. */
static bool
ckf_put_items(ckf_build *build, const uint64_t *items, size_t n, unsigned depth)
{
	uint64_t piece[CKF_CHUNK_PIECE];
	size_t i;

	while (n > 0)
	{
		size_t some = n < CKF_CHUNK_PIECE ? n : CKF_CHUNK_PIECE;

		for (i = 0; i < some; i++)
			piece[i] = items[i] << depth;
		if (!ckf_table_sink.put(build, piece, some))
			return false;
		items += some;
		n -= some;
	}
	return true;
}

/* Fill the table t.  false: it cannot place all items. */
static bool
ckf_fill_table(ckf_filter *t, const ckf_chunk_plan *plan, const uint64_t *items, size_t n,
			   uint8_t *out, uint64_t *scratch)
{
	size_t body = ckf_chunk_table_bytes(t);
	ckf_build build;

	memset(&build, 0, sizeof build);
	memset(out, 0, body + CKF_TRAILER);
	build.t = t;
	t->body = out;
	ckf_table_sink.start(&build, scratch);
	if (!ckf_put_items(&build, items, n, plan->depth))
		return false;
	ckf_table_sink.end(&build);
	ckf_chunk_seal(out, plan->chunks, plan->start, plan->depth, CKF_CHUNK_TABLE, t->m, (uint32_t)n,
				   body);
	return true;
}

/* Choose the table of fewest bytes for this number of items. */
static bool
ckf_first_table(ckf_filter *t, const ckf_chunk_plan *plan, size_t n)
{
	ckf_filter chosen = plan->chunks->like;

	chosen.rho_bits = (uint8_t)(chosen.w - plan->depth);
	return ckf_choose_buckets(&chosen, n) &&
		   ckf_chunk_geometry(t, &plan->chunks->like, plan->depth, chosen.m);
}

/* Build a table of fewer than `limit` bytes.  Returns its bytes; 0: there is none. */
static size_t
ckf_build_table(const ckf_chunk_plan *plan, const uint64_t *items, size_t n, size_t limit,
				uint8_t *out, uint64_t *scratch)
{
	size_t spare = plan->grows ? n / CKF_CHUNK_SPARE + 1 : CKF_CHUNK_LEAST_SPARE;
	unsigned tries = 0;
	ckf_filter t;
	bool possible = ckf_first_table(&t, plan, n + spare);

	for (; possible; possible = ckf_chunk_geometry(&t, &plan->chunks->like, plan->depth,
												   ckf_more_buckets(t.m, tries++)))
	{
		size_t size = ckf_chunk_table_bytes(&t) + CKF_TRAILER;

		if (size >= limit)
			return 0;
		if (ckf_fill_table(&t, plan, items, n, out, scratch))
			return size;
	}
	return 0;
}

size_t
ckf_chunk_build(const ckf_chunk_plan *plan, const uint64_t *items, size_t n, uint8_t *out,
				uint64_t *scratch)
{
	unsigned width = plan->whole ? 64 : plan->chunks->like.w - plan->depth;
	size_t list = ckf_bits_to_bytes((uint64_t)n * width) + CKF_TRAILER;
	size_t limit = plan->chunks->limit;
	size_t size;

	if (plan->whole)
		return list <= CKF_CHUNK_MAX ? ckf_build_list(plan, items, n, width, out) : 0;
	if (n > CKF_CHUNK_BUILT)
		return 0;
	size = ckf_build_table(plan, items, n, list < limit ? list : limit + 1, out, scratch);
	if (size > 0)
		return size;
	return list <= limit ? ckf_build_list(plan, items, n, width, out) : 0;
}
