/*
 * collectors.c - see collectors.h.
 */
#include "collectors.h"

#include "filter/header.h"
#include "filter/methods.h"
#include "scan/scan.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

#define SPARE 40 /* hashes for which blocks that are not exact may have more room */

uint64_t *
new_hashes(uint64_t n, unsigned shift)
{
	uint64_t *hashes = check_alloc(8 * n + 8);

	for (uint64_t i = 0; i < n; i++)
		hashes[i] = check_random() >> shift | 1;
	qsort(hashes, n, 8, compare_hashes);
	return hashes;
}

void
filter_of(owned *o, const uint64_t *hashes, uint64_t n)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);
	uint8_t *bytes = check_alloc(CKF_HEADER_SIZE + 8 * n);

	CHECK(ckf_create(&params, bytes) == CKF_OK, "create");
	bytes[14] = n > 0 ? CKF_ITEM_HASH : 0;
	for (uint64_t i = 0; i <= n; i++)
		for (int k = 0; k < 8; k++)
			bytes[(i == n ? 16 : CKF_HEADER_SIZE + 8 * i) + (unsigned)k] =
				(uint8_t)((i == n ? n : hashes[i]) >> 8 * k); /* at last their number */
	owned_open(o, bytes, CKF_HEADER_SIZE + 8 * n, CKF_STORED);
	free(bytes);
}

/* ------------------------------------------------------------------- a host */

void
gathering_start(gathering *g, const owned *promise, unsigned most)
{
	const ckf_filter *t = &promise->filter;
	ckf_params params =
		params_of(t->capacity, t->fpr, t->flags & CKF_FLAG_SET, t->flags & CKF_FLAG_PLAIN, t->b);

	*g = (gathering){.most = most};
	params.seed = t->seed;
	owned_create(&g->empty, &params);
	g->c = collector_new(t, most);
	g->inside = ckf_inside_of(g->c);
	CHECK(g->c->filter.item_classes == 0, "classes of items that it does not have");
}

static void
give(gathering *g)
{
	size_t size = g->c->block_size + (!g->exact && check_chance(20) ? 8 * check_below(SPARE) : 0);

	CHECK(g->c->block_size <= 8 * CKF_MOST_BLOCK + BLOCK_HEAD, "a block of %zu bytes",
		  g->c->block_size);
	CHECK(g->blocks < MOST_HELD, "too many blocks");
	g->block[g->blocks] = guard_new(size, 8);
	g->size[g->blocks] = size;
	g->bytes += size;
	g->most_bytes = g->bytes > g->most_bytes ? g->bytes : g->most_bytes;
	ckf_collect_give(g->c, g->block[g->blocks++], size);
}

/* Each block comes back once. */
static void
take_back(gathering *g)
{
	void *block;

	while ((block = ckf_collect_spent(g->c)) != NULL)
	{
		size_t i = 0;

		while (i < g->blocks && g->block[i] != block)
			i++;
		CHECK(i < g->blocks, "a block came back that was not given");
		g->bytes -= g->size[i];
		guard_free(block);
		g->block[i] = g->block[--g->blocks];
		g->size[i] = g->size[g->blocks];
	}
}

void
gathering_end(gathering *g)
{
	const ckf_inside *inside = g->inside;
	ckf_collector *c = g->c;

	for (int end = 0; end < 2; end++) /* the second one does nothing */
	{
		ckf_collect_end(c);
		CHECK(inside->runs == 0 && inside->merged.first == NULL && inside->merged.count == 0 &&
				  inside->last == NULL && inside->in == NULL,
			  "runs after the end");
		CHECK(inside->block == NULL && c->next == NULL && c->end == NULL &&
				  inside->spare[0] == NULL && inside->spare[1] == NULL,
			  "blocks after the end");
		take_back(g);
		CHECK(g->blocks == 0, "%zu blocks did not come back", g->blocks);
	}
	guard_free(c);
	owned_free(&g->empty);
}

/* The hashes for which a new block has room, if so many are kept. */
static uint64_t
capacity_for(uint64_t kept)
{
	uint64_t most = 2 * kept, words = CKF_FIRST_BLOCK;

	if (kept >= CKF_MANY_KEPT)
		most = kept / 2 > 2 * CKF_MANY_KEPT ? kept / 2 : 2 * CKF_MANY_KEPT;
	for (; words < CKF_MOST_BLOCK && words < most; words *= 2)
		;
	return words - BLOCK_HEAD / 8;
}

/* Whether the last two runs may be merged: only if one is at most twice as long as the next. */
static bool
merge_is_due(const ckf_inside *inside)
{
	return inside->runs > 1 &&
		   (inside->settling || inside->runs == CKF_MOST_RUNS ||
			inside->run[inside->runs - 2].count / 2 <= inside->run[inside->runs - 1].count);
}

/* Of a filter, a collector asks for blocks of the number of hashes that are left.  A merge asks for
 * one when the last is full.  Without both, the first block to fill is for the hashes that are
 * kept. */
static void
check_request(const ckf_collector *c)
{
	const ckf_inside *inside = ckf_inside_of(c);
	uint64_t left = inside->in ? inside->in->count - inside->taken : 0, kept = 0;

	for (unsigned i = 0; i < inside->runs; i++)
		kept += inside->run[i].count;
	left = left < CKF_MOST_BLOCK ? left : CKF_MOST_BLOCK;
	if (inside->in)
		CHECK(c->block_size == BLOCK_HEAD + 8 * left, "%zu bytes for %llu hashes of a filter",
			  c->block_size, (unsigned long long)left);
	else if (inside->last)
		CHECK(inside->last->count == inside->last->capacity, "a merge has room in its last block");
	else if (!inside->block && !inside->settling && !merge_is_due(inside))
		CHECK(c->block_size == BLOCK_HEAD + 8 * capacity_for(kept), "%zu bytes for %llu hashes",
			  c->block_size, (unsigned long long)kept);
}

/* A step.  One of a merge that is not the last writes as many hashes as a step is long, or up to a
 * block more. */
static ckf_status
step(gathering *g)
{
	const ckf_inside *inside = g->inside;
	ckf_collector *c = g->c;
	unsigned runs = inside->runs;
	bool goes_on = inside->in == NULL && inside->merged.first != NULL;
	bool due = inside->in == NULL && !goes_on && merge_is_due(inside);
	uint64_t before = goes_on ? inside->merged.count : 0, after;
	ckf_status status = ckf_collect_step(c);
	bool merged = inside->in == NULL && (inside->merged.first != NULL || inside->runs < runs);

	CHECK(status == CKF_OK || status == CKF_MORE || status == CKF_ROOM || status == CKF_BAD_BYTES,
		  "step: status %d", status);
	CHECK(!merged || goes_on || due, "a merge that is not due");
	CHECK(inside->in != NULL || goes_on || !due || merged || status == CKF_ROOM,
		  "a merge is not begun");
	if (status == CKF_ROOM)
		check_request(c);
	if (!merged)
		return status;
	after = inside->runs < runs ? inside->run[inside->runs - 1].count : inside->merged.count;
	if (inside->merged.first != NULL)
		CHECK(after - before <= CKF_STEP + CKF_MOST_BLOCK + (g->exact ? 0 : SPARE) &&
				  (status == CKF_ROOM || after - before >= CKF_STEP),
			  "a step of %llu hashes", (unsigned long long)(after - before));
	return status;
}

ckf_status
gathering_room(gathering *g)
{
	const ckf_inside *inside = g->inside;
	ckf_collector *c = g->c;
	ckf_status status;

	while ((status = step(g)) == CKF_MORE || status == CKF_ROOM)
	{
		if (++g->steps == g->stop)
			return CKF_ROOM;
		CHECK(g->steps < 1000000, "a collector does not end");
		if (status == CKF_ROOM)
			give(g);
		if (check_chance(50))
			take_back(g);
	}
	take_back(g);
	if (status == CKF_OK)
		CHECK(!merge_is_due(inside), "a merge is due");
	if (inside->block)
		CHECK((uint64_t)(c->end - inside->block->hash) == (inside->block->capacity < CKF_MOST_BLOCK
															   ? inside->block->capacity
															   : CKF_MOST_BLOCK),
			  "the room of a block");
	else
		CHECK(c->next == c->end, "room without a block");
	return status;
}

bool
gathering_take(gathering *g, const uint64_t *hashes, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		while (!ckf_collect(g->c, hashes[i], class_of_hash(hashes[i])))
			if (gathering_room(g) != CKF_OK)
				return false;
	return true;
}

ckf_status
gathering_filter(gathering *g, const uint64_t *hashes, uint64_t n)
{
	ckf_status status = gathering_room(g);
	uint64_t before = ckf_items(&g->c->filter);
	bool fits;
	owned o;

	if (status != CKF_OK)
	{
		gathering_end(g);
		return status;
	}
	filter_of(&o, hashes, n);
	fits = n <= (uint64_t)(g->c->end - g->c->next);
	CHECK(ckf_collect_filter(g->c, &o.filter) == CKF_OK, "collect a filter");
	CHECK((g->inside->in == NULL) == fits, "which filters fit into a block");
	CHECK(g->c->filter.count == before, "the filter of the hashes so far");
	status = gathering_room(g);
	if (status != CKF_OK)
		gathering_end(g); /* before the filter's bytes go */
	owned_free(&o);
	return status;
}

/* ------------------------------------------------------------------ verdict */

/* A collector's filter is one of whole hashes, whatever filter gave the parameters. */
static void
check_view(const gathering *g)
{
	const ckf_filter *t = &g->c->filter, *empty = &g->empty.filter;

	CHECK(t->encoding == CKF_HASHES && t->w == 64 && t->f == 0 && t->g == 0 && t->m == 0,
		  "the form of whole hashes");
	CHECK(t->rho_bits == empty->rho_bits && t->bucket_bits == empty->bucket_bits &&
			  t->max_count == empty->max_count && t->low_mask == empty->low_mask &&
			  t->deduplicated == empty->deduplicated,
		  "what is derived from it");
	CHECK(t->bytes == (const uint8_t *)g->c && t->body == NULL, "it has no bytes");
	CHECK(t->count == ckf_items(t) && t->size == CKF_HEADER_SIZE + 8 * t->count &&
			  t->room == t->size,
		  "a size of %zu for %llu hashes", t->size, (unsigned long long)t->count);
}

/* The hashes that a scan loads, in new memory. */
static uint64_t *
scanned(const ckf_collector *c)
{
	uint64_t *got = check_alloc(8 * c->filter.count + 8), n = 0;
	ckf_scan scan;

	c->filter.methods->source->scan(&c->filter, &scan);
	for (; ckf_scan_ready(&scan); n += scan.have)
	{
		CHECK(scan.have <= CKF_STEP && scan.have <= c->filter.count - n, "a load of %zu",
			  scan.have);
		memcpy(got + n, scan.keys, 8 * scan.have);
		scan.at = scan.have;
	}
	CHECK(n == c->filter.count, "a scan of %llu hashes", (unsigned long long)n);
	return got;
}

/* The same hashes from any number on: to the end of a block. */
static void
check_pieces(const ckf_collector *c, const uint64_t *got)
{
	const ckf_inside *inside = ckf_inside_of(c);
	const ckf_block *block = inside->runs > 0 ? inside->run[0].first : NULL;
	uint64_t n = c->filter.count, before = 0; /* hashes in the blocks before this one */
	size_t have;

	for (uint64_t at = 0; at < n; at += 1 + check_below(n / 1000 + 9))
	{
		const uint64_t *hash = ckf_collected(c, at, &have);

		for (; at - before >= block->count; block = block->next)
			before += block->count;
		CHECK(have == before + block->count - at, "%zu hashes from number %llu on", have,
			  (unsigned long long)at);
		have = have < 100 ? have : 100;
		CHECK(hash != NULL && memcmp(hash, got + at, 8 * have) == 0, "hashes from %llu on",
			  (unsigned long long)at);
	}
	for (int i = 0; i < 3; i++)
		CHECK(ckf_collected(c, n + check_below(1 + 2 * n), &have) == NULL && have == 0, "the end");
}

void
gathering_settle(gathering *g, const uint64_t *hashes, uint64_t n, bool all)
{
	uint64_t *want = check_alloc(8 * n + 8), *got, at = 0, copies;
	const ckf_inside *inside = g->inside;
	const ckf_collector *c = g->c;

	for (uint64_t i = 0; i < n; i++)
		want[i] = hashes[i] | (hashes[i] == 0);
	qsort(want, n, 8, compare_hashes);
	ckf_collect_settle(g->c);
	CHECK(gathering_room(g) == CKF_OK, "settle");
	CHECK(inside->runs == (n > 0) && inside->block == NULL && c->next == NULL && c->end == NULL &&
			  !inside->settling,
		  "one run");
	check_view(g);
	got = scanned(c);
	check_pieces(c, got);
	for (uint64_t i = 0, end; i < n; i = end)
	{
		uint64_t least;

		for (end = i + 1; end < n && want[end] == want[i]; end++)
			;
		for (copies = 0; at < c->filter.count && got[at] == want[i]; at++)
			copies++;
		least = end - i < g->most ? end - i : g->most;
		CHECK(copies >= least && copies <= (all ? least : end - i),
			  "%llu copies, least %llu, came %llu", (unsigned long long)copies,
			  (unsigned long long)least, (unsigned long long)(end - i));
	}
	CHECK(at == c->filter.count, "hashes from nowhere");
	free(want);
	free(got);
}
