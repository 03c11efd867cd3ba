/*
 * trace.h - where a join's key comes from: the scans that can ask its filter.
 */
#ifndef CKFP_JOIN_TRACE_H
#define CKFP_JOIN_TRACE_H

#include "join.h"

#pragma GCC visibility push(hidden)

typedef struct ckfp_trace
{
	const PlannedStmt *statement;
	double processes;         /* that share a scan */
	bool guarded;             /* a security barrier is in the statement */
	ckfp_join_record *record; /* its targets are added to */
	double rows;              /* estimated rows of all targets */
	double conditions;        /* rows that their own conditions see, where they have one */
	double saving;            /* what dropping one at each of them saves: ns x rows */
} ckfp_trace;

/* Follow columns of a plan's target list, one for each column of the record, down to the
 * scans that have them.  `saving`: what a row that is dropped below saves above, in ns. */
void ckfp_trace_columns(ckfp_trace *trace, Plan *plan, const AttrNumber *columns, double saving);

/* The number of the column that a key is, of the plan that `varno` stands for; 0 where it is
 * none. */
AttrNumber ckfp_column_of(Expr *expression, int varno);

#pragma GCC visibility pop

#endif
