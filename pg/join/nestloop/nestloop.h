/*
 * nestloop.h - the filter of a nested loop: its place in the plan, its plan node, its price.
 */
#ifndef CKFP_JOIN_NESTLOOP_H
#define CKFP_JOIN_NESTLOOP_H

#include "join/exec/exec.h"
#include "join/plan/plan.h"

/* ----------------------------------------------------------- inner.c: the inner side of a loop */

/* The inner side of a nested loop, with its conditions. */
typedef struct ckfp_nest_inner
{
	Plan *scan;
	Index relation;
	List *conditions;        /* on the columns of the relation */
	List *own;               /* those on the relation alone that the filter's scan can evaluate */
	List *keys;              /* the columns of the relation that are the keys, as target entries */
	List *outer_keys;        /* those of the outer rows */
	ckfp_join_record record; /* describes the keys */
} ckfp_nest_inner;

/* Read the inner side of a nested loop, with its keys. NULL, or the reason why the loop can have no
 * filter. */
const char *ckfp_nest_read_inner(const ckfp_rules *rules, const NestLoop *join,
								 ckfp_nest_inner *inner);

/* The conditions of the inner side that refer to the outer side, and the scan that tests them; NIL
 * if the inner side is not the scan of an index. */
List *ckfp_nest_lookup(const NestLoop *join, Plan **scan);

/* The parameters of an expression that the executor sets. */
Bitmapset *ckfp_nest_params_of(Node *expression);

/* -------------------------------------------------------- add.c: which loops may have a filter */

/* If the rules allow a filter for a nested loop, put its plan node between the loop and its outer
 * side. *last_node is the highest plan_node_id. If not, NULL. */
CustomScan *ckfp_nest_add(ckfp_rules *rules, NestLoop *join, int *last_node);

/* NULL, or the reason why a nested loop can have no filter, for EXPLAIN. */
const char *ckfp_nest_reason(ckfp_rules *rules, const NestLoop *join);

/* ----------------------------------------------------------------------- node.c: the plan node */

/* The begin of a piece of work. */
typedef struct ckfp_meter
{
	double processor; /* time that this process had the processor, in ns */
	double clock;     /* the time of day, in ns */
	int64 blocks;     /* blocks that it has read */
} ckfp_meter;

/* The costs of pieces of work, in ns. */
typedef struct ckfp_costs
{
	double n;
	double sum;  /* of their costs */
	double wait; /* the sum of that for blocks */
	double most; /* the highest cost */
} ckfp_costs;

/* What the node knows about the outer rows while there is no filter. */
typedef struct ckfp_sampling
{
	bool on;               /* the rows are sampled, or the sampling is suspended */
	bool out;              /* a row was returned, and its lookup has not been counted */
	bool measured;         /* the cost of the lookup of that row is measured */
	ckfp_meter left;       /* the begin of that lookup */
	uint64 removed;        /* rows that other filters had removed from the inner side by then */
	uint64 cached;         /* lookups that Memoize had answered by then */
	uint64 rows;           /* rows since the sampling began */
	uint64 matched;        /* those of them that had a match */
	uint64 next;           /* the number of rows at which to decide */
	uint64 next_sample;    /* the number of rows at which to measure a lookup */
	uint64 suspended;      /* rows to return unsampled before the sampling begins again */
	uint64 rows_before;    /* rows in the samples before the last suspension */
	uint64 matched_before; /* those of them that had a match */
	uint64 scanned;        /* rows of this run of the outer side */
	uint64 published;      /* those of them that the other processes know of */
	uint64 all;            /* rows of all its runs */
	ckfp_costs lookups;    /* of those without a match */
	double gain;           /* what was decided by: what the filter saves, in ns */
	double price;          /* of the filter, by a scan that was ended; 0: none was */
} ckfp_sampling;

/* The scan of the dimension. */
typedef struct ckfp_reading
{
	ExprState counts;     /* stands for the condition of the scan */
	ExprState *condition; /* its own; NULL: it has none */
	uint64 rows;          /* the rows that it has read */
	ckfp_meter begun;
	double spent; /* what it had cost at the last check, in ns */
	double done;  /* the part that was read by then */
	bool ended;   /* it has become too expensive */
} ckfp_reading;

/* A LEFT or ANTI loop, whose rows without a match are answered. */
typedef struct ckfp_answer
{
	ExprState ended;               /* stands for the condition of the loop */
	ExprState *condition;          /* its own; may be NULL */
	ExecProcNodeMtd loop_function; /* the executor's function for the loop; NULL: it answers none */
} ckfp_answer;

struct ckfp_nest
{
	ckfp_filter_node filter_node; /* the filter, its counters, and the scans that use it, if any */
	ckfp_scan_filter test;        /* of this node */
	bool tests;                   /* this node tests its rows, as no scan can */
	bool installed;               /* its loop was looked for, as the setting is not off */
	bool serializable;            /* the transaction is, so there is no filter */
	NestLoopState *loop;          /* the nested loop; NULL before it is found */
	PlanState *scan;              /* of the dimension; NULL while it is not needed */
	ckfp_reading reading;         /* the scan of the dimension, while it runs */
	PlanState *inner;             /* the scan of the loop's inner side */
	PlanState *memoize;           /* the Memoize node above that scan, or NULL */
	ScanState *driver;            /* the sequential scan that the outer rows come from, or NULL */
	ckfp_sampling sampling;
	ExecProcNodeMtd
		node_function;  /* the executor's function, while ours is in its place; else NULL */
	ckfp_answer answer; /* of a LEFT or ANTI loop */
	TupleTableSlot
		*denied; /* the outer row of that loop whose lookup would find nothing; or NULL */
};
typedef struct ckfp_nest ckfp_nest;

/* Register the custom scan methods. */
void ckfp_join_init_nest(void);

/* Let a node start, when its loop has been found or not. */
void ckfp_nest_install(ckfp_nest *nest);

/* ------------------------------------------- answer.c: the filter of a LEFT or ANTI nested loop */

/* Let the loop answer the lookups of the rows that the node puts into `denied`, while it returns
 * NULL. */
void ckfp_answer_install(ckfp_nest *nest);

/* Let the loop be as it was: its rows are no longer sampled, and there is no filter. */
void ckfp_answer_remove(ckfp_nest *nest);

/* --------------------------------------------------------------- price.c: when the filter pays */

void ckfp_meter_start(ckfp_meter *meter);

/* The cost since then, in ns: processor time, and the time that blocks took to come (*wait). */
double ckfp_meter_read(const ckfp_meter *meter, double *wait);

/* Start to sample rows, also when the outer side is read again. */
void ckfp_sampling_start(ckfp_nest *nest);

/* Count the row that was returned last. True if the filter is to be made now. */
bool ckfp_sampling_count(ckfp_nest *nest);

/* The lookup of the row that was returned last has ended. If it is measured and has found nothing,
 * count its cost. */
void ckfp_sampling_lookup_ended(ckfp_nest *nest);

/* A row is about to be returned: its lookup begins. */
void ckfp_sampling_row(ckfp_nest *nest);

/* Are the ranges of the keys worth a scan of the dimension, before the first row? */
bool ckfp_sampling_wants_ranges(ckfp_nest *nest);

/* The scan of the dimension has read another row. Will the rest of it cost more than the filter
 * saves? */
bool ckfp_sampling_is_exceeded(ckfp_nest *nest);

#endif
