/*
 * batch.c - cuckoofilter_add_agg(filter, item): add all items to the first filter of the group that
 * is not NULL.
 *
 * A collector gathers the hashes of the items.  At the end they are added in one rebuild, at the
 * filter's own precision.  The filter, and with it the seed of the hashes, may not be in the first
 * row.  The items of the rows before it are stored as values until then.
 */
#include "function.h"

#include "../argument.h"
#include "../error.h"
#include "../owned.h"

#define CKFS_FIRST_ROOM 64

typedef struct ckfs_add_agg
{
	ckf_filter filter;        /* owned; no bytes: no row had a filter yet */
	ckf_collector *collector; /* not NULL if there is a filter */
	uint64_t items;           /* that were added to the collector */
	sqlite3_value **early;    /* the items of the rows before the filter */
	size_t early_count, early_room;
} ckfs_add_agg;

/* Add an item, which is not NULL, to the collector. */
static bool
ckfs_batch_item(sqlite3_context *ctx, ckfs_add_agg *batch, sqlite3_value *value)
{
	ckfs_host host = ckfs_host_of(ctx);
	ckfs_hashed item;

	if (!ckfs_hash_item(ctx, &value, batch->filter.seed, &item) || !ckfs_is_addable(ctx, &item) ||
		!ckf_host_collect(&host.host, batch->collector, item.hash, item.item_class))
		return false;
	(void)ckfs_may_hold(ctx, &batch->filter, item.item_class); /* an unlikely class is logged */
	batch->items++;
	return true;
}

/* Store an item until there is a filter. */
static void
ckfs_keep_item(sqlite3_context *ctx, ckfs_add_agg *batch, sqlite3_value *value)
{
	size_t room = batch->early_room > 0 ? 2 * batch->early_room : CKFS_FIRST_ROOM;
	sqlite3_value **early = batch->early;

	if (batch->early_count == batch->early_room)
	{
		early = sqlite3_realloc64(early, room * sizeof(sqlite3_value *));
		if (early)
		{
			batch->early = early;
			batch->early_room = room;
		}
	}
	if (early && (early[batch->early_count] = sqlite3_value_dup(value)) != NULL)
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
	ckfs_host host = ckfs_host_of(ctx);
	size_t i;

	if (!filter || !ckf_host_copy(&host.host, filter, 0, &batch->filter))
		return false;
	batch->collector = ckfs_allocate(ctx, NULL, sizeof(ckf_collector));
	if (!batch->collector)
	{
		ckfs_discard(&batch->filter);
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
	ckfs_add_agg *batch = ckfs_aggregate_state(ctx, sizeof(ckfs_add_agg));

	(void)argc;
	if (!batch ||
		(!batch->filter.bytes && sqlite3_value_type(argv[0]) != SQLITE_NULL &&
		 !ckfs_take_filter(ctx, batch, argv[0])) ||
		sqlite3_value_type(argv[1]) == SQLITE_NULL)
		return;
	if (batch->filter.bytes)
		(void)ckfs_batch_item(ctx, batch, argv[1]);
	else
		ckfs_keep_item(ctx, batch, argv[1]);
}

/* The filter with the items so far; NULL if no row had a filter: an empty one could replace a
 * stored filter.  The state stays valid. */
void
ckfs_batch_value(sqlite3_context *ctx)
{
	const ckfs_add_agg *batch = sqlite3_aggregate_context(ctx, 0);
	ckfs_host host = ckfs_host_of(ctx);
	ckf_filter owned;

	if (batch && batch->filter.bytes && ckf_host_settle(&host.host, batch->collector) &&
		ckf_host_add_collected(&host.host, &batch->filter, batch->collector, batch->items, &owned))
		ckfs_result(ctx, &owned);
}

void
ckfs_batch_final(sqlite3_context *ctx)
{
	ckfs_add_agg *batch = sqlite3_aggregate_context(ctx, 0);
	ckfs_host host = ckfs_host_of(ctx);

	ckfs_batch_value(ctx);
	if (!batch)
		return;
	ckfs_discard(&batch->filter);
	if (batch->collector)
		ckf_host_collect_end(&host.host, batch->collector);
	sqlite3_free(batch->collector);
	batch->collector = NULL;
	ckfs_free_early(batch);
}
