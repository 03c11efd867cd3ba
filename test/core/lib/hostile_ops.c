/*
 * hostile_ops.c - see hostile.h.
 */
#include "hostile.h"
#include "state.h"

#include <string.h>

enum
{
	ADDS = 24,
	MOST_STEPS = 10000,
	REBUILD_PERCENT = 40, /* the share of the possible rebuilds that are tried */
	HASHES = 40
};

/* Hashes at the edges: the ends of the table, and empty tags. */
static uint64_t
some_hash(unsigned i)
{
	static const uint64_t corners[] = {
		0, UINT64_MAX, 1, UINT64_C(1) << 63, UINT64_MAX >> 1, UINT64_C(0x9e3779b97f4a7c15)};

	return i < sizeof corners / sizeof *corners ? corners[i] : check_random();
}

/* Look up by steps, as a host does that reads only parts of the bytes. */
static void
ask_parts(const ckf_filter *filter, uint64_t hash)
{
	ckf_lookup_cursor lookup;
	ckf_status status = ckf_lookup_start(&lookup, filter, hash, check_chance(50));
	unsigned steps = 0;

	while (status == CKF_MORE)
	{
		CHECK(steps++ < MOST_STEPS, "a lookup does not end");
		CHECK(lookup.from <= filter->size && lookup.size <= filter->size - lookup.from,
			  "a lookup asks for bytes outside");
		status = ckf_lookup_step(&lookup, filter, filter->bytes + lookup.from, lookup.size);
	}
	CHECK(status == CKF_OK, "status %d", status);
}

static void
read_all(const ckf_filter *filter)
{
	uint64_t hashes[40];
	uint8_t answers[40];
	ckf_info info;
	size_t in = 0;

	for (unsigned i = 0; i < 40; i++)
	{
		hashes[i] = some_hash(i);
		in += ckf_contains(filter, hashes[i]);
		(void)ckf_copies(filter, hashes[i]);
		ask_parts(filter, hashes[i]);
	}
	CHECK(ckf_contains_many(filter, hashes, 40, answers) == in, "batched answers differ");
	for (unsigned i = 0; i < 40; i++)
		CHECK(answers[i] == ckf_contains(filter, hashes[i]), "a batched answer differs");
	ckf_get_info(filter, &info);
	CHECK(info.encoding != NULL && info.layout != NULL && info.kind != NULL, "info");
	CHECK(info.fpr >= 0 && info.fpr <= 1 && ckf_fpr(filter) == info.fpr, "a rate of %g", info.fpr);
}

/* Step until the rebuild ends, with any status. */
static ckf_status
any_steps(ckf_rebuild *rebuild, ckf_buffers *buffers)
{
	for (unsigned steps = 0; steps < MOST_STEPS; steps++)
	{
		ckf_status status = ckf_rebuild_step(rebuild, buffers);

		if (status != CKF_ROOM && status != CKF_MORE)
			return status;
		if (buffers->dst_size > HOSTILE_LIMIT || buffers->scratch_size > HOSTILE_LIMIT)
			return CKF_ROOM;
		if (status == CKF_ROOM)
			give_buffers(buffers);
	}
	CHECK(false, "a rebuild does not end");
	return CKF_OK;
}

/* A batch of hashes. */
static ckf_collector *
any_batch(const ckf_filter *a)
{
	ckf_collector *batch = collector_new(a, 16);
	uint64_t hashes[HASHES];

	for (unsigned i = 0; i < HASHES; i++)
		hashes[i] = some_hash(i);
	collector_take(batch, hashes, HASHES);
	collector_settle(batch);
	return batch;
}

/* A rebuild of inputs that may be damaged. */
static ckf_status
any_rebuild(owned *result, ckf_operation operation, const ckf_filter *a, const ckf_filter *b)
{
	ckf_collector *batch =
		operation == CKF_ADD_MANY || operation == CKF_REMOVE_MANY ? any_batch(a) : NULL;
	ckf_rebuild *rebuild = guard_new(CKF_REBUILD_SIZE(2), 8);
	ckf_buffers buffers = {0};
	ckf_status status = ckf_rebuild_start(rebuild, operation, a, batch ? &batch->filter : b);

	if (status == CKF_OK)
		status = any_steps(rebuild, &buffers);
	guard_free(rebuild);
	guard_free(buffers.scratch);
	if (batch)
		collector_free(batch);
	result->bytes = NULL;
	result->large = NULL;
	result->state = false;
	if (status == CKF_OK)
	{
		CHECK(buffers.dst_size <= buffers.dst_room, "a result of more bytes than asked for");
		CHECK(ckf_open(&result->filter, buffers.dst, buffers.dst_size, CKF_STORED) == CKF_OK,
			  "the result of a rebuild does not open");
		result->bytes = buffers.dst;
		result->filter.room = buffers.dst_room;
	}
	else
		guard_free(buffers.dst);
	return status;
}

static void
try_rebuild(ckf_operation operation, const ckf_filter *a, const ckf_filter *b)
{
	owned result;

	if (!check_chance(REBUILD_PERCENT) || any_rebuild(&result, operation, a, b) != CKF_OK)
		return;
	read_all(&result.filter);
	owned_free(&result);
}

/* To the end, as a host would check foreign bytes between interrupts; whether
 * they are sound. */
static bool
check_all(const ckf_filter *filter)
{
	ckf_check check = {0};
	ckf_status status = CKF_MORE;

	for (unsigned steps = 0; status == CKF_MORE; steps++)
	{
		CHECK(steps < MOST_STEPS, "a check does not end");
		status = ckf_check_step(filter, &check);
	}
	CHECK(status == CKF_OK || status == CKF_BAD_BYTES, "check: status %d", status);
	return status == CKF_OK;
}

/* Add, grow if there is no room, remove. */
static void
change(owned *o)
{
	for (unsigned i = 0; i < ADDS; i++)
	{
		uint64_t hash = some_hash(i);
		owned grown;
		bool found;

		if (ckf_add(&o->filter, hash, CKF_ITEM_HASH) == CKF_ROOM &&
			any_rebuild(&grown, CKF_GROW, &o->filter, NULL) == CKF_OK)
		{
			owned_free(o);
			*o = grown;
			(void)ckf_add(&o->filter, hash, CKF_ITEM_HASH);
		}
		if (i % 3 == 0)
			(void)ckf_remove(&o->filter, some_hash(i), &found);
	}
	read_all(&o->filter);
}

/* Into a collector, if it is in hashes; to the end or to a refusal. */
static void
collect(const ckf_filter *in)
{
	ckf_collector *c = collector_new(in, check_chance(50) ? 1 : 16);
	ckf_status status;

	for (uint64_t n = check_below(9); n > 0; n--)
		collector_take(c, (const uint64_t[]){check_random()}, 1);
	CHECK(collector_make_room(c) == CKF_OK, "make room");
	status = ckf_collect_filter(c, in);
	CHECK(status == CKF_OK, "collect: status %d", status);
	status = collector_make_room(c);
	CHECK(status == CKF_OK || status == CKF_BAD_BYTES, "make room: status %d", status);
	if (status == CKF_OK)
	{
		collector_settle(c);
		try_rebuild(CKF_FINISH, &c->filter, NULL);
		try_rebuild(CKF_MERGE_SUM, &c->filter, NULL);
	}
	collector_free(c);
}

/* As the state of an aggregate, which goes on in it, and ends. */
static void
use_state(const ckf_filter *in, const owned *other)
{
	static const ckf_operation merges[] = {CKF_MERGE_UNION, CKF_MERGE_SUM, CKF_FINISH_UNION,
										   CKF_FINISH_SUM};

	try_rebuild(CKF_FINISH, in, NULL);
	for (size_t i = 0; i < sizeof merges / sizeof *merges; i++)
	{
		size_t room = in->size + 8 * check_below(100);
		uint8_t *copy = guard_new(room, 1);
		ckf_filter filter;

		memcpy(copy, in->bytes, in->size);
		CHECK(ckf_open(&filter, copy, in->size, CKF_STATE) == CKF_OK, "open again");
		filter.room = room;
		(void)ckf_merge_few(&filter, &other->filter, merges[i % 2]);
		guard_free(copy);
		try_rebuild(merges[i], in, &other->filter);
		try_rebuild(merges[i], &other->filter, in);
		try_rebuild(merges[i], in, NULL);
	}
	if (in->encoding == CKF_HASHES)
		collect(in);
}

bool
hostile_try(const void *bytes, size_t size, ckf_trust trust, const owned *other)
{
	owned o;
	ckf_filter *filter = &o.filter;
	ckf_status status;

	o.bytes = guard_copy(bytes, size);
	o.state = trust == CKF_STATE;
	o.large = NULL;
	guard_read_only(o.bytes, true);
	status = ckf_open(filter, o.bytes, size, trust);
	if (status == CKF_OK)
	{
		bool sound = check_all(filter);

		read_all(filter);
		CHECK(sound || trust != CKF_FOREIGN, "foreign bytes that were not checked");
		try_rebuild(CKF_GROW, filter, NULL);
		try_rebuild(CKF_COMPACT, filter, NULL);
		try_rebuild(CKF_UNION, filter, &other->filter);
		try_rebuild(CKF_SUM, &other->filter, filter);
		try_rebuild(CKF_SUM, filter, filter);
		try_rebuild(CKF_ADD_MANY, filter, NULL);
		try_rebuild(CKF_REMOVE_MANY, filter, NULL);
		if (check_chance(REBUILD_PERCENT))
			use_state(filter, other);
		guard_read_only(o.bytes, false);
		change(&o);
	}
	else
	{
		CHECK(status == CKF_BAD_BYTES || status == CKF_BAD_VERSION ||
				  (status == CKF_UNFINISHED && trust != CKF_FOREIGN),
			  "open: status %d", status);
		guard_read_only(o.bytes, false);
	}
	owned_free(&o);
	return status == CKF_OK;
}
