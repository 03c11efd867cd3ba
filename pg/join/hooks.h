/*
 * hooks.h - the hooks of the join filters, installed when the library is loaded or used.
 */
#ifndef CKFP_JOIN_HOOKS_H
#define CKFP_JOIN_HOOKS_H

#include "join/base/join.h"

/* planner.c, executor.c, reason.c: the hooks of the planner, the executor and EXPLAIN. */
void ckfp_join_init_planner(void);
void ckfp_join_init_executor(void);
void ckfp_join_init_reasons(void);

/* paths.c: the hook of join paths, installed before the first query that is planned with filters:
 * PostgreSQL calls it for each pair of tables that a query joins, also with `off`. */
void ckfp_join_need_paths(void);

/* paths.c: a hash join was offered in place of a nested loop, in the query that is planned. */
extern bool ckfp_join_took_place;

/* The reason why a join has no filter. `above`: the nodes above it in its plan, the nearest
 * first. `key`: the key of the join that the reason is about; or NULL. */
typedef void (*ckfp_reason_visitor)(Join *join, List *above, const char *reason, Expr *key,
									void *context);

/* planner.c: call `visit` for each join with a condition but without a filter in a finished plan,
 * which stays as it is. The reasons are those of the current settings. `options`: of its cursor. */
void ckfp_reasons_find(PlannedStmt *statement, int options, ckfp_reason_visitor visit,
					   void *context);

#endif
