/*
 * paths.c - the hook of join paths: a hash join in place of nested loops over a BRIN index.
 *
 * A nested loop reads all of a BRIN index for each outer row. The planner prefers it to a hash join
 * that reads the whole table. With filters, the hash join reads only the blocks that can have a
 * key, with one search of the same index for each range of keys. So the hook puts that hash join in
 * the loop's place, at the loop's cost: the order of joins stays what it was.
 *
 * A hash join that is put here must be one whose scan skips blocks: otherwise it reads the whole
 * table. So the rules below refuse whatever blocks/index.c and plan/rules.c refuse.
 */
#include "join/blocks/blocks.h"
#include "join/hooks.h"
#include "join/plan/plan.h"

#include "access/brin.h"
#include "access/genam.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_am.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

static set_join_pathlist_hook_type ckfp_next_pathlist = NULL;

bool ckfp_join_took_place = false;

/* Blocks that the hash join reads, whatever the keys are, may cost such a part of the loop.
 * Estimates of the loop's cost are often much too high. */
#define CKFP_CHANGED_COST 0.02

/* ------------------------------------------------------------------ statement */

/* Does a query lock rows, or change them other than by INSERT? */
static bool
ckfp_query_locks(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		const Query *query = (const Query *)node;

		return (query->commandType != CMD_SELECT && query->commandType != CMD_INSERT) ||
			   query->rowMarks != NIL || query->hasModifyingCTE || query->hasRowSecurity ||
			   query_tree_walker((Query *)node, ckfp_query_locks, context, 0);
	}
	return expression_tree_walker(node, ckfp_query_locks, context);
}

static bool ckfp_is_correlated(PlannerInfo *root);

/* Is a parameter of a query set by the query around it, or by an InitPlan that depends on that? */
static bool
ckfp_has_outer_parameter(Node *node, void *context)
{
	const PlannerInfo *root = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *)node)->paramkind == PARAM_EXEC)
	{
		foreach_ptr (const SubPlan, initplan, root->init_plans)
			if (list_member_int(initplan->setParam, ((Param *)node)->paramid))
				return ckfp_is_correlated(list_nth(root->glob->subroots, initplan->plan_id - 1));
		return true;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *)node, ckfp_has_outer_parameter, context, 0);
	return expression_tree_walker(node, ckfp_has_outer_parameter, context);
}

/* Does a query depend on the query around it? */
static bool
ckfp_is_correlated(PlannerInfo *root)
{
	Index level;

	if (root->query_level == 1)
		return false;
	for (level = 1; level < root->query_level; level++)
		if (contain_vars_of_level((Node *)root->parse, level))
			return true;
	return ckfp_has_outer_parameter((Node *)root->parse, root);
}

/* May a filter be added to the joins of the statement that a query is part of? */
static bool
ckfp_statement_allows(PlannerInfo *root)
{
	const PlannerInfo *top = root;

	for (; top->parent_root != NULL; top = top->parent_root)
		if (top->wt_param_id >= 0)
			return false; /* a recursive query, which is run again with other rows */
	foreach_ptr (const PlannerInfo, subroot, root->glob->subroots)
		if (ckfp_query_locks((Node *)subroot->parse, NULL) ||
			contain_volatile_functions((Node *)subroot->parse))
			return false;
	/* On a standby a scan may skip blocks only while no transaction ends, see blocks/candidates.c
	 */
	return !IsolationIsSerializable() && !RecoveryInProgress() &&
		   !ckfp_query_locks((Node *)top->parse, NULL) &&
		   !contain_volatile_functions((Node *)root->parse) && !ckfp_is_correlated(root);
}

/* -------------------------------------------------------------------- clauses */

/* The clauses by which a hash join of two relations can be made. */
static List *
ckfp_hash_clauses(const RelOptInfo *fact, const RelOptInfo *other, List *restrictions)
{
	List *clauses = NIL;

	foreach_ptr (RestrictInfo, clause, restrictions)
		if (clause->can_join && OidIsValid(clause->hashjoinoperator) &&
			((bms_is_subset(clause->left_relids, fact->relids) &&
			  bms_is_subset(clause->right_relids, other->relids)) ||
			 (bms_is_subset(clause->right_relids, fact->relids) &&
			  bms_is_subset(clause->left_relids, other->relids))))
			clauses = lappend(clauses, clause);
	return clauses;
}

/* Does a clause compare column `n` of an index with a value of the other relation, by an equality
 * of the column's operator family? */
static bool
ckfp_clause_fits(const RestrictInfo *clause, const RelOptInfo *fact, const IndexOptInfo *index,
				 int n)
{
	const OpExpr *op = (const OpExpr *)clause->clause;
	bool left = bms_is_subset(clause->left_relids, fact->relids);
	Node *key = left ? linitial(op->args) : lsecond(op->args);
	Node *other = left ? lsecond(op->args) : linitial(op->args);
	Oid equality = left ? op->opno : get_commutator(op->opno);

	if (IsA(key, RelabelType))
		key = (Node *)((RelabelType *)key)->arg;
	/* Of other types only the least and the greatest key are kept: keys far apart would read all.
	 */
	return ckfp_type_is_integer(exprType(other)) && index->opfamily[n] < FirstNormalObjectId &&
		   IsA(key, Var) && ((Var *)key)->varattno > 0 &&
		   ((Var *)key)->varattno == index->indexkeys[n] && op_strict(equality) &&
		   get_op_opfamily_strategy(equality, index->opfamily[n]) == BTEqualStrategyNumber;
}

/* Is the other side of a clause a column? */
static bool
ckfp_other_is_column(const RestrictInfo *clause, const RelOptInfo *fact)
{
	const OpExpr *op = (const OpExpr *)clause->clause;
	Node *other =
		bms_is_subset(clause->left_relids, fact->relids) ? lsecond(op->args) : linitial(op->args);

	return IsA(strip_implicit_coercions(other), Var);
}

static double
ckfp_pages_per_range(Oid brin)
{
	Relation index = index_open(brin, NoLock); /* the planner has locked it */
	double pages = BrinGetPagesPerRange(index);

	index_close(index, NoLock);
	return pages;
}

/* Is a clause a condition of the index of a path? */
static bool
ckfp_index_has(const IndexPath *path, const RelOptInfo *fact, const RestrictInfo *clause)
{
	foreach_ptr (const IndexClause, condition, path->indexclauses)
		if (ckfp_clause_fits(clause, fact, path->indexinfo, condition->indexcol))
			return true;
	return false;
}

/* Does a path read a table by a BRIN index, with nothing but these clauses?  A hash join would
 * read more than a loop whose index has the conditions of the table itself. */
static bool
ckfp_reads_by_brin(const Path *path, const RelOptInfo *fact, const List *clauses)
{
	const IndexOptInfo *index;

	if (IsA(path, MemoizePath))
		path = ((const MemoizePath *)path)->subpath;
	if (IsA(path, BitmapHeapPath))
		path = ((const BitmapHeapPath *)path)->bitmapqual;
	if (!IsA(path, IndexPath))
		return false;
	index = ((const IndexPath *)path)->indexinfo;
	if (index->relam != BRIN_AM_OID || index->indpred != NIL ||
		!ckfp_brin_is_cheap(ckfp_pages_per_range(index->indexoid), fact->tuples, fact->pages))
		return false;
	foreach_ptr (const IndexClause, condition, ((const IndexPath *)path)->indexclauses)
	{
		bool fits = false;

		/* plan/rules.c uses an expression only as the first key */
		foreach_ptr (const RestrictInfo, clause, clauses)
			fits |= (clause == linitial(clauses) || ckfp_other_is_column(clause, fact)) &&
					ckfp_clause_fits(clause, fact, index, condition->indexcol);
		if (!fits)
			return false;
	}
	/* The loop tests the other clauses only for rows that the index finds; a hash join computes
	 * them for all rows of both sides. */
	foreach_ptr (const RestrictInfo, clause, clauses)
		if (!ckfp_index_has((const IndexPath *)path, fact, clause) &&
			ckfp_expression_may_fail((Node *)clause->clause, NULL))
			return false;
	return true;
}

/* -------------------------------------------------------------------- paths */

#if PG_VERSION_NUM >= 150000
#define CKFP_JOIN_PATH(path) (&((const NestPath *)(path))->jpath)
#else
#define CKFP_JOIN_PATH(path) ((const JoinPath *)(path))
#endif

/* Is a path one that the settings forbid? */
static bool
ckfp_is_disabled(const Path *path)
{
#if PG_VERSION_NUM >= 180000
	return path->disabled_nodes > 0;
#else
	return path->total_cost >= disable_cost;
#endif
}

/* The place of the cheapest nested loop that reads the fact by a BRIN index for each row of the
 * other relation, or NULL. One whose order is of use above stays if the other relation is a join:
 * a hash join has none, so that another order of joins could win. */
static ListCell *
ckfp_find_loop(const RelOptInfo *join, const RelOptInfo *fact, const RelOptInfo *other,
			   const List *clauses)
{
	ListCell *best = NULL;
	ListCell *cell;

	foreach (cell, join->pathlist)
	{
		const Path *path = lfirst(cell);
		const Path *inner;

		if (!IsA(path, NestPath) || path->param_info != NULL || ckfp_is_disabled(path))
			continue;
		inner = CKFP_JOIN_PATH(path)->innerjoinpath;
		if (inner->parent == fact && CKFP_JOIN_PATH(path)->outerjoinpath->parent == other &&
			inner->param_info != NULL && ckfp_reads_by_brin(inner, fact, clauses) &&
			(path->pathkeys == NIL || other->reloptkind == RELOPT_BASEREL) &&
			(best == NULL || path->total_cost < ((const Path *)lfirst(best))->total_cost))
			best = cell;
	}
	return best;
}

/* Are all rows of a loop read? Below a LIMIT perhaps not. The hash join reads its build side, and
 * the index for all keys, before its first row, so then the loop may cost less. Groups in the
 * loop's order do not change that: rows of groups that are not wanted need not be read. */
static bool
ckfp_is_read_whole(const PlannerInfo *root, const Path *loop)
{
	bool limit = root->tuple_fraction > 0;

	/* A CTE, or one of several tables, is planned as if all of it were read. */
	for (const PlannerInfo *top = root->parent_root; top != NULL; top = top->parent_root)
		limit |= top->parse->limitCount != NULL || top->tuple_fraction > 0;
	return !limit || (root->parse->hasAggs && root->parse->groupClause == NIL) ||
		   ((root->parse->hasAggs || root->query_pathkeys != NIL) &&
			loop->pathkeys == NIL); /* a Sort, or hashed groups, read all of it */
}

/* May a path return other rows when it is read again? Then plan/rules.c refuses the filter of a
 * join that may be. Only the simplest paths are known not to. */
static bool
ckfp_path_may_vary(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_Path:
			return path->pathtype != T_SeqScan && path->pathtype != T_ValuesScan;
		case T_IndexPath:
		case T_BitmapHeapPath:
			return false;
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			return ckfp_path_may_vary(CKFP_JOIN_PATH(path)->outerjoinpath) ||
				   ckfp_path_may_vary(CKFP_JOIN_PATH(path)->innerjoinpath);
		default:
			return true;
	}
}

/* May a join be below the inner side of a nested loop? Not if it joins all of the statement. */
static bool
ckfp_may_be_read_again(const PlannerInfo *root, const RelOptInfo *join)
{
	return root->parent_root != NULL || !bms_equal(join->relids, root->all_baserels);
}

/* The scan of the whole table. */
static Path *
ckfp_scan_path(PlannerInfo *root, RelOptInfo *fact)
{
#ifdef CKFP_CORE_FILTERS
	return create_seqscan_path(root, fact, NULL, 0, NIL);
#else
	return create_seqscan_path(root, fact, NULL, 0);
#endif
}

/* Do the blocks that the hash join reads in any case cost little beside the loop?  The visibility
 * map tells: what VACUUM has written into pg_class may be old. */
static bool
ckfp_changed_are_cheap(PlannerInfo *root, RelOptInfo *fact, const Path *loop)
{
	Relation table = table_open(planner_rt_fetch(fact->relid, root)->relid, NoLock);
	double share = ckfp_index_changed_blocks(table) / Max((double)fact->pages, 1);

	table_close(table, NoLock);
	return share * ckfp_scan_path(root, fact)->total_cost <= CKFP_CHANGED_COST * loop->total_cost;
}

/* The hash join, at the cost of the loop. */
static Path *
ckfp_hash_join(PlannerInfo *root, RelOptInfo *join, RelOptInfo *fact, Path *build,
			   const JoinPathExtraData *loop_extra, List *clauses, const Path *loop)
{
	JoinPathExtraData extra = *loop_extra;
	Path *scan = ckfp_scan_path(root, fact);
	JoinCostWorkspace workspace;
	HashPath *path;
	double share;

	extra.inner_unique = false; /* it was said of the loop's inner side, which is our outer side */
	initial_cost_hashjoin(root, &workspace, JOIN_INNER, clauses, scan, build, &extra, false);
	path = create_hashjoin_path(root, join, JOIN_INNER, &workspace, &extra, scan, build, false,
								extra.restrictlist, NULL, clauses);
	share = Min(loop->total_cost / path->jpath.path.total_cost, 1);
	/* The executor reads a row of the outer side first, unless its startup costs more than the
	 * build side. Before the keys are known, that row may be far. */
	scan->startup_cost = build->total_cost;
	scan->total_cost = scan->total_cost * share + build->total_cost;
	path->jpath.path.startup_cost = loop->startup_cost;
	path->jpath.path.total_cost = loop->total_cost;
	return &path->jpath.path;
}

/* May a scan of a relation skip blocks by a BRIN index and the keys of so many rows, as far as the
 * planner knows? As trace.c and blocks/index.c judge it. */
static bool
ckfp_is_fact(PlannerInfo *root, const RelOptInfo *rel, double build_rows)
{
	const RangeTblEntry *entry;
	FormData_pg_class class;
	bool brin = false;
	double read;

	if (rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION ||
		!bms_is_empty(rel->lateral_relids))
		return false;
	foreach_ptr (const IndexOptInfo, index, rel->indexlist)
		brin |= index->relam == BRIN_AM_OID;
	entry = planner_rt_fetch(rel->relid, root);
	if (!brin || entry->inh || entry->securityQuals != NIL || entry->tablesample != NULL ||
		!ckfp_read_class(entry->relid, &class) || class.relam != HEAP_TABLE_AM_OID)
		return false;
	read = Max(rel->rows, class.reltuples);
	return read >= ckfp_join_min_rows &&
		   (ckfp_join_mode_setting != CKFP_JOIN_AUTO || build_rows <= read / CKFP_KEYS_SHARE);
}

/* Offer a hash join in place of the loops that have `fact` as their inner side. */
static pg_noinline void
ckfp_offer_hash_join(PlannerInfo *root, RelOptInfo *join, RelOptInfo *other, RelOptInfo *fact,
					 JoinType type, JoinPathExtraData *extra)
{
	Path *build = other->cheapest_total_path;
	List *clauses;
	ListCell *loop;

	if (ckfp_next_pathlist != NULL)
		ckfp_next_pathlist(root, join, other, fact, type, extra);
	if (!enable_hashjoin || !enable_seqscan || !enable_bitmapscan ||
		!bms_is_empty(join->lateral_relids) || build == NULL || build->param_info != NULL ||
		!ckfp_is_fact(root, fact, build->rows) || root->qual_security_level > 0 ||
		(ckfp_may_be_read_again(root, join) &&
		 (root->parse->hasSubLinks || ckfp_path_may_vary(build))))
		return;
	clauses = ckfp_hash_clauses(fact, other, extra->restrictlist);
	loop = clauses == NIL ? NULL : ckfp_find_loop(join, fact, other, clauses);
	/* The loop computes conditions and columns of the fact only for rows that have a match. */
	if (loop != NULL && ckfp_is_read_whole(root, lfirst(loop)) && ckfp_statement_allows(root) &&
		!ckfp_expression_may_fail((Node *)extract_actual_clauses(fact->baserestrictinfo, false),
								  NULL) &&
		!ckfp_expression_may_fail((Node *)fact->reltarget->exprs, NULL) &&
		ckfp_changed_are_cheap(root, fact, lfirst(loop))) /* last: it reads a page a 256 MB */
	{
		lfirst(loop) = ckfp_hash_join(root, join, fact, build, extra, clauses, lfirst(loop));
		ckfp_join_took_place = true;
	}
}

/* The loops of this call have `fact` as their inner side. Each pair of tables that a query joins
 * comes here: nearly all go at once. */
static void
ckfp_join_paths(PlannerInfo *root, RelOptInfo *join, RelOptInfo *other, RelOptInfo *fact,
				JoinType type, JoinPathExtraData *extra)
{
	if (ckfp_join_mode_setting != CKFP_JOIN_OFF && ckfp_join_blocks && type == JOIN_INNER &&
		fact->tuples >= ckfp_join_min_rows)
		ckfp_offer_hash_join(root, join, other, fact, type, extra);
	else if (ckfp_next_pathlist != NULL)
		ckfp_next_pathlist(root, join, other, fact, type, extra);
}

void
ckfp_join_need_paths(void)
{
	static bool installed = false;

	if (!installed)
	{
		ckfp_next_pathlist = set_join_pathlist_hook;
		set_join_pathlist_hook = ckfp_join_paths;
	}
	installed = true;
}
