/*
 * reason.c - EXPLAIN names the reasons why joins have no filter.
 *
 * They are not kept in plans: the pass of the planner's hook is repeated on the plan that is shown,
 * so that planning costs nothing more. A query can have thousands of joins, so those with the same
 * reason are shown together. Only a few of them are named, as their text takes longer than the
 * pass.
 *
 * From PostgreSQL 18 on, EXPLAIN calls a hook for each plan, also for EXECUTE. That of a node
 * serves auto_explain, which does not call the other one in 18. Before, a hook is around EXPLAIN of
 * a query as a whole, and the text of EXPLAIN is complete when it ends, so the lines are put into
 * the group that was closed. It goes with 17, the last of these versions; until then these servers
 * have no other way to say why a join has no filter.
 */
#include "join/hooks.h"
#include "join/nestloop/nestloop.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "nodes/makefuncs.h"
#include "tcop/tcopprot.h"
#include "utils/ruleutils.h"

/* The maximum number of joins with the same reason that are named. */
#define CKFP_JOINS_SHOWN 3

/* Their group in the formats that have groups. */
#define CKFP_REASONS "Joins Without Filter"

typedef struct ckfp_reason
{
	const char *text;
	int joins;
	List *conditions; /* the texts of the first ones */
} ckfp_reason;

typedef struct ckfp_reasons
{
	ExplainState *es;
	List *list; /* of ckfp_reason */
} ckfp_reasons;

/* ---------------------------------------------------------------------- the text */

/* The text of expressions of a plan node, which has the other nodes above it, the nearest first. */
static char *
ckfp_text_of(const ExplainState *es, Plan *plan, List *above, Node *expressions)
{
	List *context = set_deparse_context_plan(es->deparse_cxt, plan, above);

	return deparse_expression(expressions, context, list_length(es->rtable) > 1, false);
}

/* The condition of a join as EXPLAIN shows it. That of a nested loop is often in its inner side.
 * The columns of a recursive query's own rows are those of its RecursiveUnion above. */
static char *
ckfp_condition_text(const ExplainState *es, Join *join, List *above)
{
	Plan *plan = &join->plan;
	Plan *scan = plan;
	List *clauses = join->joinqual;
	List *columns = NIL; /* of the outer side that the inner side of a nested loop depends on */

	if (IsA(plan, HashJoin))
		clauses = ((HashJoin *)plan)->hashclauses;
	else if (IsA(plan, MergeJoin))
		clauses = ((MergeJoin *)plan)->mergeclauses;
	else
	{
		List *lookup = ckfp_nest_lookup((NestLoop *)plan, &scan);

		clauses = lookup != NIL ? lookup : clauses;
		scan = lookup != NIL ? scan : plan;
		for (; plan != scan; plan = plan == &join->plan ? innerPlan(plan) : outerPlan(plan))
			above = lcons(plan, above); /* the join, and Memoize */
		foreach_ptr (NestLoopParam, param, ((NestLoop *)join)->nestParams)
			columns = lappend(columns, param->paramval);
	}
	if (columns != NIL && clauses == NIL)
		return psprintf("lookups of %s", ckfp_text_of(es, plan, above, (Node *)columns));
	return ckfp_text_of(es, plan, above, (Node *)make_ands_explicit(clauses));
}

/* ---------------------------------------------------------------------- the reasons */

static ckfp_reason *
ckfp_reason_of_text(ckfp_reasons *reasons, const char *text)
{
	ckfp_reason *reason;

	foreach_ptr (ckfp_reason, known, reasons->list)
		if (strcmp(known->text, text) == 0)
			return known;
	reason = palloc0(sizeof(*reason));
	reason->text = text;
	reasons->list = lappend(reasons->list, reason);
	return reason;
}

/* Note a join and the reason why it has no filter. */
static void
ckfp_reason_note(Join *join, List *above, const char *text, Expr *key, void *context)
{
	ckfp_reasons *reasons = context;
	ckfp_reason *reason;

	if (key != NULL)
		text = psprintf("%s: %s", text, ckfp_text_of(reasons->es, &join->plan, above, (Node *)key));
	reason = ckfp_reason_of_text(reasons, text);
	if (reason->joins++ >= CKFP_JOINS_SHOWN)
		return;
	reason->conditions =
		lappend(reason->conditions, ckfp_condition_text(reasons->es, join, list_copy(above)));
}

/* "No Join Filter for (f.k = d.k), (f.l = e.l), (f.m = g.m) and 97 others: it is not expected ..."
 */
static void
ckfp_explain_line(const ckfp_reason *reason, ExplainState *es)
{
	const char *before = "No Join Filter for ";

	appendStringInfoSpaces(es->str, es->indent * 2);
	foreach_ptr (const char, condition, reason->conditions)
	{
		appendStringInfo(es->str, "%s%s", before, condition);
		before = ", ";
	}
	if (reason->joins > CKFP_JOINS_SHOWN)
		appendStringInfo(es->str, " and %d other%s", reason->joins - CKFP_JOINS_SHOWN,
						 reason->joins - CKFP_JOINS_SHOWN == 1 ? "" : "s");
	appendStringInfo(es->str, ": %s\n", reason->text);
}

static void
ckfp_explain_group(const ckfp_reason *reason, ExplainState *es)
{
	ExplainOpenGroup("Join Without Filter", NULL, true, es);
	ExplainPropertyText("Reason", reason->text, es);
	ExplainPropertyInteger("Joins", NULL, reason->joins, es);
	ExplainPropertyList("Conditions", reason->conditions, es);
	ExplainCloseGroup("Join Without Filter", NULL, true, es);
}

#if PG_VERSION_NUM < 180000

/* Remove the end of a text. False if it has another one. */
static bool
ckfp_remove_end(StringInfo text, const char *end)
{
	int left = text->len - (int)strlen(end);

	if (left < 0 || strcmp(text->data + left, end) != 0)
		return false;
	text->len = left;
	text->data[left] = '\0';
	return true;
}

/* PostgreSQL has closed the group of a query: open it again. False if something else follows. */
static bool
ckfp_reopen_query(ExplainState *es)
{
	const char *end = "";

	if (es->format == EXPLAIN_FORMAT_JSON)
		end = psprintf("\n%*s}", es->indent * 2, "");
	else if (es->format == EXPLAIN_FORMAT_XML)
		end = psprintf("%*s</Query>\n", es->indent * 2, "");
	if (!ckfp_remove_end(es->str, end))
		return false;
	es->indent++;
	if (es->format != EXPLAIN_FORMAT_XML)
		es->grouping_stack = lcons_int(1, es->grouping_stack);
	return true;
}

#endif

/* Show the reasons of a plan. Before PostgreSQL 18, its group is closed. */
static void
ckfp_explain_reasons(PlannedStmt *statement, int options, ExplainState *es)
{
	bool grouped = es->format != EXPLAIN_FORMAT_TEXT;
	ckfp_reasons reasons = {.es = es};

	ckfp_reasons_find(statement, options, ckfp_reason_note, &reasons);
	if (reasons.list == NIL)
		return;
#if PG_VERSION_NUM < 180000
	if (grouped && !ckfp_reopen_query(es))
		return;
#endif
	if (grouped)
		ExplainOpenGroup(CKFP_REASONS, CKFP_REASONS, false, es);
	foreach_ptr (const ckfp_reason, reason, reasons.list)
		if (grouped)
			ckfp_explain_group(reason, es);
		else
			ckfp_explain_line(reason, es);
	if (grouped)
		ExplainCloseGroup(CKFP_REASONS, CKFP_REASONS, false, es);
#if PG_VERSION_NUM < 180000
	if (grouped)
		ExplainCloseGroup("Query", NULL, true, es);
#endif
}

/* ---------------------------------------------------------------------- the hooks */

#if PG_VERSION_NUM >= 180000

static explain_per_plan_hook_type ckfp_next_plan = NULL;
static explain_per_node_hook_type ckfp_next_node = NULL;

/* The plan whose reasons were shown with its node at the top; or NULL. */
static const ExplainState *ckfp_explained = NULL;

static void
ckfp_explain_plan(PlannedStmt *statement, IntoClause *into, ExplainState *es, const char *text,
				  ParamListInfo parameters, QueryEnvironment *environment)
{
	if (ckfp_next_plan != NULL)
		ckfp_next_plan(statement, into, es, text, parameters, environment);
	if (ckfp_explained != es)
		ckfp_explain_reasons(statement, 0, es);
}

/* auto_explain shows a plan in the memory context of the query; EXPLAIN does not. */
static void
ckfp_explain_node(PlanState *node, List *above, const char *relationship, const char *name,
				  ExplainState *es)
{
	if (ckfp_next_node != NULL)
		ckfp_next_node(node, above, relationship, name, es);
	if (node->plan != es->pstmt->planTree)
		return;
	ckfp_explained = NULL;
	if (CurrentMemoryContext == node->state->es_query_cxt)
	{
		ckfp_explain_reasons(es->pstmt, 0, es);
		ckfp_explained = es;
	}
}

void
ckfp_join_init_reasons(void)
{
	ckfp_next_plan = explain_per_plan_hook;
	explain_per_plan_hook = ckfp_explain_plan;
	ckfp_next_node = explain_per_node_hook;
	explain_per_node_hook = ckfp_explain_node;
}

#else

static ExplainOneQuery_hook_type ckfp_next_explain = NULL;

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
	es->pstmt = NULL;
	if (ckfp_next_explain != NULL)
		ckfp_next_explain(query, options, into, es, text, parameters, environment);
	else
		standard_ExplainOneQuery(query, options, into, es, text, parameters, environment);
	if (es->pstmt != NULL)
		ckfp_explain_reasons(es->pstmt, options, es);
}

void
ckfp_join_init_reasons(void)
{
	ckfp_next_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = ckfp_explain_query;
}

#endif
