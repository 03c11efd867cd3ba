/*
 * merge.c - cuckoofilter_union_agg and _sum_agg.
 *
 * The state is a few filters of unlike size.  Where one has become about as large as the one
 * before it, both become one: so each item is merged as often as its filter has doubled, and
 * all take at most about twice the bytes of the result.
 */
#include "merge.h"

#include "aggregate.h"
#include "argument.h"
#include "connection.h"
#include "error.h"
#include "owned.h"

#include <string.h>

/* Room, in hashes, that a copy of a small filter gets, so that small filters are merged in
 * place. */
#define CKFS_PART_HASHES 512

/* SQLite's aggregate context, which is zero at first. */
typedef struct ckfs_parts
{
	ckf_filter *part; /* owned filters, CKF_MOST_INPUTS of them; or NULL */
	unsigned parts;
} ckfs_parts;

static void
ckfs_parts_of(const ckfs_parts *merge, const ckf_filter **parts)
{
	unsigned i;

	for (i = 0; i < merge->parts; i++)
		parts[i] = &merge->part[i];
}

/* Make the filters fewer where they are of like size.  Some that cannot be merged alone stay:
 * the others may let them. */
static bool
ckfs_merge_due(sqlite3_context *ctx, ckfs_parts *merge, ckf_goal goal)
{
	const ckf_filter *parts[CKF_MOST_INPUTS];
	unsigned due;

	ckfs_parts_of(merge, parts);
	while ((due = ckf_merge_due(parts, merge->parts)) > 0)
	{
		unsigned first = merge->parts - due;
		bool refused = false;
		ckf_filter all;

		if (!ckfs_try(ctx, goal, parts + first, due, &all,
					  merge->parts < CKF_MOST_INPUTS ? &refused : NULL))
			return refused;
		while (merge->parts > first)
			ckfs_discard(&merge->part[--merge->parts]);
		merge->part[merge->parts++] = all;
	}
	return true;
}

/* A copy of a filter; one in hashes is what the aggregate makes of it, with room for more. */
static bool
ckfs_copy_part(sqlite3_context *ctx, const ckf_filter *in, ckf_goal goal, ckf_filter *part)
{
	ckf_filter owned;
	bool ok;

	if (in->encoding != CKF_HASHES || in->count > CKFS_PART_HASHES)
		return ckfs_copy(ctx, in, 0, part);
	if (!ckfs_run(ctx, goal, in, NULL, &owned))
		return false;
	ok = ckfs_copy(ctx, &owned, CKFS_PART_HASHES, part);
	ckfs_discard(&owned);
	return ok;
}

static bool
ckfs_add_part(sqlite3_context *ctx, ckfs_parts *merge, const ckf_filter *in, ckf_goal goal)
{
	const ckf_filter *parts[CKF_MOST_INPUTS];
	ckf_status status;

	ckfs_parts_of(merge, parts);
	status = ckf_merge_check(parts, merge->parts, in);
	if (status == CKF_OK && merge->parts > 0 &&
		ckf_merge_few(&merge->part[merge->parts - 1], in, goal) == CKF_OK)
		return true;
	if (status != CKF_OK)
	{
		ckfs_error(ctx, status, (ckfs_subject){.filter = merge->part, .other = in});
		return false;
	}
	if (!ckfs_merge_due(ctx, merge, goal) ||
		!ckfs_copy_part(ctx, in, goal, &merge->part[merge->parts]))
		return false;
	merge->parts++;
	return true;
}

/* cuckoofilter_union_agg(filter), cuckoofilter_sum_agg(filter) */
void
ckfs_merge_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_aggregate *aggregate = ckfs_user_data(ctx)->data;
	ckfs_parts *merge = sqlite3_aggregate_context(ctx, sizeof(ckfs_parts));
	ckf_filter local;
	const ckf_filter *filter;

	(void)argc;
	if (merge && !merge->part)
		merge->part = sqlite3_malloc64(CKF_MOST_INPUTS * sizeof(ckf_filter));
	if (!merge || !merge->part)
	{
		sqlite3_result_error_nomem(ctx);
		return;
	}
	filter = ckfs_filter(ctx, argv[0], CKF_FOREIGN, &local);
	if (filter)
		(void)ckfs_add_part(ctx, merge, filter, aggregate->collect);
}

/* The filter of the rows so far.  The state stays valid. */
void
ckfs_merge_value(sqlite3_context *ctx)
{
	const ckfs_aggregate *aggregate = ckfs_user_data(ctx)->data;
	const ckfs_parts *merge = sqlite3_aggregate_context(ctx, 0);
	const ckf_filter *parts[CKF_MOST_INPUTS];
	ckf_filter owned;

	if (!merge || merge->parts == 0)
	{
		ckfs_result_no_rows(ctx);
		return;
	}
	ckfs_parts_of(merge, parts);
	if (ckfs_run_many(ctx, aggregate->finish, parts, merge->parts, &owned))
		ckfs_result(ctx, &owned);
}

void
ckfs_merge_final(sqlite3_context *ctx)
{
	ckfs_parts *merge = sqlite3_aggregate_context(ctx, 0);

	ckfs_merge_value(ctx);
	if (!merge)
		return;
	while (merge->parts > 0)
		ckfs_discard(&merge->part[--merge->parts]);
	sqlite3_free(merge->part);
	merge->part = NULL;
}
