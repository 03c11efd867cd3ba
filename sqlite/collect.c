/*
 * collect.c - a collector of hashes in memory from sqlite3_malloc64.
 */
#include "collect.h"

#include "owned.h"

bool
ckfs_collect(sqlite3_context *ctx, ckf_collector *collector, ckfs_hashed item)
{
	ckfs_host host;

	if (ckf_collect(collector, item.hash, item.item_class))
		return true;
	host = ckfs_host_of(ctx);
	return ckf_host_collect(&host.host, collector, item.hash, item.item_class);
}

bool
ckfs_collect_filter(sqlite3_context *ctx, ckf_collector *collector, const ckf_filter *in)
{
	ckfs_host host = ckfs_host_of(ctx);

	return ckf_host_collect_filter(&host.host, collector, in);
}

bool
ckfs_collect_settle(sqlite3_context *ctx, ckf_collector *collector)
{
	ckfs_host host = ckfs_host_of(ctx);

	return ckf_host_settle(&host.host, collector);
}

void
ckfs_collect_end(ckf_collector *collector)
{
	ckfs_host host = ckfs_host_of(NULL);

	ckf_host_collect_end(&host.host, collector);
}
