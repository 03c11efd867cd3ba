/*
 * nestloop_state.h - the state of the plan node that filters the outer rows of a nested loop.
 */
#ifndef CKFP_JOIN_NESTLOOP_STATE_H
#define CKFP_JOIN_NESTLOOP_STATE_H

#include "ask.h"

#include "portability/instr_time.h"

#pragma GCC visibility push(hidden)

/* What the node knows about the outer rows while there is no filter. */
typedef struct ckfp_watch
{
	bool on;               /* the rows are watched, or will be after a rest */
	bool out;              /* a row was handed on, and its lookup has not been counted */
	bool timed;            /* its lookup is timed, */
	instr_time left;       /* from here on */
	uint64 rows;           /* since the watch began: rows, */
	uint64 matched;        /* those that had a match, */
	uint64 next;           /* the number of rows at which to decide */
	uint64 rest;           /* rows to hand on unwatched before the watch begins again */
	uint64 rows_before;    /* in the watches before the last rest: rows, */
	uint64 matched_before; /* and those that had a match */
	uint64 scanned;        /* rows of this run of the outer side */
	uint64 all;            /* rows of all its runs */
	uint64 samples;        /* timed lookups without a match, */
	double ns;             /* their time, */
	double most;           /* and the longest one */
	double tuples;         /* what was decided by: rows of the dimension, */
	double keys;           /* keys among them, */
	double gain;           /* and the time that the filter saves, in ns */
} ckfp_watch;

struct ckfp_nest
{
	ckfp_build build;    /* the filter, its counters, and the scans that ask it, if any */
	ckfp_ask ask;        /* of this node, */
	bool asks;           /* if it asks */
	bool installed;      /* its loop was looked for, as the setting is not off */
	bool serializable;   /* the transaction is, so there is no filter */
	bool stops;          /* a node above may stop early */
	NestLoopState *loop; /* the nested loop; NULL before it is found */
	PlanState *scan;     /* of the dimension; NULL while it is not needed */
	ScanState *driver;   /* the sequential scan that the outer rows come from, or NULL */
	ckfp_watch watch;
	ExecProcNodeMtd exec; /* the executor's function for the node, while it rests; else NULL */
};
typedef struct ckfp_nest ckfp_nest;

#pragma GCC visibility pop

#endif
