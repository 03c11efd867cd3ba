/*
 * collect.c - a collector in memory of PostgreSQL's.
 */
#include "type/collect.h"

#include "type/owned.h"

void
ckfp_collect_room(ckf_collector *collector, MemoryContext context)
{
	ckfp_host host = ckfp_host_in(context);

	(void)ckf_host_make_room(&host.host, collector);
}

void
ckfp_collect_settle(ckf_collector *collector, MemoryContext context)
{
	ckfp_host host = ckfp_host_in(context);

	(void)ckf_host_settle(&host.host, collector);
}

void
ckfp_collect_filter(ckf_collector *collector, MemoryContext context, const ckf_filter *in)
{
	ckfp_host host = ckfp_host_in(context);

	(void)ckf_host_collect_filter(&host.host, collector, in);
}
