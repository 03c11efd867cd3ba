/*
 * probe.h - scans that ask filters.
 */
#ifndef CKFP_JOIN_PROBE_H
#define CKFP_JOIN_PROBE_H

#include "node.h"

#include "executor/execdesc.h"

#pragma GCC visibility push(hidden)

/* A filter that a scan asks, or a node that has the rows of scans. */
typedef struct ckfp_ask
{
	ckfp_build *build;
	bool served; /* the server of a foreign scan asks the filter; its rows have passed */
	AttrNumber attribute[CKFP_JOIN_KEYS];
	ckfp_sleep sleep;
} ckfp_ask;

/* Does a row pass a filter? Counts the row. */
bool ckfp_probe_row_passes(ckfp_ask *ask, TupleTableSlot *slot);

/* Let the scans of a query that has started ask the filters of its build nodes. */
void ckfp_probe_install(QueryDesc *query, ckfp_build *builds);

#pragma GCC visibility pop

#endif
