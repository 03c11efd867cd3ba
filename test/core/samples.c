/*
 * samples.c - merges on the way to the end of an aggregate, for which only a sample of the items is
 * counted.  The sample has the items of the smallest hashes, so these tests let them have more or
 * fewer copies than the others.
 */
#include "drive.h"

#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

/* A sample may have a piece of 512 items more than it must. */
#define LEAST_HASHES ((size_t)(CKF_LEAST_SAMPLE < 1000 ? 4096 : 8 * CKF_LEAST_SAMPLE))

/* The inputs of a merge.  The first quarter of the hashes is in `front` inputs each, the others are
 * in `back` inputs each. */
typedef struct merge
{
	unsigned n;
	bool sum;
	unsigned front, back;
	owned input[CKF_MOST_INPUTS];
	const ckf_filter *in[CKF_MOST_INPUTS];
	uint64_t all, result; /* copies in all inputs, and in the result */
	bool hashes; /* an input is in hashes: a table had no room for so many in the first segments */
} merge;

static bool
is_front(size_t i, size_t hashes)
{
	return i < hashes / 4;
}

static void
draw_merge(merge *m)
{
	static const unsigned bucket_sizes[] = {4, 8, 2};
	size_t hashes;
	uint64_t *hash, *part;
	ckf_params params;
	bool set;

	m->n = 2 + (unsigned)check_below(CKF_MOST_INPUTS - 1);
	m->sum = check_chance(50);
	set = check_chance(50);
	/* more copies, or smaller buckets, may not fit into a table for a sum; neither may twice as
	 * many copies in some segments */
	m->front = 1 + (unsigned)check_below(m->sum ? 2 : m->n);
	m->back = (m->sum && !set) || check_chance(40) ? m->front
												   : 1 + (unsigned)check_below(m->sum ? 2 : m->n);
	/* the front has more items than the sample, unless it has fewer copies */
	hashes = LEAST_HASHES + check_below(LEAST_HASHES / 2);
	hash = check_alloc(8 * hashes);
	part = check_alloc(8 * hashes);
	for (size_t i = 0; i < hashes; i++)
		hash[i] = check_random();
	qsort(hash, hashes, 8, compare_hashes);
	params = params_of((int64_t)(64 * hashes), 0.01, set, check_chance(30),
					   bucket_sizes[check_below(m->sum ? 2 : 3)]);
	m->all = m->result = 0;
	m->hashes = false;
	for (size_t i = 0; i < hashes; i++)
	{
		unsigned copies = is_front(i, hashes) ? m->front : m->back;

		m->all += copies;
		m->result += m->sum && !set ? copies : 1;
	}
	for (unsigned k = 0; k < m->n; k++)
	{
		size_t items = 0;

		for (size_t i = 0; i < hashes; i++)
			if ((i + k) % m->n < (is_front(i, hashes) ? m->front : m->back))
				part[items++] = hash[i];
		build_bulk(&m->input[k], &params, part, items);
		m->in[k] = &m->input[k].filter;
		m->hashes = m->hashes || m->in[k]->encoding == CKF_HASHES;
	}
	free(hash);
	free(part);
}

static void
free_merge(merge *m)
{
	for (unsigned k = 0; k < m->n; k++)
		owned_free(&m->input[k]);
}

static void
run_to(const merge *m, ckf_goal of_union, ckf_goal of_sum, const ckf_filter *const *in, unsigned n,
	   owned *result)
{
	ckf_buffers buffers = {0};

	CHECK(rebuild_many(&buffers, m->sum ? of_sum : of_union, in, n) == CKF_OK, "a merge of %u", n);
	owned_open(result, buffers.dst, buffers.dst_size, CKF_STORED);
	guard_free(buffers.dst);
}

/* A merge on the way keeps all items, and its table is not much larger than they need: the sample
 * is right if all hashes have as many copies.  If it says too few items, all are counted. */
static void
run_samples(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(CKF_LEAST_SAMPLE > 1000 ? 6 : 200); round > 0; round--)
	{
		merge m;
		owned direct, part, end;
		const ckf_filter *in;
		double told;

		draw_merge(&m);
		run_to(&m, CKF_FINISH_UNION, CKF_FINISH_SUM, m.in, m.n, &direct);
		run_to(&m, CKF_MERGE_UNION, CKF_MERGE_SUM, m.in, m.n, &part);
		in = &part.filter;
		run_to(&m, CKF_FINISH_UNION, CKF_FINISH_SUM, &in, 1, &end);
		CHECK(owned_same_bytes(&direct, &end), "%u inputs, %u and %u copies: other bytes", m.n,
			  m.front, m.back);
		/* some prefixes are equal */
		CHECK(direct.filter.count > m.result - m.result / 20, "items are missing");
		if (m.front == m.back && !m.hashes)
			CHECK(part.filter.size < direct.filter.size * 3 / 2 + 200,
				  "%u inputs, %u copies: %zu bytes for %zu", m.n, m.front, part.filter.size,
				  direct.filter.size);
		/* what the sample tells; hashes are all counted */
		told = (double)m.all * (m.result < m.all ? 1.0 / m.front : 1);
		if (!m.hashes && told * 4 / 3 < (double)direct.filter.count)
			CHECK(part.filter.size == direct.filter.size, "%u inputs, %u and %u copies: %zu, %zu",
				  m.n, m.front, m.back, part.filter.size, direct.filter.size);
		owned_free(&end);
		owned_free(&part);
		owned_free(&direct);
		free_merge(&m);
	}
}

int
main(void)
{
	check_begin("core samples");
	check_case(run_samples, NULL, "merges of which a sample is counted");
	return check_end();
}
