/*
 * aggregate.c - cuckoofilter_agg, _agg_pair and _agg_hash.  They are window functions, too, as long
 * as no row leaves the frame.
 *
 * The state of a group is a filter in hashes, with room for more, so a step hashes an item and
 * inserts the hash.  A large state is a collector.
 */
#include "function.h"

#include "../argument.h"
#include "../connection.h"
#include "../error.h"
#include "messages.h"
#include "../owned.h"

/* Bytes of a new state: room for nine items. */
#define CKFS_FIRST_STATE 120

/* A state of more bytes becomes a collector. */
#define CKFS_MOST_FLAT 1020

/* SQLite's aggregate context, which is zero at first. */
typedef struct ckfs_collected
{
	ckf_filter flat;          /* owned; no bytes: there is no state yet, or it is a collector */
	ckf_collector *collector; /* NULL: the state is not a collector */
} ckfs_collected;

/* Read the parameters of a group: fpr, capacity, options.  Each may be NULL or missing, for its
 * default.  A rate of 1 or more is a capacity, as in the order of cuckoofilter_create. */
static bool
ckfs_read_params(sqlite3_context *ctx, bool pair, int argc, sqlite3_value **argv,
				 ckf_params *params)
{
	static bool (*const read[])(sqlite3_context *, sqlite3_value *,
								ckf_params *) = {ckfs_fpr, ckfs_capacity, ckfs_options};
	int i;

	ckf_params_default(params);
	for (i = 0; i < argc; i++)
	{
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			continue;
		if (!read[i](ctx, argv[i], params))
			return false;
		if (params->fpr < 1)
			continue;
		ckfs_error(ctx, CKF_BAD_FPR,
				   (ckf_about){.params = params, .order = pair ? CKF_CALL_AGG_PAIR : CKF_CALL_AGG});
		return false;
	}
	return true;
}

/* Start a group.  Its first row has its parameters. */
static bool
ckfs_start(sqlite3_context *ctx, bool pair, int argc, sqlite3_value **argv, ckf_filter *flat)
{
	ckf_params params;
	ckf_status status;
	uint8_t *bytes;

	if (!ckfs_read_params(ctx, pair, argc, argv, &params))
		return false;
	bytes = ckfs_allocate(ctx, NULL, CKFS_FIRST_STATE);
	if (!bytes)
		return false;
	status = ckf_create_state(&params, bytes);
	if (status == CKF_OK)
		status = ckf_open(flat, bytes, CKF_HEADER_SIZE, CKF_STATE);
	flat->room = CKFS_FIRST_STATE;
	if (status == CKF_OK)
		return true;
	sqlite3_free(bytes);
	flat->bytes = NULL;
	ckfs_error(ctx, status, (ckf_about){.params = &params});
	return false;
}

/* The state of the row's group.  The parameters follow the item. */
static ckfs_collected *
ckfs_collected_of_row(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_items *items = ckfs_user_data(ctx)->items;
	int count = items->count;
	ckfs_collected *state = ckfs_aggregate_state(ctx, sizeof(ckfs_collected));

	return state && (state->flat.bytes || state->collector ||
					 ckfs_start(ctx, count == 2, argc - count, argv + count, &state->flat))
			   ? state
			   : NULL;
}

/* Turn a large state into a collector. */
static bool
ckfs_outgrow(sqlite3_context *ctx, ckfs_collected *state)
{
	ckf_collector *collector = ckfs_allocate(ctx, NULL, sizeof(ckf_collector));
	ckfs_host host = ckfs_host_of(ctx);

	if (!collector)
		return false;
	ckf_collect_start(collector, &state->flat, 1);
	if (!ckf_host_collect_filter(&host.host, collector, &state->flat))
	{
		ckf_host_collect_end(&host.host, collector);
		sqlite3_free(collector);
		return false;
	}
	ckfs_discard(&state->flat);
	state->collector = collector;
	return true;
}

/* Double the room of a state. */
static bool
ckfs_widen(sqlite3_context *ctx, ckf_filter *flat)
{
	size_t room = 2 * flat->room;
	uint8_t *bytes = ckfs_allocate(ctx, flat->bytes, room);

	if (!bytes)
		return false;
	ckf_move(flat, bytes);
	flat->room = room;
	return true;
}

/* cuckoofilter_agg(item [, fpr [, capacity [, options]]]), _agg_pair(item, value [, ...]),
 * _agg_hash(hash [, ...]) */
void
ckfs_step_item(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_items *items = ckfs_user_data(ctx)->items;
	ckfs_collected *state = ckfs_collected_of_row(ctx, argc, argv);
	ckfs_host host;
	ckfs_hashed item;
	uint64_t seed;

	if (!state)
		return;
	seed = state->collector ? state->collector->filter.seed : state->flat.seed;
	if (!items->hash(ctx, argv, seed, &item) || !ckfs_is_addable(ctx, &item))
		return;
	while (!state->collector && ckf_add(&state->flat, item.hash, item.item_class) == CKF_ROOM)
		if (!(state->flat.room < CKFS_MOST_FLAT / 2 ? ckfs_widen(ctx, &state->flat)
													: ckfs_outgrow(ctx, state)))
			return;
	if (!state->collector)
		return;
	host = ckfs_host_of(ctx);
	(void)ckf_host_collect(&host.host, state->collector, item.hash, item.item_class);
}

/* SQLite calls this if a row leaves the frame of a window. */
void
ckfs_inverse(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	(void)argv;
	sqlite3_result_error(ctx,
						 "cuckoofilter aggregates cannot drop rows: the window frame must start at "
						 "UNBOUNDED PRECEDING",
						 -1);
}

/* The filter of the rows so far.  The state stays valid. */
void
ckfs_value(sqlite3_context *ctx)
{
	ckfs_collected *state = sqlite3_aggregate_context(ctx, 0);
	const ckf_filter *items;
	ckfs_host host = ckfs_host_of(ctx);

	if (!state || (!state->flat.bytes && !state->collector))
	{
		ckfs_result_no_rows(ctx);
		return;
	}
	if (state->collector && !ckf_host_settle(&host.host, state->collector))
		return;
	items = state->collector ? &state->collector->filter : &state->flat;
	ckfs_result_of(ctx, &(ckf_task){.operation = CKF_FINISH, .in = &items, .inputs = 1});
}

void
ckfs_final(sqlite3_context *ctx)
{
	ckfs_collected *state = sqlite3_aggregate_context(ctx, 0);
	ckfs_host host = ckfs_host_of(ctx);

	ckfs_value(ctx);
	if (!state)
		return;
	ckfs_discard(&state->flat);
	if (state->collector)
		ckf_host_collect_end(&host.host, state->collector);
	sqlite3_free(state->collector);
	state->collector = NULL;
}
