/*
 * collected.c - what a collector gives to others: its sorted hashes, and the filter that a rebuild
 * reads.  It also tests the values at which a hash may be lost.  collect.c tests all of a
 * collector.
 */
#include "collectors.h"

#include "collect/block.h"
#include "filter/header.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- view */

/* A collector's filter is one of whole hashes, whatever filter gave the parameters. */
static void
check_view(const ckf_collector *c, const ckf_filter *empty, uint64_t n)
{
	const ckf_filter *t = &c->filter;

	CHECK(t->encoding == CKF_HASHES && t->w == 64 && t->f == 0 && t->g == 0 && t->m == 0,
		  "the form of whole hashes");
	CHECK(t->rho_bits == empty->rho_bits && t->bucket_bits == empty->bucket_bits &&
			  t->max_count == empty->max_count && t->low_mask == empty->low_mask &&
			  t->deduplicated == empty->deduplicated,
		  "what is derived from it");
	CHECK(t->bytes == (const uint8_t *)c && t->body == NULL, "it has no bytes");
	CHECK(t->count == n && t->size == CKF_HEADER_SIZE + 8 * n && t->room == t->size,
		  "a size of %zu for %llu hashes", t->size, (unsigned long long)n);
}

static void
run_view(const void *arg)
{
	static const double rates[] = {1e-6, 0.01, 0.2};

	(void)arg;
	for (uint64_t round = check_rounds(60); round > 0; round--)
	{
		ckf_params params = params_of(1 + (int64_t)check_below(100), rates[check_below(3)],
									  check_chance(50), check_chance(50), 4);
		uint64_t n = round % 3 == 0 ? 0 : check_below(4 * CKF_FIRST_BLOCK);
		uint64_t given = round % 2 == 0 ? 3 * CKF_MAX_HASHES : check_below(2 * CKF_FIRST_BLOCK);
		uint64_t *hashes = new_hashes(given > n ? given : n, 0);
		owned empty, o;
		ckf_collector *c;

		owned_create(&empty, &params);
		owned_create(&o, &params); /* a table in every second round */
		CHECK(owned_add_all(&o, hashes, given) == CKF_OK, "add");
		c = collector_new(&o.filter, 1);
		check_view(c, &empty.filter, 0);
		CHECK(c->filter.item_classes == 0, "classes of items that it does not have");
		collector_take(c, hashes, n);
		collector_settle(c);
		check_view(c, &empty.filter, n);
		check_collected(c, hashes, n);
		collector_free(c);
		owned_free(&o);
		owned_free(&empty);
		free(hashes);
	}
}

/* -------------------------------------------------------------------- edges */

/* A block keeps as many equal hashes as were asked for. */
static void
run_copies(const void *arg)
{
	(void)arg;
	for (unsigned most = 1; most <= 4; most++)
		for (unsigned first = 0; first < 3; first++)
		{
			ckf_params params = params_of(1, 0.01, false, false, 4);
			uint64_t given[12], kept[12], n = 0, k = 0;
			owned o;
			ckf_collector *c;

			for (unsigned value = 0; value < 3; value++)
			{
				unsigned copies = most - 1 + (first + value) % 3;

				for (unsigned i = 0; i < copies; i++)
				{
					given[n++] = value < 2 ? value + 1 : UINT64_MAX; /* the smallest and largest */
					if (i < most)
						kept[k++] = given[n - 1];
				}
			}
			owned_create(&o, &params);
			c = collector_new(&o.filter, most);
			collector_take(c, given, n);
			collector_settle(c);
			CHECK(c->filter.count == k, "%llu of %llu hashes, and not %llu",
				  (unsigned long long)c->filter.count, (unsigned long long)n,
				  (unsigned long long)k);
			check_collected(c, kept, k);
			collector_free(c);
			owned_free(&o);
		}
}

/* A block of one hash with the smallest or largest value. */
static void
run_single(const void *arg)
{
	static const uint64_t values[] = {1, 2, UINT64_MAX - 1, UINT64_MAX};
	ckf_params params = params_of(1, 0.01, false, false, 4);

	(void)arg;
	for (unsigned i = 0; i < 4; i++)
		for (unsigned most = 1; most <= 3; most++)
		{
			owned o;
			ckf_collector *c;

			owned_create(&o, &params);
			c = collector_new(&o.filter, most);
			collector_take(c, &values[i], 1);
			collector_settle(c);
			check_collected(c, &values[i], 1);
			collector_free(c);
			owned_free(&o);
		}
}

/* A filter is copied in pieces.  Equal hashes and wrong order are seen across the border of two
 * pieces, too. */
static void
run_pieces(const void *arg)
{
	(void)arg;
	for (unsigned round = 0; round < 12; round++)
	{
		enum
		{
			EQUAL,
			DESCENDING,
			ZERO
		} fault = round % 3;
		uint64_t n = CKF_STEP + 2 + (round < 6 ? round : check_below(CKF_STEP));
		uint64_t *hashes = check_alloc(8 * n), edge = round / 3 % 2 == 0 ? CKF_STEP : 1;
		unsigned most = 1 + round / 6;
		owned o;
		ckf_collector *c;
		ckf_status status;

		for (uint64_t i = 0; i < n; i++)
			hashes[i] = i == n - 1 ? UINT64_MAX : 1 + 3 * i; /* from the smallest to the largest */
		if (fault == ZERO)
			hashes[0] = 0;
		else
			hashes[edge - 1] = hashes[edge] + (fault == DESCENDING);
		filter_of(&o, hashes, n);
		c = collector_new(&o.filter, most);
		CHECK(make_room_exactly(c, NULL) == CKF_OK, "make room");
		CHECK(ckf_collect_filter(c, &o.filter) == CKF_OK, "collect a filter");
		status = make_room_exactly(c, NULL);
		CHECK(status == (fault == EQUAL ? CKF_OK : CKF_BAD_BYTES), "status %d", status);
		if (fault == EQUAL)
		{
			collector_settle(c);
			if (most == 1)
				memmove(hashes + edge, hashes + edge + 1, 8 * (--n - edge));
			check_collected(c, hashes, n);
		}
		collector_free(c);
		owned_free(&o);
		free(hashes);
	}
}

/* Filters of equal hashes that just fit into the open block, or just do not. */
static void
run_few(const void *arg)
{
	(void)arg;
	for (unsigned more = 0; more < 2; more++)
	{
		uint64_t n = CKF_FIRST_BLOCK - 3 + more, one = 7;
		uint64_t *hashes = check_alloc(8 * n);
		owned o;
		ckf_collector *c;

		for (uint64_t i = 0; i < n; i++)
			hashes[i] = one;
		filter_of(&o, hashes, n);
		c = collector_new(&o.filter, 1);
		CHECK(make_room_exactly(c, NULL) == CKF_OK, "make room");
		CHECK((uint64_t)(c->end - c->next) == CKF_FIRST_BLOCK - 3, "the first block");
		CHECK(ckf_collect_filter(c, &o.filter) == CKF_OK, "collect a filter");
		CHECK((c->in == NULL) == (more == 0), "which filters fit into a block");
		CHECK(make_room_exactly(c, NULL) == CKF_OK, "take a filter");
		collector_settle(c);
		check_collected(c, &one, 1);
		collector_free(c);
		owned_free(&o);
		free(hashes);
	}
}

/* A damaged filter has a hash of 0, which a small filter may have: it becomes 1. */
static void
run_zero(const void *arg)
{
	static const uint64_t given[] = {0, 5}, first = 9, kept[] = {1, 5, 9};
	owned o;
	ckf_collector *c;

	(void)arg;
	filter_of(&o, given, 2);
	c = collector_new(&o.filter, 1);
	collector_take(c, &first, 1);
	CHECK(ckf_collect_filter(c, &o.filter) == CKF_OK, "collect a filter");
	CHECK(c->filter.count == 1, "the filter of the hashes so far");
	collector_settle(c);
	check_collected(c, kept, 3);
	collector_free(c);
	owned_free(&o);
}

/* No hashes: there is no run, and the open block becomes a spare one. */
static void
run_empty(const void *arg)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);
	const ckf_block *block;
	owned o;
	ckf_collector *c;

	(void)arg;
	owned_create(&o, &params);
	c = collector_new(&o.filter, 1);
	CHECK(collector_make_room(c) == CKF_OK, "make room");
	block = c->block;
	collector_settle(c);
	CHECK(c->runs == 0 && c->block == NULL, "a run of no hashes");
	CHECK(c->spare[0] == block || c->spare[1] == block, "the open block is lost");
	CHECK(c->next == NULL && c->end == NULL, "room in a block that is not open");
	check_view(c, &o.filter, 0);
	check_collected(c, NULL, 0);
	collector_free(c);
	owned_free(&o);
}

/* A collector that ends in the middle of any step has nothing left. Ending it again does
 * nothing. */
static void
run_end(const void *arg)
{
	uint64_t n = 5 * CKF_MOST_BLOCK < 30000 ? 5 * CKF_MOST_BLOCK : 30000;

	(void)arg;
	for (unsigned steps = 0; steps < 40; steps++)
	{
		uint64_t *hashes[2] = {new_hashes(n, 0), new_hashes(n, 0)};
		unsigned given = 0, back = 0;
		owned o[2];
		ckf_collector *c;
		void *block;

		for (int i = 0; i < 2; i++)
			filter_of(&o[i], hashes[i], n);
		c = collector_new(&o[0].filter, 1);
		for (unsigned step = 0, filters = 0; step <= steps; step++)
			switch (ckf_collect_step(c))
			{
				case CKF_ROOM:
					ckf_collect_give(c, guard_new(c->block_size, 8), c->block_size);
					given++;
					break;
				case CKF_OK:
					if (filters < 2)
						CHECK(ckf_collect_filter(c, &o[filters++].filter) == CKF_OK, "collect");
					break;
				default:
					break;
			}
		for (int end = 0; end < 2; end++)
		{
			ckf_collect_end(c);
			CHECK(c->runs == 0 && c->merged.first == NULL && c->merged.count == 0 &&
					  c->last == NULL && c->in == NULL,
				  "runs after the end");
			CHECK(c->block == NULL && c->next == NULL && c->end == NULL && c->spare[0] == NULL &&
					  c->spare[1] == NULL,
				  "blocks after the end");
			for (; (block = ckf_collect_spent(c)) != NULL; back++)
				guard_free(block);
			CHECK(back == given, "%u of %u blocks came back", back, given);
		}
		guard_free(c);
		for (int i = 0; i < 2; i++)
		{
			owned_free(&o[i]);
			free(hashes[i]);
		}
	}
}

int
main(void)
{
	check_begin("core collected");
	check_case(run_view, NULL, "the filter that a rebuild reads");
	check_case(run_copies, NULL, "copies in a block");
	check_case(run_single, NULL, "one hash");
	check_case(run_pieces, NULL, "pieces of a filter");
	check_case(run_few, NULL, "filters that fit into a block");
	check_case(run_zero, NULL, "a hash of 0");
	check_case(run_empty, NULL, "no hashes");
	check_case(run_end, NULL, "the end");
	return check_end();
}
