/*
 * parameters.c - what all chunks of a table share.
 */
#include "chunk/chunk.h"
#include "open/choose.h"
#include "filter/methods.h"
#include "thresholds.h"

/* The bits of a prefix that keep the target rate at the filter's capacity. */
static unsigned
ckf_least_bits(const ckf_filter *t)
{
	return ckf_prefix_bits((double)t->capacity, t->fpr, t->c);
}

/*
 * The precision of chunks.  It is the precision that ckf_create gives, or more: at rates near 1
 * tags are short, and an export may need longer prefixes (FORMAT.md, 7.10), which chunks cannot
 * give later.  So w is large enough that tags are long when the table has `capacity` items.
 */
static unsigned
ckf_chunk_precision(const ckf_filter *exact)
{
	ckf_filter t = *exact;
	unsigned w;

	for (w = ckf_least_bits(exact); w < CKF_MAX_PREFIX; w++)
	{
		t.w = (uint8_t)w;
		if (ckf_choose(&t, (uint64_t)exact->capacity, w) && t.f > CKF_SHORT_TAG)
			break;
	}
	return w;
}

/*
 * An aggregate keeps whole hashes as long as a table is not smaller (FORMAT.md, 7.9).  An
 * export must have the same bytes as an aggregate, so chunks keep whole hashes for at least as
 * many items; more do no harm.  A build that fails is repeated with a larger table, which may
 * be larger than the hashes: the additional eighth and the slots allow for that.
 */
static bool
ckf_may_stay_hashes(const ckf_filter *exact, uint64_t items)
{
	ckf_filter t = *exact;

	t.w = (uint8_t)ckf_least_bits(exact);
	return !ckf_choose(&t, items + items / 8 + 16, CKF_MAX_PREFIX) ||
		   ckf_table_size(&t) + CKF_HASHES_BONUS >= CKF_HEADER_SIZE + 8 * items;
}

static uint32_t
ckf_most_whole(const ckf_filter *exact)
{
	uint32_t n = CKF_CHUNK_BODY / 8;

	while (!ckf_may_stay_hashes(exact, n))
		n--;
	return n;
}

/* A hash of the parameters that a chunk's bytes depend on.  The check of a chunk includes it,
 * so a chunk of a table with other parameters does not open. */
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
	chunks->exact.methods = &ckf_fed_methods;
	chunks->like = chunks->exact;
	chunks->like.w = (uint8_t)ckf_chunk_precision(&chunks->exact);
	chunks->like.encoding = chunks->like.b == 4 && !params->plain ? CKF_SEMI_SORTED : CKF_PLAIN;
	chunks->check = ckf_check_of_table(&chunks->like);
	chunks->most_whole = ckf_most_whole(&chunks->exact);
	chunks->max_count = ckf_most_copies(&chunks->like);
	chunks->limit = CKF_CHUNK_LIMIT;
	chunks->page_room = chunks->row_room = chunks->page_slack = 0;
	return CKF_OK;
}

double
ckf_chunks_fpr(const ckf_chunks *chunks, uint64_t count)
{
	return ckf_expected_rate(count, count <= chunks->most_whole ? chunks->exact.w : chunks->like.w,
							 chunks->like.c);
}

int64_t
ckf_chunks_capacity(const ckf_chunks *chunks)
{
	return ckf_kept_items(&chunks->like);
}
