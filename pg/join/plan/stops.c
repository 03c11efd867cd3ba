/*
 * stops.c - which nodes may be stopped before they have returned all rows, as by a LIMIT.
 */
#include "join/plan/plan.h"

typedef struct ckfp_stops_walk
{
	bool stops;
	Bitmapset *nodes;
} ckfp_stops_walk;

/* May a node stop before its children have returned all rows, if its own reader may? */
static bool
ckfp_stops_early(const Plan *plan, bool reader_stops)
{
	ckfp_node_stop stops = ckfp_node_of(plan)->stops;

	if (stops != CKFP_STOPS_AS_READER)
		return stops == CKFP_STOPS_ALWAYS;
	return reader_stops && !(IsA(plan, Agg) && ((const Agg *)plan)->aggstrategy != AGG_SORTED);
}

/* Does a join read only the first match of each outer row? */
static bool
ckfp_stops_at_match(const Join *join)
{
	return join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI || join->inner_unique;
}

double
ckfp_share_of_children(const Plan *plan, double share)
{
	if (IsA(plan, Limit))
		return share * Min(plan->plan_rows / Max(outerPlan(plan)->plan_rows, 1), 1);
	return ckfp_stops_early(plan, true) ? share : 1;
}

static void
ckfp_note_stops(Plan *plan, void *context)
{
	ckfp_stops_walk *walk = context;
	bool stops = walk->stops;

	if ((IsA(plan, NestLoop) || IsA(plan, SeqScan)) && stops)
		walk->nodes = bms_add_member(walk->nodes, plan->plan_node_id);
	walk->stops = ckfp_stops_early(plan, stops);
	if (IsA(plan, NestLoop))
	{
		ckfp_note_stops(outerPlan(plan), context);
		walk->stops = stops || ckfp_stops_at_match((Join *)plan);
		ckfp_note_stops(innerPlan(plan), context);
	}
	else
		ckfp_plan_children(plan, ckfp_note_stops, context);
	walk->stops = stops;
}

static Bitmapset *
ckfp_find_stops(const PlannedStmt *statement, bool fast)
{
	ckfp_stops_walk walk = {.stops = fast};

	ckfp_note_stops(statement->planTree, &walk);
	walk.stops = true;
	foreach_ptr (Plan, subplan, statement->subplans)
		if (subplan != NULL)
			ckfp_note_stops(subplan, &walk);
	return walk.nodes;
}

bool
ckfp_may_stop(ckfp_rules *rules, int node)
{
	if (!rules->stops_known)
		rules->stops = ckfp_find_stops(rules->statement.plan, rules->fast);
	rules->stops_known = true;
	return bms_is_member(node, rules->stops);
}

void
ckfp_targets_note_stops(ckfp_rules *rules, const ckfp_join_record *record)
{
	if (record->blocks)
		foreach_ptr (ckfp_join_target, target, record->targets)
			target->stops = ckfp_may_stop(rules, target->node);
}
