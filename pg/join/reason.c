/*
 * reason.c - EXPLAIN names the reason why a join has no filter.
 *
 * EXPLAIN of the text format ends with a line for each join with a condition but without a filter.
 * The planner pass knows the reasons. It notes them only while EXPLAIN plans a query.
 */
#include "join/hooks.h"
#include "join/nestloop/nestloop.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "tcop/tcopprot.h"
#include "utils/ruleutils.h"

static ExplainOneQuery_hook_type ckfp_next_explain = NULL;

typedef struct ckfp_reason
{
	PlannedStmt *statement;
	Join *join;
	const char *text;
} ckfp_reason;

struct ckfp_reasons
{
	List *list; /* of ckfp_reason */
	MemoryContext context;
};

ckfp_reasons *ckfp_collecting = NULL;

/* Is a join a nested loop without a condition? */
static bool
ckfp_join_is_product(const Join *join)
{
	return IsA(join, NestLoop) && join->joinqual == NIL && ((NestLoop *)join)->nestParams == NIL;
}

void
ckfp_reason_note(PlannedStmt *statement, Join *join, const char *reason)
{
	MemoryContext caller;
	ckfp_reason *note;

	if (ckfp_collecting == NULL || ckfp_join_is_product(join))
		return;
	caller = MemoryContextSwitchTo(ckfp_collecting->context);
	note = palloc(sizeof(*note));
	*note = (ckfp_reason){statement, join, reason};
	ckfp_collecting->list = lappend(ckfp_collecting->list, note);
	MemoryContextSwitchTo(caller);
}

/* ---------------------------------------------------------------------- the text */

/* The search for a join in a plan. */
typedef struct ckfp_search
{
	const Plan *join;
	List *above; /* the nodes above the current one, the nearest first */
	bool found;
} ckfp_search;

static void
ckfp_search_below(Plan *plan, void *context)
{
	ckfp_search *search = context;

	if (search->found)
		return;
	if (plan == search->join)
	{
		search->found = true;
		return;
	}
	search->above = lcons(plan, search->above);
	ckfp_plan_children(plan, ckfp_search_below, search);
	if (!search->found)
		search->above = list_delete_first(search->above);
}

/* The nodes above a join, the nearest first. The columns of a recursive query's own rows are those
 * of its RecursiveUnion, which is one of them. */
static List *
ckfp_nodes_above(const ckfp_reason *reason)
{
	ckfp_search search = {.join = &reason->join->plan};

	ckfp_search_below(reason->statement->planTree, &search);
	foreach_ptr (Plan, subplan, reason->statement->subplans)
		if (subplan != NULL)
			ckfp_search_below(subplan, &search);
	return search.above;
}

/* The text of expressions of a plan node, which has the other nodes above it. */
static char *
ckfp_text_of(const ckfp_reason *reason, Plan *plan, List *above, Node *expressions)
{
	List *rtable = reason->statement->rtable;
	Bitmapset *all = bms_add_range(NULL, 1, list_length(rtable));
	List *names = select_rtable_names_for_explain(rtable, all);
	List *context = deparse_context_for_plan_tree(reason->statement, names);

	context = set_deparse_context_plan(context, plan, above);
	return deparse_expression(expressions, context, list_length(rtable) > 1, false);
}

/* The columns of the outer side that the inner side of a nested loop depends on. */
static char *
ckfp_lookup_text(const ckfp_reason *reason, List *above)
{
	List *columns = NIL;

	foreach_ptr (NestLoopParam, param, ((NestLoop *)reason->join)->nestParams)
		columns = lappend(columns, param->paramval);
	return psprintf("lookups of %s",
					ckfp_text_of(reason, &reason->join->plan, above, (Node *)columns));
}

/* The condition of a join as EXPLAIN shows it. That of a nested loop is often in its inner side. */
static char *
ckfp_condition_text(const ckfp_reason *reason)
{
	Plan *plan = &reason->join->plan;
	List *above = ckfp_nodes_above(reason);
	List *clauses;

	if (IsA(plan, HashJoin))
		clauses = ((HashJoin *)plan)->hashclauses;
	else if (IsA(plan, MergeJoin))
		clauses = ((MergeJoin *)plan)->mergeclauses;
	else
	{
		Plan *inner = innerPlan(plan);
		Plan *scan = NULL;

		clauses = ckfp_nest_lookup((NestLoop *)plan, &scan);
		if (clauses != NIL)
		{
			above = lcons(plan, above);
			if (scan != inner)
				above = lcons(inner, above); /* Memoize */
			plan = scan;
		}
		else if (reason->join->joinqual != NIL)
			clauses = reason->join->joinqual;
		else
			return ckfp_lookup_text(reason, above);
	}
	return ckfp_text_of(reason, plan, above, (Node *)make_ands_explicit(clauses));
}

static void
ckfp_explain_reasons(const ckfp_reasons *reasons, ExplainState *es)
{
	if (es->format != EXPLAIN_FORMAT_TEXT)
		return;
	foreach_ptr (const ckfp_reason, reason, reasons->list)
		appendStringInfo(es->str, "No Join Filter for %s: %s\n", ckfp_condition_text(reason),
						 reason->text);
}

/* ---------------------------------------------------------------------- the hook */

#if PG_VERSION_NUM < 170000

/* Explain a query as PostgreSQL does. */
static void
standard_ExplainOneQuery(Query *query, int options, IntoClause *into, ExplainState *es,
						 const char *text, ParamListInfo parameters, QueryEnvironment *environment)
{
	BufferUsage before;
	BufferUsage usage;
	instr_time start;
	instr_time duration;
	PlannedStmt *plan;

	if (es->buffers)
		before = pgBufferUsage;
	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(query, text, options, parameters);
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	if (es->buffers)
	{
		memset(&usage, 0, sizeof(usage));
		BufferUsageAccumDiff(&usage, &pgBufferUsage, &before);
	}
	ExplainOnePlan(plan, into, es, text, parameters, environment, &duration,
				   es->buffers ? &usage : NULL);
}

#endif

/* Explain a query, and append the reasons. */
static void
ckfp_explain_query(Query *query, int options, IntoClause *into, ExplainState *es, const char *text,
				   ParamListInfo parameters, QueryEnvironment *environment)
{
	ckfp_reasons reasons = {.context = CurrentMemoryContext};
	ckfp_reasons *outer = ckfp_collecting;

	ckfp_collecting = ckfp_join_mode_setting != CKFP_JOIN_OFF ? &reasons : NULL;
	PG_TRY();
	{
		if (ckfp_next_explain != NULL)
			ckfp_next_explain(query, options, into, es, text, parameters, environment);
		else
			standard_ExplainOneQuery(query, options, into, es, text, parameters, environment);
	}
	PG_FINALLY();
	{
		ckfp_collecting = outer;
	}
	PG_END_TRY();
	ckfp_explain_reasons(&reasons, es);
}

void
ckfp_join_init_reasons(void)
{
	ckfp_next_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = ckfp_explain_query;
}
