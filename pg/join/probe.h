/*
 * probe.h - scans that ask filters.
 */
#ifndef CKFP_JOIN_PROBE_H
#define CKFP_JOIN_PROBE_H

#include "node.h"

#include "executor/execdesc.h"

#pragma GCC visibility push(hidden)

/* Let the scans of a query that has started ask the filters of its build nodes. */
void ckfp_probe_install(QueryDesc *query, ckfp_build *builds);

#pragma GCC visibility pop

#endif
