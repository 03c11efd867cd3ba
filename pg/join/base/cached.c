/*
 * cached.c - marks in plans, by which plans that are cached are made again.
 *
 * PostgreSQL keeps the plans of prepared statements and of functions. It drops one if an object
 * changes that the plan depends on, and calls the plan cache with the hash value of that object. A
 * mark is a dependency on a function that does not exist. To forget the plans with a mark is to say
 * that this function has changed, in this session only. It changes flags in memory, and so can be
 * done anywhere, also while a transaction aborts, or before there is a plan cache.
 */
#include "join/base/join.h"

#include "utils/inval.h"
#include "utils/syscache.h"

static PlanInvalItem ckfp_marks[] = {
	[CKFP_MARK_JOIN] = {.type = T_PlanInvalItem, .cacheId = PROCOID, .hashValue = 0xcf170e41},
	[CKFP_MARK_LOOP] = {.type = T_PlanInvalItem, .cacheId = PROCOID, .hashValue = 0xcf170e42},
};

/* A plan got the mark since plans with it were last forgotten. If none did, there is nothing to do:
 * forgetting takes time, as the plan cache then looks at all its plans. */
static bool ckfp_mark_is_used[lengthof(ckfp_marks)];

void
ckfp_mark_plan(PlannedStmt *statement, ckfp_mark mark)
{
	ckfp_mark_is_used[mark] = true;
	statement->invalItems = lappend(statement->invalItems, &ckfp_marks[mark]);
}

bool
ckfp_plan_has_mark(const PlannedStmt *statement, ckfp_mark mark)
{
	foreach_ptr (const PlanInvalItem, item, statement->invalItems)
		if (item->cacheId == PROCOID && item->hashValue == ckfp_marks[mark].hashValue)
			return true;
	return false;
}

void
ckfp_forget_plans(ckfp_mark mark)
{
	if (ckfp_mark_is_used[mark])
		CallSyscacheCallbacks(PROCOID, ckfp_marks[mark].hashValue);
	ckfp_mark_is_used[mark] = false;
}
