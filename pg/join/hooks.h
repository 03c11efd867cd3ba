/*
 * hooks.h - the hooks of the join filters, installed when the library is loaded.
 */
#ifndef CKFP_JOIN_HOOKS_H
#define CKFP_JOIN_HOOKS_H

#include "join/base/join.h"

/* paths.c, planner.c, executor.c, reason.c: the hooks of join paths, the planner, the executor and
 * EXPLAIN. */
void ckfp_join_init_paths(void);
void ckfp_join_init_planner(void);
void ckfp_join_init_executor(void);
void ckfp_join_init_reasons(void);

/* The reasons of the query that EXPLAIN plans; NULL: no EXPLAIN. The planner's hook sets it only
 * for its own pass, so that other queries that are planned and run meanwhile note none. */
typedef struct ckfp_reasons ckfp_reasons;
extern ckfp_reasons *ckfp_collecting;

/* Note the reason why a join of a plan has no filter, for EXPLAIN. */
void ckfp_reason_note(PlannedStmt *statement, Join *join, const char *reason);

#endif
