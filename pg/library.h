/*
 * library.h - how the library of the type finds that of the join filters, without loading it.
 */
#ifndef CKFP_LIBRARY_H
#define CKFP_LIBRARY_H

#include "host.h"

/* The rendezvous variable (find_rendezvous_variable) that points to the struct below. It is NULL
 * in a session that has not loaded the library of the join filters. */
#define CKFP_LIBRARY_JOIN "cuckoofilter_join 1.5"

/* SQL functions of the library of the join filters, which the library of the type calls. */
typedef struct ckfp_library_join
{
	PGFunction stats;       /* cuckoofilter_join_stats() */
	PGFunction stats_reset; /* cuckoofilter_join_stats_reset() */
} ckfp_library_join;

#endif
