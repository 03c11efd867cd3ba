/*
 * aggregate.c - aggregates, which are window functions too as long as the
 * frame only grows.
 *
 * SQLite's aggregate context holds the opened view of a running state, so
 * that a step is a hash and an insertion; the state's bytes are owned.
 */
#include "host.h"

/* Is a capacity where the rate belongs, and the other way round, as cuckoofilter_create has
 * them?  That is an error. */
static bool
ckfs_is_swapped(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_params params = {0};
	int i;

	for (i = 0; i < 2; i++)
		if (i >= argc || (sqlite3_value_type(argv[i]) != SQLITE_INTEGER &&
						  sqlite3_value_type(argv[i]) != SQLITE_FLOAT))
			return false;
	params.fpr = sqlite3_value_double(argv[0]);
	if (params.fpr < 1 || sqlite3_value_double(argv[1]) >= 1)
		return false;
	ckfs_error(ctx, CKF_BAD_FPR, (ckfs_subject){.params = &params, .swapped = true});
	return true;
}

/* Parameters of a group: fpr, capacity, options, each NULL or left out for
 * its default. */
static bool
ckfs_read_params(sqlite3_context *ctx, int argc, sqlite3_value **argv, ckf_params *params)
{
	static bool (*const read[])(sqlite3_context *, sqlite3_value *,
								ckf_params *) = {ckfs_fpr, ckfs_capacity, ckfs_options};
	int i;

	ckf_params_default(params);
	if (ckfs_is_swapped(ctx, argc, argv))
		return false;
	for (i = 0; i < argc; i++)
		if (sqlite3_value_type(argv[i]) != SQLITE_NULL && !read[i](ctx, argv[i], params))
			return false;
	return true;
}

/* Start a group, whose parameters are those of its first row. */
static bool
ckfs_start(sqlite3_context *ctx, int argc, sqlite3_value **argv, ckf_filter *state)
{
	ckf_params params;
	ckf_status status;
	uint8_t *bytes;

	if (!ckfs_read_params(ctx, argc, argv, &params))
		return false;
	bytes = sqlite3_malloc64(CKF_STATE_SIZE);
	if (!bytes)
	{
		sqlite3_result_error_nomem(ctx);
		return false;
	}
	status = ckf_collect_create(&params, bytes);
	if (status == CKF_OK)
		status = ckf_open(state, bytes, CKF_STATE_SIZE, CKF_STATE);
	if (status == CKF_OK)
		return true;
	sqlite3_free(bytes);
	state->bytes = NULL;
	ckfs_error(ctx, status, (ckfs_subject){.params = &params});
	return false;
}

/* The running state of a row's group, whose parameters follow the row's item or filter. */
static ckf_filter *
ckfs_new_state(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_aggregate *aggregate = ckfs_user_data(ctx)->data;
	int count = aggregate->count;
	ckf_filter *state = sqlite3_aggregate_context(ctx, sizeof(ckf_filter));

	if (!state)
		sqlite3_result_error_nomem(ctx);
	else if (state->bytes || ckfs_start(ctx, argc - count, argv + count, state))
		return state;
	return NULL;
}

/* cuckoofilter_agg(item [, fpr [, capacity [, options]]]), _agg_pair(item, value [, ...]),
 * _agg_hash(hash [, ...]) */
void
ckfs_step_item(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_aggregate *aggregate = ckfs_user_data(ctx)->data;
	ckf_filter *state = ckfs_new_state(ctx, argc, argv);
	ckfs_hashed item;

	if (state && aggregate->hash(ctx, argv, state->seed, &item))
		ckfs_add(ctx, state, item);
}

/* cuckoofilter_union_agg(filter), cuckoofilter_sum_agg(filter) */
void
ckfs_step_filter(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_aggregate *aggregate = ckfs_user_data(ctx)->data;
	ckf_filter *state = ckfs_new_state(ctx, argc, argv);
	ckf_filter local;
	const ckf_filter *filter;

	if (!state)
		return;
	filter = ckfs_filter(ctx, argv[0], CKF_FOREIGN, &local);
	if (filter)
		ckfs_merge_into(ctx, state, filter, aggregate->collect);
}

/* A frame that only grows never asks for this. */
void
ckfs_inverse(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	(void)argv;
	ckfs_error_frame(ctx);
}

/* The filter of the rows so far; the state stays as it is. */
void
ckfs_value(sqlite3_context *ctx)
{
	const ckfs_aggregate *aggregate = ckfs_user_data(ctx)->data;
	ckf_filter *state = sqlite3_aggregate_context(ctx, 0);
	ckf_filter owned;

	if (!state || !state->bytes)
		ckfs_result_no_rows(ctx);
	else if (ckfs_run(ctx, aggregate->finish, state, NULL, &owned))
		ckfs_result(ctx, &owned);
}

void
ckfs_final(sqlite3_context *ctx)
{
	ckf_filter *state = sqlite3_aggregate_context(ctx, 0);

	ckfs_value(ctx);
	if (state)
		ckfs_discard(state);
}
