/*
 * plan.h - the planner pass: what it must know of each kind of plan node, which joins may have a
 * filter, and which scans can use it.
 */
#ifndef CKFP_JOIN_PLAN_H
#define CKFP_JOIN_PLAN_H

#include "join/base/join.h"

/* ----------------------------------------------------------------- nodes.c: the table of nodes */

/* How the columns that a node returns are followed down to the scans that they come from. */
typedef enum ckfp_node_kind
{
	CKFP_NODE_UNKNOWN, /* not followed: the table lacks it, so its expressions are unknown, too */
	CKFP_NODE_OTHER,   /* not followed */
	CKFP_NODE_SCAN,    /* this is the scan */
	CKFP_NODE_SUBQUERY,
	CKFP_NODE_JOIN,
	CKFP_NODE_PASS, /* it returns the rows of its child */
	CKFP_NODE_SORT, /* it returns the rows of its child, and has a cost for each of them */
	CKFP_NODE_LIST, /* it returns the rows of its children, one child after the other */
	CKFP_NODE_GROUPS
} ckfp_node_kind;

/* Whether a node may stop before its children have returned all rows. */
typedef enum ckfp_node_stop
{
	CKFP_STOPS_AS_READER, /* if the node that reads it may */
	CKFP_STOPS_ALWAYS,
	CKFP_STOPS_NEVER
} ckfp_node_stop;

typedef enum ckfp_node_is
{
	CKFP_NODE_HIDES = 1, /* it may drop rows for a security barrier */
	CKFP_NODE_AHEAD = 2, /* it reads many rows, or all, before it returns the first one */
	CKFP_NODE_SAFE = 4,  /* it fails only where its expressions do */
	CKFP_NODE_SIDE = 8,  /* it may be in a probe side that is read after the build side (order.c) */
	CKFP_NODE_VARIES = 16 /* it may return other rows when it is read again, at least if those of
						   * its child come in another order */
} ckfp_node_is;

/* Other members are offsets in the struct of the node; 0: it has none. */
typedef struct ckfp_node
{
	ckfp_node_kind kind;
	ckfp_node_stop stops;
	uint16 is;             /* of ckfp_node_is */
	uint16 children;       /* a list of plans, beside lefttree and righttree */
	uint16 child;          /* one plan, beside lefttree and righttree */
	uint16 expressions[2]; /* other than the target list and the condition */
	uint16 listed;         /* a list of the columns that its INDEX_VARs are */
	uint16 lookup;         /* of the scan of an index: the conditions of the index, on columns of
							* the table or of that list */
	struct
	{
		uint16 n;
		uint16 columns;
		uint16 equalities;
		uint16 collations;
	} groups;
} ckfp_node;

const ckfp_node *ckfp_node_of(const Plan *plan);

/* May a node stop before its children have returned all rows, if its own reader may? */
bool ckfp_stops_early(const Plan *plan, bool reader_stops);

/* A pointer that a plan node has at an offset; NULL if that is 0. */
static inline void *
ckfp_node_field(const Plan *plan, uint16 offset)
{
	return offset == 0 ? NULL : *(void *const *)((const char *)plan + offset);
}

typedef void (*ckfp_plan_visitor)(Plan *plan, void *context);

/* Call `visit` for each child of a plan node. */
void ckfp_plan_children(Plan *plan, ckfp_plan_visitor visit, void *context);

/* The expressions of a node, except its target list and its condition, as a list. */
List *ckfp_own_expressions(const Plan *plan);

/* --------------------------------- effects.c: functions that are volatile, and those that fail */

/* A statement, and what its plans refer to: subplans by number, InitPlans by the parameters that
 * they set. */
typedef struct ckfp_statement
{
	PlannedStmt *plan;
	List *initplans; /* the SubPlan nodes of all plan nodes */
} ckfp_statement;

/* The InitPlan that sets a parameter, or NULL. */
SubPlan *ckfp_initplan_of(const ckfp_statement *statement, const Param *param);

/* Is there a volatile function in a plan, or in an expression? The SubPlans, InitPlans and CTEs
 * that they refer to belong to them. True also for a plan node of an unknown kind. */
bool ckfp_plan_is_volatile(Plan *plan, const ckfp_statement *statement);
bool ckfp_expression_is_volatile(Node *expression, const ckfp_statement *statement);

/* May a plan return other rows when it is read again, with no parameter changed? InitPlans and CTEs
 * are not read again. */
bool ckfp_plan_varies(Plan *plan, const ckfp_statement *statement);

/* Can evaluating an expression fail? If a statement is given: or run an InitPlan? */
bool ckfp_expression_may_fail(Node *expression, const ckfp_statement *statement);

/* ------------------------------------------------------- trace.c: from which scans a key comes */

typedef struct ckfp_trace
{
	const struct ckfp_rules *rules;
	ckfp_join_record *record; /* the record that targets are added to */
	double rows;              /* estimated rows of all targets */
	double conditions;        /* rows that are tested by their own conditions, if they have one */
	double reaching;          /* the cost of reaching the key in all rows of them, in ns */
	double saving;            /* the saving if all rows are dropped there, in ns */
	double loops;             /* how often the current part of the plan is read: at first 1 */
	bool streaming;           /* only through nodes that return rows before they have read all */
	bool missed;              /* there are rows that come from none of the targets */
	bool shared;              /* a process may get rows that another process scanned */
	Expr *function;           /* the key may be this function of the column (monotone.h); or NULL */
	bool at_once; /* only through nodes that keep no row: the function depends on the time zone */
	bool waits;   /* there was a node that keeps rows, where `at_once` is set */
	bool gathers; /* there was a Gather: its workers do not have the filter */
	Expr *mapped; /* the function that all targets have */
	bool ordered; /* a node above may rely on the order of the rows */
	bool looped;  /* the current part is read again for each row of another one */
} ckfp_trace;

/* Does each result row of a join of this type come from exactly one row of the outer side? Then
 * dropping a row of that side drops only its own results. */
bool ckfp_outer_side_may_lose_rows(JoinType type);

/* Compose the function of the trace with an expression, a function of a column of `varno`. Returns
 * that column; 0 if there is none, or the expression is not listed in monotone.c. */
AttrNumber ckfp_trace_function(ckfp_trace *trace, Expr *expression, int varno);

/* Follow columns of the target list of a plan down to the scans that they come from, and add
 * these to the targets. There is one column for each column of the record. `saving` is what a
 * dropped row saves above this plan, in ns. */
void ckfp_trace_columns(ckfp_trace *trace, Plan *plan, const AttrNumber *columns, double saving);

/* The number of the column of `varno` that an expression is, or 0 if it is not a plain column. */
AttrNumber ckfp_column_of(Expr *expression, int varno);

/* --------------------------------------------------- unorder.c: scans that are to skip blocks */

/* Can a scan skip blocks? *unordered: an Index Scan, which can do so as a Bitmap Heap Scan, if it
 * is not `ordered`: a node above it may rely on the order of its rows; else NULL. */
bool ckfp_scan_skips(const Plan *plan, bool ordered, IndexScan **unordered);

/* Does a node need the order of the rows of its children? `above`: the node that reads it does. */
bool ckfp_needs_order(const Plan *plan, bool above);

/* Make Bitmap Heap Scans of the Index Scans by which blocks are skipped. *last_node: the highest
 * plan_node_id. */
void ckfp_unorder_scans(const ckfp_join_record *record, int *last_node);

/* ----------------------------------------------------------- order.c: which side is read first */

/* Note in the record whether reading the build side of a join before the first row of its probe
 * side can pay, and has no effect except on time. */
void ckfp_order_plan(const struct ckfp_rules *rules, HashJoin *join, ckfp_join_record *record);

/* ------------------------------------------------------ rules.c: which joins may have a filter */

/* What the rules know about a statement. */
typedef struct ckfp_rules
{
	ckfp_statement statement;
	ckfp_tables tables;
	Bitmapset *harmless; /* parameters that never change the rows of a build side */
	Bitmapset *once;     /* the subplans that run once, by plan_id */
	bool volatile_known;
	bool is_volatile; /* there is a volatile function in one of its plans */
	Bitmapset *stops; /* nested loops and scans that a node above may stop early, as far
					   * as the plan was walked: not above the current join */
	/* of the current part of the plan: */
	double processes; /* the number of processes that share it; at least 1 */
	double share;     /* the share of its rows that its readers are expected to read */
	bool again;       /* it may be read again */
	Expr *unmapped;   /* the key of the last join that the reason is about; or NULL */
} ckfp_rules;

/* May joins of this statement have filters? */
bool ckfp_rules_allow_statement(const PlannedStmt *statement);

/* Note what the rules need from a plan node. After all nodes, ckfp_rules_conclude evaluates the
 * notes. */
void ckfp_rules_note(ckfp_rules *rules, const Plan *plan);
void ckfp_rules_conclude(ckfp_rules *rules);

/* Is there a volatile function in a plan of the statement? Each join of a deep tree must know this
 * of everything below it, so all plans are searched once, first. */
bool ckfp_rules_is_volatile(ckfp_rules *rules, Plan *plan);

/* May this join have a filter, and is the filter expected to pay? If so, *record describes the
 * filter, and the result has its keys: those of the build side, then those of the probe side. If
 * not, NIL, and *reason says why. `mapped`: only by a key that is a function of a column; else
 * plain columns come first. */
List *ckfp_rules_allow(ckfp_rules *rules, HashJoin *join, bool mapped, ckfp_join_record *record,
					   const char **reason);

/* The reason if one of these conditions on both sides of a join is an equality that PostgreSQL
 * cannot hash, or if all equalities are. Else NULL. */
const char *ckfp_rules_unhashable(const List *conditions, bool all);

#endif
