/*
 * parameters.c - what all chunks of a table share.
 */
#include "chunk/chunk.h"
#include "filter/choose.h"
#include "filter/derive.h"
#include "small/sorted_hashes.h"
#include "thresholds.h"

/* Prefixes of so many bits keep the rate of so many items. */
static unsigned
ckf_promised_bits(const ckf_filter *t)
{
	return ckf_prefix_bits((double)t->capacity, t->fpr, t->c);
}

/*
 * The precision of chunks: what ckf_create promises.  But near a rate of 1, where tags
 * are short, a build of the whole may need longer prefixes (FORMAT.md, 7.10), and no
 * chunk could give them any more.  So w is so large that tags are long at capacity.
 */
static unsigned
ckf_chunk_precision(const ckf_filter *exact)
{
	ckf_filter t = *exact;
	unsigned w;

	for (w = ckf_promised_bits(exact); w < CKF_MAX_PREFIX; w++)
	{
		t.w = (uint8_t)w;
		if (ckf_choose(&t, (uint64_t)exact->capacity, w) && t.f > CKF_SHORT_TAG)
			break;
	}
	return w;
}

/* A table of the whole must be possible for this part of its items more. */
#define CKF_BUILD_MARGIN 16

/* The most copies with which a table of the whole is possible, and the rate is not past
 * its limit. */
static uint64_t
ckf_most_copies_of(const ckf_filter *like)
{
	ckf_filter t = *like;
	uint64_t low = 0;
	uint64_t high = ckf_count_limit(like->w, like->fpr);

	if (high > UINT64_C(1) << 48)
		high = UINT64_C(1) << 48;
	while (low < high)
	{
		uint64_t n = low + (high - low + 1) / 2;

		t.w = like->w;
		/* with some more, as a build that fails takes a larger table */
		if (ckf_choose(&t, n + n / CKF_BUILD_MARGIN, like->w))
			low = n;
		else
			high = n - 1;
	}
	return low;
}

/*
 * An aggregate keeps few items as whole hashes, where a table is not smaller (FORMAT.md,
 * 7.9), and so must we, to give the same bytes.  A build that fails takes a larger
 * table, and so may come to hashes for a few items more than the table's size tells:
 * an eighth and some slots are for that.  We may keep them for more items than an
 * aggregate, but not for fewer.
 */
static bool
ckf_may_stay_hashes(const ckf_filter *exact, uint64_t items)
{
	ckf_filter t = *exact;

	t.w = (uint8_t)ckf_promised_bits(exact);
	return !ckf_choose(&t, items + items / 8 + 16, CKF_MAX_PREFIX) ||
		   ckf_table_size(t.g, t.m, t.bucket_bits) + CKF_HASHES_BONUS >=
			   CKF_HEADER_SIZE + 8 * items;
}

static uint32_t
ckf_most_whole(const ckf_filter *exact)
{
	uint32_t n = CKF_CHUNK_BODY / 8;

	while (!ckf_may_stay_hashes(exact, n))
		n--;
	return n;
}

/* A hash of what a chunk's bytes depend on, besides its row: so that no chunk is read as
 * what it is not. */
static uint64_t
ckf_check_of_table(const ckf_filter *like)
{
	uint8_t bytes[13] = {like->w, like->c, like->b, like->encoding, like->deduplicated};

	ckf_store64(bytes + 5, like->seed);
	return ckf_hash_bytes(CKF_CLASS_BYTES, bytes, sizeof bytes, 0);
}

ckf_status
ckf_chunks_init(ckf_chunks *chunks, const ckf_params *params)
{
	uint8_t header[CKF_HEADER_SIZE];
	ckf_status status = ckf_create(params, header);

	if (status == CKF_OK)
		status = ckf_open(&chunks->exact, header, sizeof header, CKF_STORED);
	if (status != CKF_OK)
		return status;
	chunks->exact.bytes = chunks->exact.body = NULL;
	chunks->exact.operations = &ckf_fed_operations;
	chunks->like = chunks->exact;
	chunks->like.w = (uint8_t)ckf_chunk_precision(&chunks->exact);
	chunks->like.encoding = chunks->like.b == 4 && !params->plain ? CKF_SEMI_SORTED : CKF_PLAIN;
	chunks->check = ckf_check_of_table(&chunks->like);
	chunks->most_whole = ckf_most_whole(&chunks->exact);
	chunks->max_count = ckf_most_copies_of(&chunks->like);
	chunks->page_room = chunks->row_room = chunks->page_slack = 0;
	return CKF_OK;
}

double
ckf_chunks_fpr(const ckf_chunks *chunks, uint64_t count)
{
	return count <= chunks->most_whole ? (double)count / ckf_power_of_two(64)
									   : ckf_expected_rate(count, chunks->like.w, chunks->like.c);
}

int64_t
ckf_chunks_capacity(const ckf_chunks *chunks)
{
	return ckf_kept_items(&chunks->like);
}
