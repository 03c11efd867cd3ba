/*
 * explain.c - what EXPLAIN says of a filter.
 */
#include "build.h"
#include "remote.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* "f.k of fact f" */
static void
ckfp_append_relation(StringInfo text, const ckfp_join_target *target, int columns,
					 const ExplainState *es)
{
	RangeTblEntry *entry = rt_fetch(target->relation, es->rtable);
	const char *name = list_nth(es->rtable_names, (int)target->relation - 1);
	int i;

	if (name == NULL)
		name = entry->eref->aliasname;
	for (i = 0; i < columns; i++)
	{
		char *column =
			target->column[i] > 0 ? get_rte_attribute_name(entry, target->column[i]) : NULL;

		appendStringInfo(text, "%s%s.", i > 0 ? ", " : "", quote_identifier(name));
		if (column != NULL)
			appendStringInfoString(text, quote_identifier(column));
		else
			appendStringInfo(text, "?");
	}
	if (entry->rtekind == RTE_RELATION)
	{
		const char *relation = get_rel_name(entry->relid);

		appendStringInfo(text, " of %s", quote_identifier(relation));
		if (strcmp(relation, name) != 0)
			appendStringInfo(text, " %s", quote_identifier(name));
	}
}

/* The scan that asks, and where. */
static char *
ckfp_target_text(const ckfp_join_target *target, int columns, const ExplainState *es)
{
	StringInfoData text;

	initStringInfo(&text);
	if (target->relation == 0 || target->relation > (Index)list_length(es->rtable))
		appendStringInfo(&text, "plan node %d", target->node);
	else
		ckfp_append_relation(&text, target, columns, es);
	if (ckfp_remote_asks(target))
		appendStringInfoString(&text, ", by its server");
	return text.data;
}

static void
ckfp_explain_targets(const ckfp_join_record *record, ExplainState *es)
{
	List *texts = NIL;
	ListCell *cell;

	foreach (cell, record->targets)
		texts = lappend(texts, ckfp_target_text(lfirst(cell), record->columns, es));
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyList("Filtered Scans", texts, es);
	else if (list_length(texts) == 1)
		ExplainPropertyText("Filtered Scan", linitial(texts), es);
	else
		ExplainPropertyList("Filtered Scans", texts, es);
}

static double
ckfp_percent(uint64 part, uint64 whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static const char *
ckfp_given_up_text(ckfp_given_up why)
{
	return why == CKFP_GIVEN_UP_MEMORY ? "memory" : "more keys than estimated";
}

/* A line of EXPLAIN's text, as it indents them. */
static void
ckfp_explain_line(ExplainState *es, const char *line)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
	appendStringInfoString(es->str, line);
	appendStringInfoChar(es->str, '\n');
}

static void
ckfp_explain_text(const ckfp_build *build, const ckfp_join_counts *counts, ExplainState *es)
{
	if (counts->keys > 0 || counts->memory > 0)
		ckfp_explain_line(es,
						  psprintf("Filter Keys: " UINT64_FORMAT "  Memory: " UINT64_FORMAT "kB",
								   counts->keys, (counts->memory + 1023) / 1024));
	if (counts->tested > 0)
		ckfp_explain_line(
			es, psprintf("Rows Tested: " UINT64_FORMAT "  %s: " UINT64_FORMAT " (%.1f %%)",
						 counts->tested, build->verify ? "Denied" : "Removed", counts->removed,
						 ckfp_percent(counts->removed, counts->tested)));
	if (counts->switched_off > 0)
		ckfp_explain_line(es, psprintf("Switched Off: after " UINT64_FORMAT " rows, %.1f %% passed",
									   counts->switched_off,
									   100 - ckfp_percent(counts->removed, counts->tested)));
	if (counts->given_up != CKFP_GIVEN_UP_NOT)
		ExplainPropertyText("Given Up", ckfp_given_up_text(counts->given_up), es);
}

/* Do we ask at all, or only servers, whose answers are not counted? */
static bool
ckfp_asks_here(const ckfp_join_record *record)
{
	ListCell *cell;

	foreach (cell, record->targets)
		if (!ckfp_remote_asks(lfirst(cell)))
			return true;
	return false;
}

static void
ckfp_explain_properties(const ckfp_build *build, const ckfp_join_counts *counts, ExplainState *es)
{
	ExplainPropertyInteger("Filter Keys", NULL, (int64)counts->keys, es);
	ExplainPropertyInteger("Filter Memory", "kB", (int64)((counts->memory + 1023) / 1024), es);
	if (ckfp_asks_here(&build->record))
	{
		ExplainPropertyInteger("Rows Tested", NULL, (int64)counts->tested, es);
		ExplainPropertyInteger(build->verify ? "Rows Denied by Join Filter"
											 : "Rows Removed by Join Filter",
							   NULL, (int64)counts->removed, es);
	}
	if (counts->switched_off > 0)
		ExplainPropertyInteger("Switched Off After", NULL, (int64)counts->switched_off, es);
	if (counts->given_up != CKFP_GIVEN_UP_NOT)
		ExplainPropertyText("Given Up", ckfp_given_up_text(counts->given_up), es);
}

void
ckfp_join_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const ckfp_build *build = (const ckfp_build *)node;
	ckfp_join_counts counts;

	ckfp_explain_targets(&build->record, es);
	if (!es->analyze)
		return;
	counts = build->counts;
	ckfp_counts_add(&counts, &build->workers);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ckfp_explain_text(build, &counts, es);
	else
		ckfp_explain_properties(build, &counts, es);
}
