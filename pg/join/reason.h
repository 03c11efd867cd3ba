/*
 * reason.h - EXPLAIN names the reason why a join has no filter.
 */
#ifndef CKFP_JOIN_REASON_H
#define CKFP_JOIN_REASON_H

#include "join.h"

#pragma GCC visibility push(hidden)

/* The reasons of the query that EXPLAIN plans; NULL: nobody asks. */
typedef struct ckfp_reasons ckfp_reasons;
extern ckfp_reasons *ckfp_collecting;

/* Take the reasons, so that other queries that are planned and run meanwhile note none. Give them
 * back to note those of the query itself. */
ckfp_reasons *ckfp_reason_take(void);
void ckfp_reason_give(ckfp_reasons *reasons);

/* Note the reason why a join of a plan has no filter, if EXPLAIN asks. */
void ckfp_reason_note(PlannedStmt *statement, Join *join, const char *reason);

/* Install the hook of EXPLAIN: when the library is loaded. */
void ckfp_join_init_reasons(void);

#pragma GCC visibility pop

#endif
