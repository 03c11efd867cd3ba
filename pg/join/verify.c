/*
 * verify.c - join_filter = verify.
 *
 * The hash of each key that a filter denies is recorded. When the join finds a match, that is, when
 * its condition is true, the key of its outer row must not be one of those.
 */
#include "verify.h"

#include "executor/executor.h"

/* The condition of the join, with our check. */
typedef struct ckfp_verify
{
	ExprState state;
	ExprState *condition;
	ckfp_build *build;
	ExprState *key[CKFP_JOIN_KEYS]; /* of the outer row of the join */
} ckfp_verify;

void
ckfp_verify_denied(ckfp_build *build, uint64 hash)
{
	if (build->denied == NULL)
	{
		HASHCTL control = {
			.keysize = sizeof(uint64),
			.entrysize = sizeof(uint64),
			.hcxt = build->css.ss.ps.state->es_query_cxt,
		};

		build->denied =
			hash_create("denied join keys", 1024, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	hash_search(build->denied, &hash, HASH_ENTER, NULL);
}

static bool
ckfp_was_denied(ckfp_verify *verify, ExprContext *econtext)
{
	ckfp_build *build = verify->build;
	uint64 hash = 0;
	bool isnull;
	int i;

	if (build->denied == NULL)
		return false;
	for (i = 0; i < build->record.columns; i++)
	{
		Datum value = ExecEvalExpr(verify->key[i], econtext, &isnull);

		if (isnull)
			return true;
		hash = ckfp_key_combine(hash, ckfp_key_hash(&build->probe_key[i], value));
	}
	return hash_search(build->denied, &hash, HASH_FIND, NULL) != NULL;
}

static Datum
ckfp_verify_condition(ExprState *state, ExprContext *econtext, bool *isnull)
{
	ckfp_verify *verify = state->evalfunc_private;

	*isnull = false;
	if (!ExecQual(verify->condition, econtext))
		return BoolGetDatum(false);
	if (ckfp_was_denied(verify, econtext))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						errmsg("a join filter removed a row that has a match in the join"),
						errdetail("Plan node %d.", verify->build->css.ss.ps.plan->plan_node_id),
						errhint("This is a bug in cuckoofilter. Please report it, and set "
								"cuckoofilter.join_filter = off.")));
	return BoolGetDatum(true);
}

void
ckfp_verify_install(ckfp_build *build, PlanState *join, ExprState **condition, List *keys)
{
	EState *estate = build->css.ss.ps.state;
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
	ckfp_verify *verify = palloc0(sizeof(*verify));
	int i;

	NodeSetTag(&verify->state, T_ExprState);
	verify->state.flags = EEO_FLAG_IS_QUAL;
	verify->state.evalfunc = ckfp_verify_condition;
	verify->state.evalfunc_private = verify;
	verify->condition = *condition;
	verify->build = build;
	for (i = 0; i < build->record.columns; i++)
		verify->key[i] = ExecInitExpr(list_nth(keys, i), join);
	*condition = &verify->state;
	build->verify = true;
	build->sleepers.never = true;
	MemoryContextSwitchTo(caller);
}
