/*
 * join.h - what the files of the join filters share.
 *
 * A hash join fills a filter with its keys while it reads its small side, the
 * build side; the scan of its large side, the probe side, asks the filter for
 * each row.  README.md has the map.
 */
#ifndef CKFP_JOIN_H
#define CKFP_JOIN_H

#include "host.h"

#include "access/attnum.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#pragma GCC visibility push(hidden)

/* Columns of one join that one filter is of, at most. */
#define CKFP_JOIN_KEYS 4

/* ---------------------------------------------------------------- settings */

typedef enum ckfp_join_mode
{
	CKFP_JOIN_OFF,
	CKFP_JOIN_AUTO,
	CKFP_JOIN_ON,
	CKFP_JOIN_VERIFY
} ckfp_join_mode;

extern int ckfp_join_mode_setting;
extern int ckfp_join_min_rows;
extern double ckfp_join_max_pass;
extern int ckfp_join_memory; /* kB */
extern bool ckfp_join_remote;

/* The settings, the hooks and the plan node, when the library is loaded. */
void ckfp_join_init(void);

void ckfp_join_init_settings(void);
void ckfp_join_init_planner(void);
void ckfp_join_init_executor(void);

/* ------------------------------------------------------------------ plans */

/* A scan that asks a filter. */
typedef struct ckfp_join_target
{
	int node;                             /* plan_node_id */
	AttrNumber attribute[CKFP_JOIN_KEYS]; /* of the scan's tuple */
	Index relation[CKFP_JOIN_KEYS];    /* of each key, for EXPLAIN: its range table entry, or 0, */
	AttrNumber column[CKFP_JOIN_KEYS]; /* and the column of that relation, or 0 */
	int parameter;                     /* by which its server asks; -1: it does not */
	ForeignScan *foreign;              /* while planning: a target that is one, */
	Oid declared;                      /* the type that it declares for the first key, */
	int32 typmod;                      /* and the modifier of that type */
} ckfp_join_target;

/* A key column of the join. */
typedef struct ckfp_join_column
{
	Oid equality;  /* the join's operator */
	Oid collation; /* that it compares under */
	Oid build;     /* types of its two sides */
	Oid probe;
} ckfp_join_column;

/* What the planner pass tells the executor of one filter. */
typedef struct ckfp_join_record
{
	int columns;
	ckfp_join_column column[CKFP_JOIN_KEYS];
	List *targets;     /* of ckfp_join_target */
	double build_rows; /* estimates: rows of the build side, */
	double probe_rows; /* rows that the scans ask for, */
	double pass;       /* and which share of them passes */
	double saving;     /* what it saves to drop all of them, in ns: in each process */
	double asked;      /* rows that each process asks for */
	bool first;        /* the build side is read before the first row of the probe side */
} ckfp_join_record;

/* To and from what a plan can carry. */
List *ckfp_join_record_to_list(const ckfp_join_record *record);
void ckfp_join_record_from_list(List *list, ckfp_join_record *record);

/* A plan node of ours between Hash and `child`, of a record and the expressions
 * of the build side's keys. */
CustomScan *ckfp_join_make_build(Plan *child, int node, const ckfp_join_record *record,
								 List *expressions);

/* Is a plan node that one? */
bool ckfp_join_is_build(const Plan *plan);

#pragma GCC visibility pop

#endif
