/*
 * join_stats.c - cuckoofilter_join_stats and cuckoofilter_join_stats_reset. The library of the join
 * filters has the counters. These functions do not load it: it would change the plans of a session
 * that only looks at the counters.
 */
#include "error.h"
#include "library.h"

static const ckfp_library_join *
ckfp_find_join_library(void)
{
	const ckfp_library_join *library = *find_rendezvous_variable(CKFP_LIBRARY_JOIN);

	if (library == NULL)
		ckfp_error_not_loaded();
	return library;
}

/* cuckoofilter_join_stats() -> setof record: a row for each database */
CKFP_FUNCTION(cuckoofilter_join_stats, ckfp_find_join_library()->stats(fcinfo));

/* cuckoofilter_join_stats_reset() -> void */
CKFP_FUNCTION(cuckoofilter_join_stats_reset, ckfp_find_join_library()->stats_reset(fcinfo));
