/*
 * monotone.h - keys that are a monotone function of one column: it never falls where the column
 * rises, or only for a while, where a time zone sets its clocks back.
 *
 * Keys of the other side can then be mapped back to ranges of the column. So a scan compares the
 * column with these, and the function is computed only for rows that reach the join.
 */
#ifndef CKFP_JOIN_MONOTONE_H
#define CKFP_JOIN_MONOTONE_H

#include "join/base/join.h"

#include "pgtime.h"

/* What is known of a monotone function. */
typedef struct ckfp_monotone
{
	Expr *leaf;   /* the column, a Var; or the leaf of ckfp_monotone_abstract() */
	int days;     /* it may fall again within so many days of the column, because of a time zone */
	bool session; /* it depends on the session's time zone */
} ckfp_monotone;

/* Is an expression a column of `varno`, or a listed function of one, which is monotone, and fails
 * for no value of the column that is in the limits of ckfp_monotone_limits()? */
bool ckfp_monotone_of(Expr *expression, int varno, ckfp_monotone *monotone);

/* The same function of no column in particular: its leaf is a CaseTestExpr. `column` is the one
 * that ckfp_monotone_of() has found. */
Expr *ckfp_monotone_abstract(Expr *expression, const Expr *column);

/* An abstract function of another one. */
Expr *ckfp_monotone_compose(Expr *outer, Expr *inner);

/* An abstract function of a column of a relation. */
Expr *ckfp_monotone_apply(Expr *function, Index relation, AttrNumber column);

/* Note what an abstract function tells of the scans of a filter. False if its column has no
 * integers.
 */
bool ckfp_monotone_note(Expr *function, ckfp_join_record *record);

/* Are two values that this operator calls equal also equal in their order, and so are integers of
 * the core? */
bool ckfp_monotone_is_key(Oid equality);

/* Do the clocks of a time zone step back by a day at most? */
bool ckfp_zone_is_known(pg_tz *zone);

/* Values of such a column: the least and the greatest one, and between them those for which the
 * functions are computed. */
typedef struct ckfp_limits
{
	int64 least;
	int64 low;
	int64 high;
	int64 greatest;
} ckfp_limits;

ckfp_limits ckfp_monotone_limits(Oid type);

#endif
