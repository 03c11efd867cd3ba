/*
 * state.c - see state.h.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

enum
{
	MOST_ROOMS = 100000 /* steps of a collector to make room once */
};

static ckf_status
count_collect_step(ckf_collector *c)
{
	uint64_t edges = driven.edges;
	ckf_status status = ckf_collect_step(c);

	driven.steps++;
	if (driven.edges - edges > driven.longest)
		driven.longest = driven.edges - edges;
	return status;
}

ckf_status
collector_make_room(ckf_collector *c)
{
	ckf_status status;
	void *block;

	for (unsigned steps = 0; (status = count_collect_step(c)) != CKF_OK; steps++)
	{
		CHECK(steps < MOST_ROOMS, "a collector does not end");
		if (status == CKF_ROOM)
		{
			size_t size = c->block_size + (check_chance(20) ? 8 * check_below(100) : 0);

			ckf_collect_give(c, guard_new(size, 8), size);
		}
		else if (status != CKF_MORE)
			break;
	}
	while ((block = ckf_collect_spent(c)) != NULL)
		guard_free(block);
	return status;
}

ckf_collector *
collector_new(const ckf_filter *promise, unsigned most)
{
	ckf_collector *c = guard_new(sizeof *c, 8);

	ckf_collect_start(c, promise, most);
	return c;
}

void
collector_take(ckf_collector *c, const uint64_t *hashes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		while (!ckf_collect(c, hashes[i], class_of_hash(hashes[i])))
			CHECK(collector_make_room(c) == CKF_OK, "make room");
}

void
collector_settle(ckf_collector *c)
{
	ckf_collect_settle(c);
	CHECK(collector_make_room(c) == CKF_OK, "settle");
}

void
collector_free(ckf_collector *c)
{
	void *block;

	ckf_collect_end(c);
	while ((block = ckf_collect_spent(c)) != NULL)
		guard_free(block);
	guard_free(c);
}

static struct large *
large_of(owned *state)
{
	if (state->large == NULL)
	{
		state->large = check_alloc(sizeof *state->large);
		memset(state->large, 0, sizeof *state->large);
	}
	return state->large;
}

static void
free_spent(ckf_merger *merger)
{
	uint8_t *bytes;

	while ((bytes = ckf_merger_spent(merger)) != NULL)
		guard_free(bytes);
}

static void
large_free(struct large *large)
{
	if (large->collector != NULL)
		collector_free(large->collector);
	ckf_merger_end(&large->merger);
	free_spent(&large->merger);
	free(large);
}

/* Copy a filter in whole hashes into the collector. */
static void
take_filter(ckf_collector *c, const ckf_filter *in)
{
	CHECK(collector_make_room(c) == CKF_OK, "make room");
	CHECK(ckf_collect_filter(c, in) == CKF_OK, "collect a filter");
	CHECK(collector_make_room(c) == CKF_OK, "take a filter");
}

void
state_outgrow(owned *state)
{
	struct large *large = large_of(state);

	ckf_merger_start(&large->merger, CKF_MERGE_SUM);
	large->collector = collector_new(&state->filter, 1);
	take_filter(large->collector, &state->filter);
}

unsigned
state_inputs(const owned *o, const ckf_filter **in)
{
	const struct large *large = o->large;

	if (large == NULL || (large->collector == NULL && large->merger.parts == 0))
	{
		in[0] = &o->filter;
		return 1;
	}
	if (large->collector != NULL)
	{
		collector_settle(large->collector);
		in[0] = &large->collector->filter;
		return 1;
	}
	return ckf_merger_parts(&large->merger, in);
}

void
owned_free(owned *o)
{
	if (o->large != NULL)
		large_free(o->large);
	o->large = NULL;
	guard_free(o->bytes);
	o->bytes = NULL;
}

/* ------------------------------------------------------------------ merges */

/* Run the rebuild that a merger asks for, in guarded memory. */
static void
run_task(ckf_merger *merger, ckf_filter *result)
{
	ckf_buffers buffers = {0};
	ckf_status status;

	if (merger->room > 0)
	{
		buffers.dst_room = merger->room;
		buffers.dst = guard_new(merger->room, 1);
	}
	status = rebuild_many(&buffers, merger->task, merger->in, merger->inputs);
	CHECK(status == CKF_OK, "merge parts: status %d", status);
	CHECK(ckf_open(result, buffers.dst, buffers.dst_size, CKF_FOREIGN) == CKF_OK, "open a part");
	result->room = buffers.dst_room;
}

/* Do what a merger asks for. */
static ckf_status
serve(ckf_merger *merger, ckf_status status)
{
	while (status == CKF_MORE)
	{
		ckf_filter result;

		run_task(merger, &result);
		status = ckf_merger_give(merger, &result);
		free_spent(merger);
	}
	return status;
}

static ckf_status
add_part(struct large *large, const ckf_filter *in)
{
	ckf_status status = serve(&large->merger, ckf_merger_take(&large->merger, in));

	CHECK(status == CKF_OK || status == CKF_SEED_DIFFERS, "take: status %d", status);
	return status;
}

/* --------------------------------------------------------------- by all roads */

/* Replace a state by a merge of it, with `in` if that is not NULL. */
static ckf_status
owned_merge(owned *state, ckf_operation operation, const owned *in)
{
	owned merged;
	ckf_status status = run_rebuild(&merged, operation, state, in);

	if (status != CKF_OK)
		return status;
	owned_free(state);
	owned_open(state, merged.bytes, merged.filter.size, CKF_STATE);
	owned_free(&merged);
	return CKF_OK;
}

static ckf_status
collect_items(owned *state, const owned *in)
{
	const ckf_filter *from[CKF_MOST_INPUTS];
	ckf_status status;

	(void)state_inputs(in, from);
	if (state->filter.encoding != CKF_HASHES || from[0]->encoding != CKF_HASHES)
		return owned_merge(state, CKF_MERGE_UNION, in);
	if (in->large != NULL)
	{
		owned flat;

		owned_copy(&flat, in);
		status = collect_items(state, &flat);
		owned_free(&flat);
		return status;
	}
	if (state->large == NULL && check_chance(50))
	{
		status = ckf_merge_few(&state->filter, from[0], CKF_FINISH);
		if (status == CKF_OK)
			state->item_classes |= in->item_classes;
		if (status != CKF_ROOM)
			return status;
	}
	if (state->large == NULL)
		state_outgrow(state);
	CHECK(collector_make_room(state->large->collector) == CKF_OK, "make room");
	status = ckf_collect_filter(state->large->collector, from[0]);
	if (status == CKF_OK)
		status = collector_make_room(state->large->collector);
	return status;
}

/* Is it a state to which nothing was added?  One that was sent has taken in a filter, even if its
 * promise is that of a new state: it may have another layout or bucket size. */
static bool
is_new(const owned *o)
{
	return o->state && o->fresh && !filter_is_set(&o->filter) && o->filter.count == 0 &&
		   o->filter.capacity == 1 && o->filter.fpr == CKF_DEFAULT_FPR && o->filter.seed == 0;
}

ckf_status
owned_collect(owned *state, const owned *in, ckf_operation operation)
{
	const ckf_filter *from[CKF_MOST_INPUTS];
	ckf_status status = CKF_OK;
	unsigned n, i;

	if (operation == CKF_FINISH)
		return collect_items(state, in);
	if (state->large == NULL)
	{
		struct large *large = large_of(state);

		ckf_merger_start(&large->merger, operation);
		if (!is_new(state)) /* a filter that stands for a state */
			status = add_part(large, &state->filter);
	}
	if (in->large == NULL && is_new(in))
		return CKF_OK;
	n = state_inputs(in, from);
	for (i = 0; i < n && status == CKF_OK; i++)
		status = add_part(state->large, from[i]);
	if (status == CKF_OK)
		state->item_classes |= in->item_classes;
	return status;
}

ckf_status
owned_send(owned *state)
{
	ckf_merger *merger = state->large ? &state->large->merger : NULL;
	owned sent;

	if (!merger || merger->parts == 0)
		return owned_merge(state, merger ? merger->operation : CKF_MERGE_SUM, NULL);
	CHECK(serve(merger, ckf_merger_merge_all(merger)) == CKF_OK, "merge all");
	owned_open(&sent, merger->part[0].bytes, merger->part[0].size, CKF_STATE);
	owned_free(state);
	*state = sent;
	return CKF_OK;
}
