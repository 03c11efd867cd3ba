/*
 * collectors.c - see collectors.h.
 */
#include "collectors.h"

#include "collect/block.h"
#include "filter/header.h"
#include "filter/operations.h"
#include "rebuild/scan.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

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

const ckf_block *
last_block(const ckf_block *block)
{
	while (block->next)
		block = block->next;
	return block;
}

/* A step of a merge that is not the last one writes as many hashes as a step is long, or up to a
 * block more. */
ckf_status
make_room_exactly(ckf_collector *c, const ckf_block *last[2])
{
	ckf_status status;

	do
	{
		bool merges = c->in == NULL && c->runs == 2;
		bool goes_on = merges && c->merged.first != NULL;
		uint64_t before = goes_on ? c->merged.count : 0;

		for (int i = 0; i < 2 && merges && !goes_on && last != NULL; i++)
			last[i] = last_block(c->run[i].first);
		status = ckf_collect_step(c);
		if (merges && c->merged.first != NULL)
		{
			uint64_t written = c->merged.count - before;

			CHECK(written <= CKF_STEP + CKF_MOST_BLOCK, "a step of %llu hashes",
				  (unsigned long long)written);
			CHECK(status == CKF_ROOM || written >= CKF_STEP, "a step of only %llu hashes",
				  (unsigned long long)written);
		}
		CHECK(status != CKF_ROOM || !merges || c->last == NULL ||
				  c->last->count == c->last->capacity,
			  "a block is asked for while there is room");
		if (status == CKF_ROOM)
			ckf_collect_give(c, guard_new(c->block_size, 8), c->block_size);
	} while (status == CKF_MORE || status == CKF_ROOM);
	for (void *block; (block = ckf_collect_spent(c)) != NULL;)
		guard_free(block);
	return status;
}

void
check_collected(const ckf_collector *c, const uint64_t *hashes, uint64_t n)
{
	const ckf_block *block = c->runs > 0 ? c->run[0].first : NULL;
	uint64_t before = 0; /* hashes in the blocks before this one */
	size_t have;
	ckf_scan scan;

	for (uint64_t at = 0; at < n; at += 1 + check_below(9))
	{
		const uint64_t *hash = ckf_collected(c, at, &have);

		for (; at - before >= block->count; block = block->next)
			before += block->count;
		CHECK(have == before + block->count - at, "%zu hashes from number %llu on", have,
			  (unsigned long long)at);
		CHECK(hash != NULL && memcmp(hash, hashes + at, 8 * have) == 0, "hashes from %llu on",
			  (unsigned long long)at);
	}
	for (int i = 0; i < 3; i++)
		CHECK(ckf_collected(c, n + check_below(1 + 2 * n), &have) == NULL && have == 0, "the end");

	c->filter.operations->source->scan(&c->filter, &scan);
	for (before = 0; ckf_scan_ready(&scan); before += scan.have)
	{
		CHECK(scan.have <= CKF_STEP && scan.have <= n - before, "a load of %zu", scan.have);
		CHECK(memcmp(scan.keys, hashes + before, 8 * scan.have) == 0, "the scan's hashes");
		scan.at = scan.have;
	}
	CHECK(before == n, "a scan of %llu hashes", (unsigned long long)before);
}
