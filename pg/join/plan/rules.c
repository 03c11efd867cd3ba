/*
 * rules.c - which joins may have a filter.
 *
 * A filter must never change the result of a query. For each rule below, the tests have a query
 * whose result would change without the rule.
 */
#include "join/base/monotone.h"
#include "join/blocks/blocks.h"
#include "join/partition/partition.h"
#include "join/plan/plan.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* -------------------------------------------------------------- the statement */

/*
 * Statements that lock or change rows may check a row again in its latest version (EvalPlanQual).
 * That version may have a key that was added later and is not in a filter.
 */
bool
ckfp_rules_allow_statement(const PlannedStmt *statement)
{
	return (statement->commandType == CMD_SELECT || statement->commandType == CMD_INSERT) &&
		   statement->rowMarks == NIL && !statement->hasModifyingCTE;
}

/* --------------------------------------------------------------- its parameters */

/*
 * Note a plan node, and the parameters that it sets and that are harmless.
 *
 * The rows of a build side that depends on a parameter change with the parameter, and a scan may
 * run before the filter is built again. These parameters are harmless:
 * - that of a Gather: it only says that the children start again, with the same rows;
 * - that of a ModifyTable: it is for EvalPlanQual, which an INSERT does not use;
 * - the result of an InitPlan that depends on no parameter itself: it is computed once. So is a
 *   CTE, which is an InitPlan, too.
 */
void
ckfp_rules_note(ckfp_rules *rules, const Plan *plan)
{
	int parameter = -1;

	if (IsA(plan, Gather))
		parameter = ((const Gather *)plan)->rescan_param;
	else if (IsA(plan, GatherMerge))
		parameter = ((const GatherMerge *)plan)->rescan_param;
	else if (IsA(plan, ModifyTable) && ((const ModifyTable *)plan)->operation == CMD_INSERT)
		parameter = ((const ModifyTable *)plan)->epqParam;
	if (parameter >= 0)
		rules->harmless = bms_add_member(rules->harmless, parameter);
	rules->statement.initplans = list_concat(rules->statement.initplans, plan->initPlan);
}

void
ckfp_rules_conclude(ckfp_rules *rules)
{
	ListCell *parameter;

	foreach_ptr (SubPlan, initplan, rules->statement.initplans)
	{
		Plan *plan = list_nth(rules->statement.plan->subplans, initplan->plan_id - 1);

		if (plan == NULL || !bms_is_empty(plan->extParam))
			continue;
		rules->once = bms_add_member(rules->once, initplan->plan_id);
		foreach (parameter, initplan->setParam)
			rules->harmless = bms_add_member(rules->harmless, lfirst_int(parameter));
	}
	foreach_ptr (RangeTblEntry, entry, rules->statement.plan->rtable)
		rules->tables.has_barrier |= entry->security_barrier;
}

/* ------------------------------------------------------------------- the join */

/* Does a join of this type drop the rows of the outer side that have no match? */
static bool
ckfp_join_drops_unmatched_rows(JoinType type)
{
	switch (type)
	{
		case JOIN_INNER:
		case JOIN_SEMI:
		case JOIN_RIGHT:
#if PG_VERSION_NUM >= 160000
		case JOIN_RIGHT_ANTI:
#endif
#if PG_VERSION_NUM >= 180000
		case JOIN_RIGHT_SEMI:
#endif
			return true;
		default:
			return false;
	}
}

static bool
ckfp_any_plan_is_volatile(const ckfp_statement *statement)
{
	if (ckfp_plan_is_volatile(statement->plan->planTree, statement))
		return true;
	foreach_ptr (Plan, subplan, statement->plan->subplans)
		if (subplan != NULL && ckfp_plan_is_volatile(subplan, statement))
			return true;
	return false;
}

bool
ckfp_rules_is_volatile(ckfp_rules *rules, Plan *plan)
{
	if (!rules->volatile_known)
		rules->is_volatile = ckfp_any_plan_is_volatile(&rules->statement);
	rules->volatile_known = true;
	return rules->is_volatile && ckfp_plan_is_volatile(plan, &rules->statement);
}

/* Is everything below the join without effects that show how often it was computed? The join
 * computes its own keys also for rows that it drops. */
static bool
ckfp_sides_are_stable(ckfp_rules *rules, HashJoin *join)
{
	return !ckfp_expression_is_volatile((Node *)join->hashclauses, &rules->statement) &&
		   !ckfp_rules_is_volatile(rules, innerPlan(join)) &&
		   !ckfp_rules_is_volatile(rules, outerPlan(join));
}

/*
 * May a row that a filter drops have a match in another reading of the build side? A node of the
 * probe side may keep rows while the join is read again: a sort, a hash table. In a parallel plan
 * each process reads a build side that is not shared, and a shared hash table of the probe side
 * hands rows from one process to another.
 */
static bool
ckfp_build_varies(const ckfp_rules *rules, HashJoin *join, const ckfp_trace *trace)
{
	return (rules->again || (trace->shared && !innerPlan(join)->parallel_aware)) &&
		   ckfp_plan_varies(innerPlan(join), &rules->statement);
}

/* Can key n of the join be a key of a filter? Its outer side must be a column, or, if it is
 * `mapped`, a function of one; which, the trace finds out. Its inner side
 * may be an expression only in the first key, which the join evaluates for each row, too. After
 * a key that is NULL, the join does not evaluate the others. */
static bool
ckfp_key_is_usable(HashJoin *join, int n, bool mapped)
{
	ckfp_monotone monotone;
	Expr *outer = list_nth(join->hashkeys, n);
	Expr *inner = list_nth(castNode(Hash, innerPlan(join))->hashkeys, n);

	return (mapped ? ckfp_monotone_of(outer, OUTER_VAR, &monotone) &&
						 ckfp_monotone_is_key(list_nth_oid(join->hashoperators, n))
				   : ckfp_column_of(outer, OUTER_VAR) != 0) &&
		   op_strict(list_nth_oid(join->hashoperators, n)) &&
		   (ckfp_column_of(inner, OUTER_VAR) != 0 || (n == 0 && !contain_subplans((Node *)inner)));
}

/* Trace a filter with some keys of a join, given by their numbers. True if a scan can use it. */
static bool
ckfp_trace_keys(const ckfp_rules *rules, HashJoin *join, const List *keys, bool mapped,
				ckfp_trace *trace)
{
	ckfp_join_record *record = trace->record;
	AttrNumber columns[CKFP_JOIN_KEYS];
	ListCell *cell;

	memset(record, 0, sizeof(*record));
	*trace = (ckfp_trace){.rules = rules, .record = record, .loops = 1};
	foreach (cell, keys)
	{
		int n = lfirst_int(cell);
		Expr *outer = list_nth(join->hashkeys, n);
		Expr *inner = list_nth(castNode(Hash, innerPlan(join))->hashkeys, n);

		columns[record->columns] = mapped ? ckfp_trace_function(trace, outer, OUTER_VAR)
										  : ckfp_column_of(outer, OUTER_VAR);
		record->column[record->columns++] = (ckfp_join_column){
			.equality = list_nth_oid(join->hashoperators, n),
			.collation = list_nth_oid(join->hashcollations, n),
			.build = exprType((Node *)inner),
			.probe = exprType((Node *)outer),
		};
	}
	ckfp_trace_columns(trace, outerPlan(join), columns, ckfp_cost_of_join(&join->join));
	return record->targets != NIL;
}

/* The numbers of the keys of a filter that some scan can use: all usable keys, or else the first
 * one that a scan can use alone, or the first one that is a function of a column of a scan: only
 * such a one, if `mapped`. */
static List *
ckfp_choose_keys(const ckfp_rules *rules, HashJoin *join, bool mapped, ckfp_trace *trace)
{
	List *all = NIL;
	ListCell *cell;

	for (int n = 0; n < list_length(join->hashkeys) && list_length(all) < CKFP_JOIN_KEYS && !mapped;
		 n++)
		if (ckfp_key_is_usable(join, n, false))
			all = lappend_int(all, n);
	if (all != NIL && ckfp_trace_keys(rules, join, all, false, trace))
		return all;
	foreach (cell, all)
	{
		List *one = list_make1_int(lfirst_int(cell));

		if (ckfp_trace_keys(rules, join, one, false, trace))
			return one;
	}
	for (int n = 0; n < list_length(join->hashkeys); n++)
		if (ckfp_key_is_usable(join, n, true) &&
			ckfp_trace_keys(rules, join, list_make1_int(n), true, trace))
			return list_make1_int(n);
	return NIL;
}

static List *
ckfp_key_expressions(HashJoin *join, const List *keys)
{
	List *build = NIL;
	List *probe = NIL;
	ListCell *cell;

	foreach (cell, keys)
	{
		build = lappend(build, copyObject(list_nth(castNode(Hash, innerPlan(join))->hashkeys,
												   lfirst_int(cell))));
		probe = lappend(probe, copyObject(list_nth(join->hashkeys, lfirst_int(cell))));
	}
	return list_concat(build, probe);
}

/* The share of the rows of the scans that are read, if a LIMIT stops them early. */
static double
ckfp_share_read(const ckfp_rules *rules, const ckfp_join_record *record)
{
	foreach_ptr (const ckfp_join_target, target, record->targets)
		if (!target->stops)
			return 1;
	return rules->share;
}

static void
ckfp_estimate(ckfp_rules *rules, HashJoin *join, const ckfp_trace *trace)
{
	ckfp_join_record *record = trace->record;
	double outer_rows = Max(outerPlan(join)->plan_rows, 1);
	/* the share of rows that never reach the join, which would reach the key, too */
	double dropped = Max(1 - outer_rows / Max(trace->rows, 1), 0);
	double share = ckfp_share_read(rules, record);

	record->build_rows = ckfp_hash_rows((Hash *)innerPlan(join));
	record->builders = innerPlan(join)->parallel_aware ? rules->processes : 1;
	record->probe_rows = trace->rows * rules->processes;
	record->pass = Min(join->join.plan.plan_rows / outer_rows, 1);
	record->saving = trace->saving * share;
	/* paths.c gives the scan such a startup cost; that of other sequential scans is less */
	record->replaces_brin_loop =
		IsA(outerPlan(join), SeqScan) &&
		outerPlan(join)->startup_cost >= outerPlan(innerPlan(join))->total_cost;
	record->lookups = (trace->rows + trace->conditions * CKFP_CONDITION_LOOKUPS +
					   trace->reaching * dropped / CKFP_LOOKUP_NS) *
					  share;
	ckfp_tree_note(&rules->tables, record);
	record->skipping *= share;
	record->read *= rules->processes;
}

/* Does PostgreSQL have a filter of its own for a join? */
static bool
ckfp_core_has_filter(const HashJoin *join)
{
#ifdef CKFP_CORE_FILTERS
	return join->bloom_consumer_count > 0;
#else
	return false;
#endif
}

/* The reason why a filter is of no use, or not expected to pay; or NULL. `small`: by
 * ckfp_cost_is_small(). */
static const char *
ckfp_poor_estimate(const HashJoin *join, const ckfp_join_record *record, bool small)
{
	double rows = Max(record->probe_rows, record->read);

	if (ckfp_core_has_filter(join))
		return "PostgreSQL has a filter of its own for it";
	if (rows < ckfp_join_min_rows)
		return innerPlan(join)->plan_rows > Max(outerPlan(join)->plan_rows, ckfp_join_min_rows)
				   ? "the larger side is hashed, and fewer rows of the other one are expected than "
					 "cuckoofilter.join_filter_min_rows"
				   : "fewer rows are expected than cuckoofilter.join_filter_min_rows";
	if (ckfp_join_mode_setting != CKFP_JOIN_AUTO)
		return NULL;
	if (small)
		return "it is not expected to pay";
	if (record->mapped && record->build_rows <= rows / CKFP_KEYS_SHARE)
		return ckfp_cost_ranges_pay(record) ? NULL : "it is not expected to pay";
	if (record->pass > ckfp_join_max_pass)
		return "more rows are expected to pass than cuckoofilter.join_filter_max_pass";
	if (!ckfp_cost_pays(record, record->build_rows))
		return "it is not expected to pay";
	return ckfp_cost_fits(record->build_rows)
			   ? NULL
			   : "its keys are expected to exceed cuckoofilter.join_filter_memory";
}

#define CKFP_RECURSE (PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS)

/* Is the side that is hashed expected to be the larger one? */
static bool
ckfp_hashes_larger_side(const HashJoin *join)
{
	return innerPlan(join)->plan_rows > outerPlan(join)->plan_rows;
}

/* The first key of a join that is an expression of one column, but not one that keys can be mapped
 * back by; or NULL. */
static Expr *
ckfp_unmapped_key(const HashJoin *join)
{
	for (int n = 0; n < list_length(join->hashkeys); n++)
	{
		Expr *key = list_nth(join->hashkeys, n);
		ckfp_monotone monotone;

		if (ckfp_column_of(key, OUTER_VAR) == 0 &&
			list_length(pull_var_clause((Node *)key, CKFP_RECURSE)) == 1 &&
			!(ckfp_monotone_is_key(list_nth_oid(join->hashoperators, n)) &&
			  ckfp_monotone_of(key, OUTER_VAR, &monotone)))
			return key;
	}
	return NULL;
}

/* The reason why a join has no key that a filter could have. */
static const char *
ckfp_no_key(ckfp_rules *rules, const HashJoin *join, const ckfp_trace *trace)
{
	if (!ckfp_hashes_larger_side(join))
	{
		rules->unmapped = ckfp_unmapped_key(join);
		if (rules->unmapped != NULL)
			return "the key is an expression that cannot be mapped to its column";
		if (trace->gathers)
			return "parallel workers read the large side, and they do not have the hash table";
		return trace->waits
				   ? "the key depends on the time zone, and a node below the join may keep rows"
				   : "no key is a plain column of a scan of the large side";
	}
	foreach_ptr (Expr, key, join->hashkeys)
		if (ckfp_column_of(key, OUTER_VAR) == 0)
			return "the larger side is hashed: CREATE STATISTICS ON the expression of the other "
				   "side";
	return "the larger side is hashed, and no key is a plain column of a scan of the other one";
}

const char *
ckfp_rules_unhashable(const List *conditions, bool all)
{
	const char *reason = NULL;

	foreach_ptr (OpExpr, condition, conditions)
	{
		Oid left;
		Oid right;

		if (!IsA(condition, OpExpr) || get_mergejoin_opfamilies(condition->opno) == NIL)
			continue; /* no equality */
		if (op_hashjoinable(condition->opno, exprType(linitial(condition->args))))
		{
			if (all)
				return NULL;
			continue;
		}
		op_input_types(condition->opno, &left, &right);
		reason = psprintf("PostgreSQL cannot hash %s = %s: cast the small side%s",
						  format_type_be(left), format_type_be(right),
						  left == DATEOID || right == DATEOID
							  ? ", or the timestamp to date to join by the day"
							  : "");
	}
	return reason;
}

List *
ckfp_rules_allow(ckfp_rules *rules, HashJoin *join, bool mapped, ckfp_join_record *record,
				 const char **reason)
{
	ckfp_trace trace = {.record = record};
	List *keys;
	bool small;

	*reason = NULL;
	rules->unmapped = NULL;
	if (!ckfp_join_drops_unmatched_rows(join->join.jointype))
		*reason =
			ckfp_hashes_larger_side(join)
				? "the larger side is hashed, and rows of the other one without a match are in "
				  "the result"
				: "rows of the large side without a match are in the result";
	else if (!bms_is_subset(innerPlan(join)->extParam, rules->harmless))
		*reason = "the hashed side is read again with other parameters";
	if (*reason != NULL)
		return NIL;
	keys = ckfp_choose_keys(rules, join, mapped, &trace);
	if (keys == NIL)
	{
		*reason = ckfp_no_key(rules, join, &trace);
		return NIL;
	}
	ckfp_estimate(rules, join, &trace);
	small = ckfp_cost_is_small(record, ckfp_share_read(rules, record));
	if (!small)
		ckfp_index_plan(&rules->tables, rules->processes, record);
	record->reading *= ckfp_share_read(rules, record);
	record->no_filter = record->mapped;
	*reason = ckfp_poor_estimate(join, record, small);
	if (*reason != NULL && record->blocks && (!record->mapped || ckfp_cost_ranges_pay(record)))
	{
		record->no_filter = true; /* they cost next to nothing */
		*reason = NULL;
	}
	/* what is skipped would tell of the results of functions for hidden rows */
	if (*reason == NULL && record->mapped && ckfp_tables_hide_rows(&rules->tables) &&
		contain_leaked_vars((Node *)ckfp_monotone_apply(trace.mapped, 1, 1)))
		*reason = "row security or a security barrier may hide rows";
	/* last, because they walk most of the plan */
	if (*reason == NULL && !ckfp_sides_are_stable(rules, join))
		*reason = "one side of the join has a volatile function";
	if (*reason == NULL && ckfp_build_varies(rules, join, &trace))
		*reason = "the hashed side may have other rows each time it is read";
	if (*reason != NULL)
		return NIL;
	keys = ckfp_key_expressions(join, keys);
	return record->mapped ? lappend(keys, trace.mapped) : keys;
}
