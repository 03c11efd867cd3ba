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

/* The reasons of the query that EXPLAIN plans; NULL: no EXPLAIN. The planner's hook sets it only
 * for its own pass, so that other queries that are planned and run meanwhile note none. */
typedef struct ckfp_reasons ckfp_reasons;
extern ckfp_reasons *ckfp_collecting;

/* Note the reason why a join of a plan has no filter, for EXPLAIN. */
void ckfp_reason_note(PlannedStmt *statement, Join *join, const char *reason);

#endif
