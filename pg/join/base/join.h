/*
 * join.h - what the modules of the join filters share: settings, plan nodes, costs.
 *
 * A hash join adds its keys to a filter while it reads its small side, the build side. The scan of
 * its large side, the probe side, uses the filter for each row. ../README.md draws the modules.
 */
#ifndef CKFP_JOIN_H
#define CKFP_JOIN_H

#include "host.h"

#include "access/attnum.h"
#include "catalog/pg_class.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
#include "storage/block.h"

/* A loop over a list of pointers, which PostgreSQL has from 17 on. */
#if PG_VERSION_NUM < 170000
#define foreach_ptr(type, pointer, list)                                                           \
	for (type *pointer = NULL, *pointer##_begun = NULL; pointer##_begun == NULL;                   \
		 pointer##_begun = (type *)1)                                                              \
		for (ForEachState pointer##_at = {(list), 0};                                              \
			 pointer##_at.i < list_length(pointer##_at.l) &&                                       \
			 (pointer = list_nth(pointer##_at.l, pointer##_at.i), true);                           \
			 pointer##_at.i++)
#endif

/* A bit of an array of bytes. */
#define CKFP_BIT(bits, number) ((bits)[(number) / 8] & (1 << (number) % 8))
#define CKFP_SET_BIT(bits, number) ((bits)[(number) / 8] |= (uint8)(1 << (number) % 8))

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
extern bool ckfp_join_blocks;

/* Define the settings: when the library is loaded. */
void ckfp_join_init_settings(void);

/* ------------------------------------------------------------------ plans */

/* Can a statement contain a join? A join has two range table entries at least. */
static inline bool
ckfp_join_is_possible(const PlannedStmt *statement)
{
	return list_length(statement->rtable) > 1;
}

/* An expression without the relabeling of its type. */
static inline Expr *
ckfp_without_relabeling(Expr *expression)
{
	while (IsA(expression, RelabelType))
		expression = ((RelabelType *)expression)->arg;
	return expression;
}

/* What a cached plan depends on. */
typedef enum ckfp_mark
{
	CKFP_MARK_JOIN, /* on the settings that switch filters on and off */
	CKFP_MARK_LOOP  /* on these settings and the isolation level, which is not SERIALIZABLE: a hash
					 * join may have taken the place of a nested loop */
} ckfp_mark;

void ckfp_mark_plan(PlannedStmt *statement, ckfp_mark mark);
bool ckfp_plan_has_mark(const PlannedStmt *statement, ckfp_mark mark);

/* Let the cached plans with a mark be made again when they are used next. Raises no error. */
void ckfp_forget_plans(ckfp_mark mark);

/* The largest number of indexes by which the blocks of a table are skipped. */
#define CKFP_JOIN_INDEXES 4

/* An index of a scanned table that has a key of the join as a column. */
typedef struct ckfp_join_index
{
	Oid oid;
	AttrNumber column; /* of the index */
	int key;           /* the number of the key */
	Oid less;          /* the operator "<" of the index for keys of the build side */
	Oid collation;     /* the collation of that operator */
} ckfp_join_index;

/* A scan that uses a filter. */
typedef struct ckfp_join_target
{
	int node;                             /* plan_node_id */
	AttrNumber attribute[CKFP_JOIN_KEYS]; /* the columns of the scan's tuple that are the key */
	Index relation[CKFP_JOIN_KEYS];       /* the range table entry of each key, or 0 */
	AttrNumber column[CKFP_JOIN_KEYS];    /* the column of `relation` that each key is, or 0 */
	bool partition;                       /* the scan reads a partition that may have no key */
	/* the table that the relation is a partition or a child of, or 0; and the columns of it */
	Index root;
	AttrNumber root_column[CKFP_JOIN_KEYS];
	int parameter;       /* by which a foreign server gets the filter; -1: it does not get it */
	bool stops;          /* a node above the scan may stop before it has returned all rows */
	BlockNumber changed; /* the plan expects at most so many blocks that the index may lack rows of;
						  * if there are more, it is made again */
	int indexes;         /* the number of indexes by which the scan can skip blocks */
	ckfp_join_index index[CKFP_JOIN_INDEXES];
	/* only while planning: */
	Index scanned;        /* the relation of the scan; 0: it has several */
	double read;          /* the rows that the scan reads */
	double reading;       /* the cost of reading them, in ns per process */
	bool skips;           /* it is of a kind that can skip blocks */
	bool condition;       /* and has a condition, perhaps by an index */
	IndexScan *unordered; /* it can only as a Bitmap Heap Scan; or NULL */
	ForeignScan *foreign; /* the target, if it is a foreign scan */
	Oid declared;         /* the type that the scan declares for the first key; of a domain, the
						   * base type */
	int32 typmod;         /* the modifier of the declared type */
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
	double build_rows; /* the estimated rows of the build side */
	double builders;   /* the processes that share the build side, and build one filter */
	double probe_rows; /* the estimated rows that the scans test */
	double pass;       /* the share of probe_rows that passes */
	double saving;     /* the saving if all probe_rows are dropped, in ns per process */
	double lookups;    /* lookups of each process; other costs of a row count as fractions of one */
	int partitions;    /* the number of scans of partitions, which may be skipped */
	int levels;        /* the largest number of partitioned tables above such a scan */
	bool scattered;    /* hash partitioning spreads the keys over these scans */
	double read;       /* the rows that these scans read */
	double skipping;   /* the saving if all these scans are skipped, in ns per process */
	bool first;        /* the build side is read before the first row of the probe side */
	/* If the build side is read first where that is cheap beside the scans: the number of
	 * processes that share the scans; else 0. */
	double first_if_cheap;
	double block_rows; /* the rows of scans that can skip blocks */
	double reading;    /* the saving if they skip all blocks, in ns per process */
	Oid unfit;   /* an index of a key that lacks the equality of the join, if no other is of use */
	bool blocks; /* scans may skip blocks */
	bool no_filter; /* there is no filter, only ranges: it is not expected to pay, or `mapped` */
	bool replaces_brin_loop; /* the join is in the place of a nested loop over BRIN */
	bool mapped; /* the key of the probe side is a monotone function of a column (monotone.h) */
	/* of `mapped`, by ckfp_monotone_note(): */
	ckfp_join_column source; /* the column, which scans compare with ranges */
	int days;                /* the function falls again within so many days */
	bool session;            /* the function depends on the time zone of the session */
	/* of a nested loop: */
	AttrNumber attribute[CKFP_JOIN_KEYS]; /* the columns of the outer rows that are the key */
	bool stops;                           /* a node above may stop before it has read all rows */
	bool skips_lookups; /* LEFT or ANTI: the filter drops no rows, it answers lookups */
	List *targets;      /* of ckfp_join_target; the last member (record.c) */
} ckfp_join_record;

/* What scans compare for key i. */
static inline const ckfp_join_column *
ckfp_record_column(const ckfp_join_record *record, int i)
{
	return record->mapped ? &record->source : &record->column[i];
}

/* Convert a record to a list, which a plan can contain, and back. */
List *ckfp_record_to_list(const ckfp_join_record *record);
void ckfp_record_from_list(List *list, ckfp_join_record *record);

/* The methods of the plan nodes. The executor's side of each sets what is missing. */
#define CKFP_BUILD_NAME "Cuckoo Join Filter"
#define CKFP_NEST_NAME "Cuckoo Nested Loop Filter"
extern CustomScanMethods ckfp_build_methods;
extern CustomScanMethods ckfp_nest_methods;

/* Create a plan node above `child` that returns its rows unchanged; methods and private data are
 * missing. */
CustomScan *ckfp_join_make_node(Plan *child, int node);

/* Is a plan node one of these? */
bool ckfp_join_is_build(const Plan *plan);

/* Is a plan node that of a nested loop's filter? */
bool ckfp_join_is_nest(const Plan *plan);

/* Is a plan node one of ours? It returns the columns of its child. */
static inline bool
ckfp_join_is_ours(const Plan *plan)
{
	return ckfp_join_is_build(plan) || ckfp_join_is_nest(plan);
}

/* --------------------------------------------------------------------------------- catalogs */

/* The tables of a statement, and what is known of all of them. A statement can read thousands, so
 * this is found once, when it is first needed. At first each member but `statement` is 0. */
typedef struct ckfp_tables
{
	const PlannedStmt *statement;
	bool has_barrier;        /* the statement has a security barrier */
	bool policies_known;     /* `policies` is known */
	bool policies;           /* a table has row security */
	AppendRelInfo **parents; /* by the range table entry of the child; NULL: not known yet */
} ckfp_tables;

/* Can a table of the statement have rows that the user must not know of? */
bool ckfp_tables_hide_rows(ckfp_tables *tables);

/* How a relation is a partition or child of another table; NULL: it is none. */
const AppendRelInfo *ckfp_parent_of(ckfp_tables *tables, Index relation);

/* Do two collations have the same equality? */
bool ckfp_collations_agree(Oid one, Oid other);

/* Copy the row of a relation in pg_class. False if there is none. */
bool ckfp_read_class(Oid relation, FormData_pg_class *class);

/* The open table of a range table entry of a query that runs. */
Relation ckfp_open_relation(EState *estate, Index relation);

/* Has a table row security? Perhaps, if it is unknown. */
bool ckfp_has_policies(Oid relation);

/* ---------------------------------------------------------------------------------- costs */

/* The cost of a lookup in a filter within the cache, in ns. */
#define CKFP_LOOKUP_NS 15.0

/* With a filter, the evaluation of the scan's own condition takes a longer path. This is its
 * cost per row, as a fraction of a lookup in a filter. */
#define CKFP_CONDITION_LOOKUPS 0.1

/* The cost of a row in a node above the scan, in ns: if it sorts or groups, or if it joins. */
#define CKFP_GROUP_NS 200.0
double ckfp_cost_of_join(const Join *join);

/* The rows of a hash table, which processes may share. */
double ckfp_hash_rows(const Hash *hash);

/* The cost of returning a row from a scan, in ns, without the cost of testing it there. */
double ckfp_cost_of_scan(const Plan *plan);

/* The cost of reading a row in a scan, in ns, which a scan that is skipped saves. */
double ckfp_cost_of_reading(const Plan *plan);

/* The cost of reaching the columns of a key in a row of a scan, in ns. The scan's own condition has
 * reached some columns already. */
double ckfp_cost_of_reaching(const Plan *scan, const AttrNumber *columns, int n);

/* What a filter costs for each row that it drops, in ns: a scan uses its filters in this order. */
double ckfp_cost_of_drop(const ckfp_join_record *record, const Plan *scan,
						 const AttrNumber *columns);

/* How many keys are worth mapping to their partitions, by some bounds, for each scan that this may
 * save? `share` is the share of the scans whose partitions have these bounds. */
double ckfp_cost_of_keys(const ckfp_join_record *record, double share);

/* How often may the function of a column be called to map keys, if so large a share of the rows is
 * between the ranges? */
double ckfp_cost_of_calls(const ckfp_join_record *record, double share);

/* Is all that a filter can save too little for the price of preparing one, as a LIMIT is expected
 * to stop the scans after this share of their rows? Their indexes need not be known. */
bool ckfp_cost_is_small(const ckfp_join_record *record, double share);

/* Is it worth gathering keys for ranges of the column that they are a function of? */
bool ckfp_cost_ranges_pay(const ckfp_join_record *record);

/* Does the memory of a filter suffice to gather this number of keys? */
bool ckfp_cost_fits(double keys);

/* Does a filter with this number of keys, those of all its builders, pay, if they fit the memory?
 * If there are more keys than estimated, more rows pass, too. */
bool ckfp_cost_pays(const ckfp_join_record *record, double keys);

#endif
