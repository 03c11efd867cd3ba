/*
 * condition.c - the condition of a scan that asks filters.
 *
 * A scan evaluates its condition, an ExprState, for each row. We replace it by one that evaluates
 * the original condition and then asks the filters. Other executor states of the same plan, such as
 * those of EvalPlanQual, keep their conditions.
 */
#include "condition.h"
#include "shared.h"

#include "access/tableam.h"
#include "executor/executor.h"
#include "executor/instrument.h"

/* ------------------------------------------------------------------- asking */

/* Does the server ask the filter? If the first row of a foreign scan was fetched before the
 * filter was ready, the server did not receive it. Then this process asks for the rest of the
 * query. */
static inline bool
ckfp_server_asked(ckfp_ask *ask)
{
	if (ask->served && !ask->build->sent)
		ask->served = false;
	return ask->served;
}

/* Do all filters sleep? Counts the row. */
static inline bool
ckfp_probe_sleeps(ckfp_probe *probe)
{
	int i;

	for (i = 0; i < probe->asks; i++)
		if (probe->ask[i].sleep.asleep == 0)
			return false;
	for (i = 0; i < probe->asks; i++)
		probe->ask[i].sleep.asleep--;
	return true;
}

/* Does a row pass all filters? */
static pg_noinline bool
ckfp_probe_ask(ckfp_probe *probe, ExprContext *econtext)
{
	int i;

	for (i = 0; i < probe->asks; i++)
	{
		ckfp_ask *ask = &probe->ask[i];

		if (ckfp_sleep_passes(&ask->sleep))
			continue;
		if (unlikely(!ask->build->asking) && ckfp_shared_is_common(ask->build) &&
			!ask->build->disabled)
			ckfp_shared_attach(ask->build);
		if (unlikely(ask->build->disabled))
			ckfp_condition_update(probe);
		else if (!ckfp_server_asked(ask) && ask->build->asking &&
				 !ckfp_ask_row(ask, econtext->ecxt_scantuple))
		{
			/* EXPLAIN shows these rows at the build node */
			InstrCountFiltered1(probe->scan, -1);
			return false;
		}
	}
	return true;
}

/* The condition comes first, since it may drop most rows. It is called directly: the current
 * memory context is the per-tuple one already. */
static Datum
ckfp_probe_row(ExprState *state, ExprContext *econtext, bool *isnull)
{
	ckfp_probe *probe = state->evalfunc_private;
	ExprState *condition = probe->condition;

	*isnull = false;
	if (condition != NULL && !DatumGetBool(condition->evalfunc(condition, econtext, isnull)))
		return BoolGetDatum(false);
	return BoolGetDatum(ckfp_probe_sleeps(probe) || ckfp_probe_ask(probe, econtext));
}

/* ------------------------------------------------------------- setting it */

#if PG_VERSION_NUM >= 180000

/* From PostgreSQL 19 on, the start of a scan has flags, which SeqNext sets. */
static TableScanDesc
ckfp_begin_scan(ScanState *scan)
{
	const EState *estate = scan->ps.state;
#if PG_VERSION_NUM >= 190000
	uint32 flags = SO_NONE;

	if (ScanRelIsReadOnly(scan))
		flags |= SO_HINT_REL_READ_ONLY;
	if (estate->es_instrument & INSTRUMENT_IO)
		flags |= SO_SCAN_INSTRUMENT;
	return table_beginscan(scan->ss_currentRelation, estate->es_snapshot, 0, NULL, flags);
#else
	return table_beginscan(scan->ss_currentRelation, estate->es_snapshot, 0, NULL);
#endif
}

static TupleTableSlot *
ckfp_next_row(ScanState *scan)
{
	const EState *estate = scan->ps.state;

	if (scan->ss_currentScanDesc == NULL)
		scan->ss_currentScanDesc = ckfp_begin_scan(scan);
	return table_scan_getnextslot(scan->ss_currentScanDesc, estate->es_direction,
								  scan->ss_ScanTupleSlot)
			   ? scan->ss_ScanTupleSlot
			   : NULL;
}

static bool
ckfp_recheck_row(ScanState *scan, TupleTableSlot *slot)
{
	return true;
}

/* A sequential scan that evaluates its condition. */
static TupleTableSlot *
ckfp_exec_scan(PlanState *scan)
{
	return ExecScan((ScanState *)scan, ckfp_next_row, ckfp_recheck_row);
}

#endif

/* Make a sequential scan evaluate its condition. From PostgreSQL 18 on, a scan that starts
 * without a condition does not. */
static void
ckfp_make_scan_evaluate(PlanState *scan)
{
#if PG_VERSION_NUM >= 180000
	if (IsA(scan, SeqScanState) && scan->qual == NULL)
		ExecSetExecProcNode(scan, ckfp_exec_scan);
#endif
}

ckfp_probe *
ckfp_condition_make(PlanState *scan, int asks)
{
	ckfp_probe *probe = MemoryContextAllocZero(scan->state->es_query_cxt,
											   offsetof(ckfp_probe, ask) + asks * sizeof(ckfp_ask));

	NodeSetTag(&probe->state, T_ExprState);
	probe->state.flags = EEO_FLAG_IS_QUAL;
	probe->state.evalfunc = ckfp_probe_row;
	probe->state.evalfunc_private = probe;
	probe->scan = scan;
	probe->condition = scan->qual;
	probe->asks = asks;
	ckfp_make_scan_evaluate(scan);
	scan->qual = &probe->state;
	return probe;
}

bool
ckfp_condition_is_set(const PlanState *scan)
{
	return scan->qual != NULL && scan->qual->evalfunc == ckfp_probe_row;
}

/* Can a filter of a scan be asked, now or after a call of this scan? That of a nested loop is
 * built between two calls, or never. */
static bool
ckfp_condition_is_needed(const ckfp_probe *probe)
{
	int i;

	if (probe->skip.filters > 0)
		return true; /* it is found by the condition */
	for (i = 0; i < probe->asks; i++)
	{
		const ckfp_build *build = probe->ask[i].build;

		if (!build->disabled && (build->nest == NULL || build->asking))
			return true;
	}
	return false;
}

void
ckfp_condition_update(ckfp_probe *probe)
{
	probe->scan->qual = ckfp_condition_is_needed(probe) ? &probe->state : probe->condition;
}

void
ckfp_condition_update_all(const ckfp_build *build)
{
	ListCell *cell;

	foreach (cell, build->probes)
		ckfp_condition_update(lfirst(cell));
}
