/*
 * answer.c - the filter of a LEFT or ANTI nested loop answers lookups.
 *
 * The result of such a loop has the outer rows without a match, so a filter must not drop them. But
 * if it denies an outer row, the lookup of that row would find nothing, and need not run. The node
 * of the filter then tells the executor's function of the loop that there are no more rows, and a
 * function of ours, which calls that one, does what the loop does with a row without a match. The
 * inner side does not learn of the row: its parameters and its state stay those of the last lookup.
 *
 * Such a loop returns a row without a match to the nodes above. The cost of its lookup ends before:
 * when the loop tests its condition, which it does after the lookup.
 */
#include "join/nestloop/nestloop.h"

#include "executor/executor.h"
#include "executor/instrument.h"

/* The lookup of an outer row has ended. Does the row meet the condition of the loop? */
static Datum
ckfp_answer_ended(ExprState *state, ExprContext *econtext, bool *isnull)
{
	ckfp_nest *nest = state->evalfunc_private;

	ckfp_sampling_lookup_ended(nest);
	*isnull = false;
	return BoolGetDatum(ExecQual(nest->answer.condition, econtext));
}

/* The result of the loop for an outer row without a match. NULL if it has none. */
static TupleTableSlot *
ckfp_answer_row(NestLoopState *loop, const ckfp_nest *nest, TupleTableSlot *row)
{
	ExprContext *econtext = loop->js.ps.ps_ExprContext;

	ResetExprContext(econtext);
	econtext->ecxt_outertuple = row;
	econtext->ecxt_innertuple = loop->nl_NullInnerTupleSlot;
	if (ExecQual(nest->answer.condition, econtext))
		return ExecProject(loop->js.ps.ps_ProjInfo);
	InstrCountFiltered2(loop, 1);
	return NULL;
}

/* The next row of the loop: the executor calls this function instead of the loop's own. */
static TupleTableSlot *
ckfp_answer_exec(PlanState *state)
{
	ckfp_nest *nest = (ckfp_nest *)outerPlanState(state);

	for (;;)
	{
		TupleTableSlot *slot = nest->answer.loop_function(state);
		TupleTableSlot *denied = nest->denied;

		if (denied == NULL)
			return slot;
		nest->denied = NULL;
		slot = ckfp_answer_row((NestLoopState *)state, nest, denied);
		if (slot != NULL)
			return slot;
	}
}

void
ckfp_answer_install(ckfp_nest *nest)
{
	PlanState *loop = &nest->loop->js.ps;

	ckfp_condition_init(&nest->answer.ended, ckfp_answer_ended, nest);
	nest->answer.condition = loop->qual;
	nest->answer.loop_function = loop->ExecProcNodeReal;
	loop->qual = &nest->answer.ended;
	ExecSetExecProcNode(loop, ckfp_answer_exec);
}

void
ckfp_answer_remove(ckfp_nest *nest)
{
	PlanState *loop = &nest->loop->js.ps;

	loop->qual = nest->answer.condition;
	ExecSetExecProcNode(loop, nest->answer.loop_function);
}
