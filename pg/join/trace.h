/*
 * trace.h - from which scans the key of a join comes: these can ask its filter.
 */
#ifndef CKFP_JOIN_TRACE_H
#define CKFP_JOIN_TRACE_H

#include "join.h"

#pragma GCC visibility push(hidden)

typedef struct ckfp_trace
{
	const PlannedStmt *statement;
	double processes;         /* that share each scan */
	bool has_barrier;         /* the statement has a security barrier */
	ckfp_join_record *record; /* the record that targets are added to */
	double rows;              /* estimated rows of all targets */
	double conditions;        /* rows that are tested by their own conditions, if they have one */
	double saving;            /* the saving if all rows are dropped there, in ns */
	double loops;             /* how often the current part of the plan is read: at first 1 */
	bool streaming;           /* only through nodes that return rows before they have read all */
	bool missed;              /* there are rows that come from none of the targets */
} ckfp_trace;

/* Follow columns of the target list of a plan down to the scans that they come from, and add
 * these to the targets. There is one column for each column of the record. `saving` is what a
 * dropped row saves above this plan, in ns. */
void ckfp_trace_columns(ckfp_trace *trace, Plan *plan, const AttrNumber *columns, double saving);

/* The number of the column of `varno` that an expression is, or 0 if it is not a plain column. */
AttrNumber ckfp_column_of(Expr *expression, int varno);

#pragma GCC visibility pop

#endif
