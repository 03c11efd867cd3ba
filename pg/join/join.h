/*
 * join.h - what the files of the join filters share.
 *
 * A hash join adds its keys to a filter while it reads its small side, the build side. The scan of
 * its large side, the probe side, asks the filter for each row. README.md lists the files.
 */
#ifndef CKFP_JOIN_H
#define CKFP_JOIN_H

#include "host.h"

#include "access/attnum.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#pragma GCC visibility push(hidden)

/* The largest number of key columns of a filter. */
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

/* Define the settings, install the hooks and register the plan node: when the library is loaded. */
void ckfp_join_init_settings(void);
void ckfp_join_init_planner(void);
void ckfp_join_init_executor(void);

/* ------------------------------------------------------------------ plans */

/* Can a statement contain a join? A join has two range table entries at least. */
static inline bool
ckfp_join_is_possible(const PlannedStmt *statement)
{
	return list_length(statement->rtable) > 1;
}

/* A scan that asks a filter. */
typedef struct ckfp_join_target
{
	int node;                             /* plan_node_id */
	AttrNumber attribute[CKFP_JOIN_KEYS]; /* of the scan's tuple */
	Index relation[CKFP_JOIN_KEYS];    /* for EXPLAIN: the range table entry of each key, or 0, */
	AttrNumber column[CKFP_JOIN_KEYS]; /* and the column of that relation, or 0 */
	bool partition;                    /* the scan reads a partition that may have no key */
	Index root; /* the table that the relation is a partition or a child of; or 0, */
	AttrNumber root_column[CKFP_JOIN_KEYS]; /* and the column of that table */
	int parameter;        /* the parameter by which its server asks; -1: it does not ask */
	Index scanned;        /* while planning: the relation of the scan; 0: it has several, */
	double read;          /* the rows that it reads, */
	double reading;       /* and what that costs, in ns per process; */
	ForeignScan *foreign; /* the target, if it is a foreign scan, */
	Oid declared;         /* the type that it declares for the first key, */
	int32 typmod;         /* and the modifier of that type */
} ckfp_join_target;

/* A key column of the join. */
typedef struct ckfp_join_column
{
	Oid equality;  /* the operator of the join */
	Oid collation; /* the collation of the comparison */
	Oid build;     /* the types of the two sides */
	Oid probe;
} ckfp_join_column;

/* What the planner pass tells the executor about a filter. */
typedef struct ckfp_join_record
{
	int columns;
	ckfp_join_column column[CKFP_JOIN_KEYS];
	List *targets;     /* of ckfp_join_target */
	double build_rows; /* estimates: rows of the build side, */
	double probe_rows; /* rows for which the scans ask, */
	double pass;       /* and the share of them that passes */
	double saving;     /* the saving if all of them are dropped, in ns per process */
	double asked;      /* lookups of each process; conditions of scans count as fractions of one */
	int partitions;    /* scans that may be skipped, since they read partitions; */
	bool scattered;    /* keys are spread over them by hash partitioning; */
	double read;       /* the rows that they read, */
	double skipping;   /* and the saving if all of them are skipped, in ns per process */
	bool first;        /* the build side is read before the first row of the probe side */
} ckfp_join_record;

/* Convert a record to a list, which a plan can contain, and back. */
List *ckfp_join_record_to_list(const ckfp_join_record *record);
void ckfp_join_record_from_list(List *list, ckfp_join_record *record);

/* Create a plan node above `child` that returns its rows unchanged; methods and private data are
 * missing. */
CustomScan *ckfp_join_make_node(Plan *child, int node);

/* Create the plan node between Hash and `child`, from a record and the expressions of the keys
 * of the build side. */
CustomScan *ckfp_join_make_build(Plan *child, int node, const ckfp_join_record *record,
								 List *expressions);

/* Is a plan node one of these? */
bool ckfp_join_is_build(const Plan *plan);

/* Is a plan node that of a nested loop's filter (nestloop_plan.h)? */
bool ckfp_join_is_nest(const Plan *plan);

/* Is a plan node one of ours? It returns the columns of its child. */
static inline bool
ckfp_join_is_ours(const Plan *plan)
{
	return ckfp_join_is_build(plan) || ckfp_join_is_nest(plan);
}

#pragma GCC visibility pop

#endif
