/*
 * rebuild.c - read filters, or a filter and a batch of hashes, in order, and build another
 * filter.  Every operation that moves or merges items is a rebuild.
 *
 * A rebuild has phases (work.h).  If the number of items decides what is built, the first
 * pass counts them.  The next pass stores them in the target.  If the target cannot place
 * them, the build begins again with a larger target.
 */
#include "filter/header.h"
#include "filter/methods.h"
#include "rebuild/work.h"
#include "thresholds.h"

/* Bytes that are cleared or copied in the time that one item takes. */
#define CKF_BYTES_OF_AN_ITEM 64

/* An estimate of items is so much higher than their share in the sample, so that it is seldom too
 * low: for two inputs, that is 8 standard deviations of the least sample. */
#define CKF_SAMPLE_MARGIN (1 + 1.0 / 64)

#define CKF_BYTES_OF_REBUILD(inputs) (sizeof(ckf_rebuild) + (2 * (inputs)-1) * sizeof(ckf_scan))

_Static_assert(CKF_BYTES_OF_REBUILD(1) <= CKF_REBUILD_SIZE(1) &&
				   2 * sizeof(ckf_scan) <= CKF_REBUILD_SIZE(1) - CKF_REBUILD_SIZE(0),
			   "ckf_rebuild is too small");

/* ----------------------------------------------------------------- memory */

/*
 * Hashes for which growth leaves spare room: 50 % of the items.  A filter of fewer than
 * CKF_MAX_HASHES hashes gets room for at most CKF_MAX_HASHES, because room above this
 * number means that no table could be built (sorted_hashes.c).
 */
static uint64_t
ckf_spare_hashes(uint64_t items)
{
	uint64_t half = items / 2 + 16;

	if (items < CKF_MAX_HASHES && half > CKF_MAX_HASHES - items)
		return CKF_MAX_HASHES - items;
	return half;
}

/* Request the memory for the next pass from the host.  CKF_PRECISION: it exceeds the address space.
 */
static ckf_status
ckf_request_memory(ckf_rebuild *r)
{
	uint64_t words = 0;
	uint64_t size = 0;
	unsigned i;

	for (i = 0; i < r->all_scans; i++)
		words += r->scan[i].words;
	r->scan_words = words;
	if (r->copies_input)
		size = r->in[0]->size;
	else if (!r->counts)
	{
		const ckf_sink *sink = r->to.methods->sink;
		uint64_t spare = r->row->grows ? ckf_spare_hashes(r->items) : 0;

		words += sink->scratch ? sink->scratch(&r->to) : 0;
		size = sink->size(&r->to, r->items + spare);
		if (size == 0)
			return CKF_PRECISION;
	}
	if (words > SIZE_MAX / 16)
		return CKF_PRECISION;
	r->dst_size = (size_t)size;
	if (8 * words + 8 > r->scratch_size) /* never 0, and never less than before */
		r->scratch_size = (size_t)(8 * words + 8);
	r->phase = CKF_START;
	return CKF_OK;
}

/* ------------------------------------------------------------------ start */

/* The rebuild continues unless there was an error. */
static ckf_status
ckf_going_on(ckf_status status)
{
	return status == CKF_OK ? CKF_MORE : status;
}

/* Choose the target for the number of items, and request the memory for it.  Or count the items
 * again, if the parameters of an export were relaxed. */
static ckf_status
ckf_choose_target(ckf_rebuild *r)
{
	ckf_status status = ckf_target_choose(r);

	r->counts = status == CKF_MORE;
	return status == CKF_OK || r->counts ? ckf_request_memory(r) : status;
}

ckf_status
ckf_rebuild_start_many(ckf_rebuild *r, ckf_operation operation, const ckf_filter *const *in,
					   unsigned inputs)
{
	ckf_status status;
	unsigned i;

	memset(r, 0, sizeof *r); /* each scan initializes its own struct */
	r->row = ckf_operation_of(operation);
	for (i = 0; i < inputs; i++)
		r->in[i] = in[i];
	r->inputs = inputs;
	if (r->row->removes && (in[0]->flags & CKF_FLAG_SET))
		return CKF_IS_SET;
	status = ckf_target_start(r, operation);
	if (status != CKF_OK)
		return status;
	ckf_scan_inputs(r);
	for (i = 0; i < (r->row->removes ? 1 : inputs); i++)
		r->items += ckf_items(in[i]);
	r->counts = ckf_target_counts(r);
	r->samples = r->row->counts == CKF_COUNT_SAMPLE && !ckf_is_whole(r);
	return r->counts ? ckf_request_memory(r) : ckf_choose_target(r);
}

ckf_status
ckf_rebuild_start(ckf_rebuild *r, ckf_operation operation, const ckf_filter *a, const ckf_filter *b)
{
	const ckf_filter *in[2] = {a, b};

	return ckf_rebuild_start_many(r, operation, in, b ? 2 : 1);
}

/* ----------------------------------------------------------------- phases */

/* The functions of the phases return CKF_OK when the phase is complete, else CKF_MORE. */
static void
ckf_start_pass(ckf_rebuild *r)
{
	const ckf_sink *sink = r->to.methods->sink;

	ckf_pass_start(r);
	r->phase = r->counts ? CKF_COUNT : CKF_BUILD;
	if (r->counts)
		return;
	ckf_move(&r->to, r->dst);
	memset(&r->build, 0, sizeof r->build);
	r->build.t = &r->to;
	if (sink->start)
		sink->start(&r->build, (uint64_t *)r->scratch + r->scan_words);
}

/* Clear the next piece of the target, or copy it from the first input. */
static ckf_status
ckf_write_piece(ckf_rebuild *r)
{
	uint64_t most = (uint64_t)CKF_STEP * CKF_BYTES_OF_AN_ITEM;
	uint64_t left = r->dst_size - r->done;
	size_t piece = (size_t)(left < most ? left : most);
	uint8_t *to = (uint8_t *)r->dst + r->done;

	if (r->phase == CKF_CLEAR)
		memset(to, 0, piece);
	else
		memcpy(to, r->in[0]->bytes + r->done, piece);
	r->work += piece / CKF_BYTES_OF_AN_ITEM + 1;
	r->done += piece;
	return r->done == r->dst_size ? CKF_OK : CKF_MORE;
}

/* The target is filled. */
static void
ckf_finish(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	const ckf_sink *sink = to->methods->sink;

	to->count = r->build.stored;
	to->size = (size_t)sink->size(to, to->count);
	if (sink->end)
		sink->end(&r->build);
	if (to->count == 0)
		to->item_classes = 0;
	if (!r->row->merges) /* a result, and no state of an aggregate */
		to->format = CKF_FORMAT_VERSION;
	ckf_settle_format(to);
	ckf_write_header(to);
	/* if no removal found its hash, the header stays as it was, with its version */
	if (r->row->removes && to->count == r->in[0]->count)
		memcpy(to->bytes, r->in[0]->bytes, CKF_HEADER_SIZE);
}

/* Estimate the number of all items from that of the sample, with a margin.  If it turns out to be
 * too low, all items are counted (target.c). */
static void
ckf_estimate(ckf_rebuild *r)
{
	uint64_t all = r->root ? r->root->items : 0;
	double estimate;

	r->samples = r->read < all;
	if (!r->samples)
		return; /* all have been counted */
	estimate = (double)r->items * (double)all / (double)r->read * CKF_SAMPLE_MARGIN;
	r->items = estimate < (double)all ? (uint64_t)estimate : all;
}

/* All items, or those of the sample, are counted. */
static ckf_status
ckf_counted(ckf_rebuild *r)
{
	if (r->samples)
		ckf_estimate(r);
	if (r->row->distinct)
		r->items = r->passed;
	if (r->row->only_counts)
	{
		r->to.size = 0;
		return CKF_OK;
	}
	return ckf_going_on(ckf_choose_target(r));
}

/* All items are stored. */
static ckf_status
ckf_built(ckf_rebuild *r)
{
	if (!r->row->distinct || r->passed == r->items)
	{
		ckf_finish(r);
		return CKF_OK;
	}
	/* the target was chosen for distinct items, but some are equal: choose again, since their
	 * number is known now */
	r->items = r->passed;
	return ckf_going_on(ckf_choose_target(r));
}

/* Begin the phase after a complete one.  CKF_OK: the rebuild is complete. */
static ckf_status
ckf_next(ckf_rebuild *r)
{
	switch (r->phase)
	{
		case CKF_START:
			r->done = 0;
			if (r->copies_input)
				r->phase = CKF_COPY;
			else if (!r->counts && r->to.methods->sink->cleared)
				r->phase = CKF_CLEAR;
			else
				ckf_start_pass(r);
			return CKF_MORE;
		case CKF_CLEAR:
			ckf_start_pass(r);
			return CKF_MORE;
		case CKF_COUNT:
			return ckf_counted(r);
		case CKF_BUILD:
			return ckf_built(r);
		case CKF_COPY:
			r->to = *r->in[0];
			ckf_move(&r->to, r->dst);
			if (!r->row->removes)
			{
				ckf_settle_format(&r->to); /* a compaction writes the current version */
				ckf_write_header(&r->to);
			}
			if (r->removals)
				ckf_scan_rewind(r->removals, 0);
			r->phase = CKF_REMOVE;
			return CKF_MORE;
		default:
			return CKF_OK;
	}
}

static ckf_status
ckf_phase_step(ckf_rebuild *r)
{
	ckf_status status = CKF_OK;

	switch (r->phase)
	{
		case CKF_START:
			break;
		case CKF_CLEAR:
		case CKF_COPY:
			status = ckf_write_piece(r);
			break;
		case CKF_REMOVE:
			status = ckf_pass_removals(r);
			break;
		default:
			status = ckf_pass_piece(r);
	}
	if (status == CKF_OK)
		return ckf_next(r);
	if (status != CKF_ROOM)
		return status;
	status = ckf_target_enlarge(r);
	r->counts = status == CKF_MORE;
	if (status != CKF_OK && !r->counts)
		return status;
	return ckf_going_on(ckf_request_memory(r));
}

/* ------------------------------------------------------------------- step */

/* Whether the host's buffers are large enough.  A buffer that was replaced restarts the phase. */
static bool
ckf_has_buffers(ckf_rebuild *r, ckf_buffers *buffers)
{
	bool scratch = buffers->scratch_room >= r->scratch_size && buffers->scratch != NULL;
	bool dst = buffers->dst_room >= r->dst_size && (buffers->dst != NULL || r->dst_size == 0);

	buffers->dst_size = r->dst_size;
	buffers->scratch_size = r->scratch_size;
	if (scratch && buffers->scratch != r->scratch)
	{
		r->scratch = buffers->scratch;
		ckf_place_scans(r, r->scratch);
		r->phase = CKF_START;
	}
	if (dst && buffers->dst != r->dst)
	{
		r->dst = buffers->dst;
		if (r->phase != CKF_COUNT)
			r->phase = CKF_START;
	}
	if (!scratch)
		r->scratch = NULL;
	if (!dst)
		r->dst = NULL;
	r->to.room = buffers->dst_room;
	return scratch && dst;
}

ckf_status
ckf_rebuild_step(ckf_rebuild *r, ckf_buffers *buffers)
{
	ckf_status status = CKF_MORE;

	r->work = 0;
	while (status == CKF_MORE && r->work < CKF_STEP)
	{
		if (!ckf_has_buffers(r, buffers))
			return CKF_ROOM;
		if (r->scans > 0 && r->scan[0].wants)
			return CKF_FEED;
		status = ckf_phase_step(r);
	}
	if (status == CKF_OK)
		buffers->dst_size = r->to.size;
	return status;
}
