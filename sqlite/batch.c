/*
 * batch.c - cuckoofilter_add_agg(filter, item): add all items to the first filter of the group that
 * is not NULL.
 *
 * A collector gathers the hashes of the items.  At the end they are added in one rebuild, at the
 * filter's own precision.  The filter, and with it the seed of the hashes, may not be in the first
 * row.  The items of the rows before it are stored as values until then.
 */
#include "batch.h"

#include "argument.h"
#include "collect.h"
#include "error.h"
#include "owned.h"

#define CKFS_FIRST_ROOM 64

typedef struct ckfs_add_agg
{
	bool has_rows;
	ckf_filter filter;        /* owned; no bytes: no row had a filter yet */
	ckf_collector *collector; /* not NULL if there is a filter */
	uint64_t items;           /* that were added to the collector */
	sqlite3_value **early;    /* the items of the rows before the filter */
	size_t early_count, early_room;
} ckfs_add_agg;

/* Make room for one more element of an array. false, with an error: out of memory. */
static bool
ckfs_make_room_for_one(sqlite3_context *ctx, void **array, size_t count, size_t *room, size_t size)
{
	size_t larger = *room > 0 ? *room * 2 : CKFS_FIRST_ROOM;
	void *grown;

	if (count < *room)
		return true;
	grown = sqlite3_realloc64(*array, larger * size);
	if (!grown)
	{
		sqlite3_result_error_nomem(ctx);
		return false;
	}
	*array = grown;
	*room = larger;
	return true;
}

/* Add an item, which is not NULL, to the collector. */
static bool
ckfs_batch_item(sqlite3_context *ctx, ckfs_add_agg *batch, sqlite3_value *value)
{
	ckfs_hashed item;

	if (!ckfs_hash_item(ctx, &value, batch->filter.seed, &item) ||
		!ckfs_collect(ctx, batch->collector, item))
		return false;
	(void)ckfs_may_hold(ctx, &batch->filter, item.item_class); /* an unlikely class is logged */
	batch->items++;
	return true;
}

/* Store an item until there is a filter. */
static void
ckfs_keep_item(sqlite3_context *ctx, ckfs_add_agg *batch, sqlite3_value *value)
{
	void *array = batch->early;

	if (!ckfs_make_room_for_one(ctx, &array, batch->early_count, &batch->early_room,
								sizeof(sqlite3_value *)))
		return;
	batch->early = array;
	batch->early[batch->early_count] = sqlite3_value_dup(value);
	if (batch->early[batch->early_count])
		batch->early_count++;
	else
		sqlite3_result_error_nomem(ctx);
}

static void
ckfs_free_early(ckfs_add_agg *batch)
{
	while (batch->early_count > 0)
		sqlite3_value_free(batch->early[--batch->early_count]);
	sqlite3_free(batch->early);
	batch->early = NULL;
}

/* Copy the filter, and collect the items of the rows before it. */
static bool
ckfs_take_filter(sqlite3_context *ctx, ckfs_add_agg *batch, sqlite3_value *value)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter(ctx, value, CKF_STORED, &local);
	size_t i;

	if (!filter || !ckfs_copy(ctx, filter, 0, &batch->filter))
		return false;
	batch->collector = sqlite3_malloc64(sizeof(ckf_collector));
	if (!batch->collector)
	{
		ckfs_discard(&batch->filter);
		sqlite3_result_error_nomem(ctx);
		return false;
	}
	ckf_collect_start(batch->collector, &batch->filter, CKF_MOST_COPIES);
	for (i = 0; i < batch->early_count; i++)
		if (!ckfs_batch_item(ctx, batch, batch->early[i]))
			return false;
	ckfs_free_early(batch);
	return true;
}

/* cuckoofilter_add_agg(filter, item) */
void
ckfs_batch_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckfs_add_agg *batch = sqlite3_aggregate_context(ctx, sizeof(ckfs_add_agg));

	(void)argc;
	if (!batch)
	{
		sqlite3_result_error_nomem(ctx);
		return;
	}
	batch->has_rows = true;
	if (!batch->filter.bytes && sqlite3_value_type(argv[0]) != SQLITE_NULL &&
		!ckfs_take_filter(ctx, batch, argv[0]))
		return;
	if (sqlite3_value_type(argv[1]) == SQLITE_NULL)
		return;
	if (batch->filter.bytes)
		(void)ckfs_batch_item(ctx, batch, argv[1]);
	else
		ckfs_keep_item(ctx, batch, argv[1]);
}

/* The filter with the items so far; NULL if no row had a filter.  The state stays valid. */
void
ckfs_batch_value(sqlite3_context *ctx)
{
	const ckfs_add_agg *batch = sqlite3_aggregate_context(ctx, 0);
	ckf_filter owned;

	if (!batch || !batch->has_rows)
		ckfs_result_no_rows(ctx);
	else if (batch->filter.bytes && ckfs_collect_settle(ctx, batch->collector) &&
			 ckfs_add_collected(ctx, &batch->filter, batch->collector, batch->items, &owned))
		ckfs_result(ctx, &owned);
}

void
ckfs_batch_final(sqlite3_context *ctx)
{
	ckfs_add_agg *batch = sqlite3_aggregate_context(ctx, 0);

	ckfs_batch_value(ctx);
	if (!batch)
		return;
	ckfs_discard(&batch->filter);
	if (batch->collector)
		ckfs_collect_end(batch->collector);
	sqlite3_free(batch->collector);
	batch->collector = NULL;
	ckfs_free_early(batch);
}
