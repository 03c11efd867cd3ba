/*
 * collect.c - a collector of hashes in memory from sqlite3_malloc64.
 */
#include "collect.h"

#include "error.h"
#include "library.h"

static void
ckfs_free_spent(ckf_collector *collector)
{
	void *block;

	while ((block = ckf_collect_spent(collector)) != NULL)
		sqlite3_free(block);
}

bool
ckfs_collect_room(sqlite3_context *ctx, ckf_collector *collector)
{
	ckf_status status;

	while ((status = ckf_collect_step(collector)) == CKF_MORE || status == CKF_ROOM)
	{
		ckfs_free_spent(collector);
		if (status == CKF_ROOM)
		{
			void *block = sqlite3_malloc64(collector->block_size);

			if (!block)
			{
				sqlite3_result_error_nomem(ctx);
				return false;
			}
			ckf_collect_give(collector, block, collector->block_size);
		}
		else if (ckfs_interrupted(ctx))
			return false;
	}
	ckfs_free_spent(collector);
	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){0});
	return status == CKF_OK;
}

bool
ckfs_collect(sqlite3_context *ctx, ckf_collector *collector, ckfs_hashed item)
{
	while (!ckf_collect(collector, item.hash, item.item_class))
		if (!ckfs_collect_room(ctx, collector))
			return false;
	return true;
}

bool
ckfs_collect_filter(sqlite3_context *ctx, ckf_collector *collector, const ckf_filter *in)
{
	ckf_status status;

	if (!ckfs_collect_room(ctx, collector))
		return false;
	status = ckf_collect_filter(collector, in);
	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){.filter = &collector->filter, .other = in});
	return status == CKF_OK && ckfs_collect_room(ctx, collector);
}

bool
ckfs_collect_settle(sqlite3_context *ctx, ckf_collector *collector)
{
	ckf_collect_settle(collector);
	return ckfs_collect_room(ctx, collector);
}

void
ckfs_collect_end(ckf_collector *collector)
{
	ckf_collect_end(collector);
	ckfs_free_spent(collector);
}
