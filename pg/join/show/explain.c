/*
 * explain.c - the lines of a filter in EXPLAIN.
 */
#include "join/base/monotone.h"
#include "join/remote/remote.h"
#include "join/show/show.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

/* The maximum number of indexes that are shown by name. */
#define CKFP_INDEXES_SHOWN 3

/* EXPLAIN must never fail. Names of tables are looked up after planning and may be missing; "?" is
 * shown instead. */

static RangeTblEntry *
ckfp_relation_of(const ckfp_join_target *target, int i, const ExplainState *es)
{
	Index relation = target->relation[i];

	return relation == 0 || relation > (Index)list_length(es->rtable)
			   ? NULL
			   : rt_fetch(relation, es->rtable);
}

static const char *
ckfp_relation_name(const ckfp_join_target *target, int i, const ExplainState *es)
{
	const RangeTblEntry *entry = ckfp_relation_of(target, i, es);
	const char *name = NULL;

	if (target->relation[i] <= (Index)list_length(es->rtable_names))
		name = list_nth(es->rtable_names, (int)target->relation[i] - 1);
	return name != NULL ? name : entry->eref->aliasname;
}

/* A column as PostgreSQL shows it in the condition of the join; "?" if it is unknown. */
static const char *
ckfp_column_name(const ckfp_join_target *target, int i, const ExplainState *es)
{
	Var *var = makeVar((int)target->relation[i], target->column[i], INT4OID, -1, InvalidOid, 0);

	return ckfp_relation_of(target, i, es) == NULL || target->column[i] == 0
			   ? "?"
			   : deparse_expression((Node *)var, es->deparse_cxt, false, false);
}

/* "f.k"; of a function of a column: "(f.t)::date". "?" if it is unknown. */
static const char *
ckfp_key_name(const ckfp_join_target *target, int i, Expr *function, const ExplainState *es)
{
	if (ckfp_relation_of(target, i, es) == NULL)
		return "?";
	if (function != NULL && target->column[i] != 0)
		return deparse_expression(
			(Node *)ckfp_monotone_apply(function, target->relation[i], target->column[i]),
			es->deparse_cxt, true, true);
	return psprintf("%s.%s", quote_identifier(ckfp_relation_name(target, i, es)),
					ckfp_column_name(target, i, es));
}

/* " of fact f, goal g". Each table is shown once. */
static void
ckfp_append_tables(StringInfo text, const ckfp_join_target *target, int columns,
				   const ExplainState *es)
{
	const char *before = " of ";
	Bitmapset *named = NULL;

	for (int i = 0; i < columns; i++)
	{
		const RangeTblEntry *entry = ckfp_relation_of(target, i, es);
		const char *table;
		const char *name;

		if (entry == NULL || entry->rtekind != RTE_RELATION ||
			bms_is_member((int)target->relation[i], named))
			continue;
		named = bms_add_member(named, (int)target->relation[i]);
		table = get_rel_name(entry->relid);
		name = ckfp_relation_name(target, i, es);
		appendStringInfo(text, "%s%s", before, table != NULL ? quote_identifier(table) : "?");
		if (table == NULL || strcmp(table, name) != 0)
			appendStringInfo(text, " %s", quote_identifier(name));
		before = ", ";
	}
}

/* Scans that test: one, or several of partitions or children of the same table. */
typedef struct ckfp_scans
{
	ckfp_join_target target; /* the first one */
	int n;
} ckfp_scans;

/* The scans of a list that have the root of a target, or NULL. */
static ckfp_scans *
ckfp_scans_of_root(List *list, const ckfp_join_target *target)
{
	if (target->root == 0)
		return NULL;
	foreach_ptr (ckfp_scans, scans, list)
		if (scans->target.root == target->root &&
			memcmp(scans->target.root_column, target->root_column, sizeof(target->root_column)) ==
				0 &&
			ckfp_remote_uses(&scans->target) == ckfp_remote_uses(target))
			return scans;
	return NULL;
}

static List *
ckfp_group_targets(const ckfp_join_record *record)
{
	List *list = NIL;

	foreach_ptr (const ckfp_join_target, target, record->targets)
	{
		ckfp_scans *scans = ckfp_scans_of_root(list, target);

		if (scans == NULL)
		{
			scans = palloc(sizeof(*scans));
			*scans = (ckfp_scans){.target = *target};
			list = lappend(list, scans);
		}
		scans->n++;
	}
	return list;
}

/* Let the text of several scans name their root: "fact f, 60 partitions". */
static const char *
ckfp_name_root(ckfp_scans *scans, int columns, const ExplainState *es)
{
	ckfp_join_target *target = &scans->target;
	const RangeTblEntry *entry;

	if (scans->n == 1)
		return "";
	for (int i = 0; i < columns; i++)
	{
		target->relation[i] = target->root;
		target->column[i] = target->root_column[i];
	}
	entry = ckfp_relation_of(target, 0, es);
	return psprintf(", %d %s", scans->n,
					entry != NULL && entry->relkind == RELKIND_PARTITIONED_TABLE ? "partitions"
																				 : "tables");
}

/* The scans that test, with their key: "f.k of fact f". `function`: the key is one of a column; or
 * NULL. */
static char *
ckfp_scans_text(ckfp_scans *scans, int columns, Expr *function, const ExplainState *es)
{
	const char *several = ckfp_name_root(scans, columns, es);
	const ckfp_join_target *target = &scans->target;
	bool known = false;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < columns; i++)
	{
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", ckfp_key_name(target, i, function, es));
		known |= ckfp_relation_of(target, i, es) != NULL;
	}
	if (!known)
	{
		resetStringInfo(&text);
		appendStringInfo(&text, "plan node %d", target->node);
	}
	ckfp_append_tables(&text, target, columns, es);
	appendStringInfoString(&text, several);
	if (ckfp_remote_uses(target))
		appendStringInfoString(&text, ", by its server");
	if (function != NULL && known)
		appendStringInfo(&text, ", by ranges of %s", ckfp_column_name(target, 0, es));
	return text.data;
}

static void
ckfp_explain_targets(const ckfp_filter_node *filter_node, ExplainState *es)
{
	const ckfp_join_record *record = &filter_node->record;
	Expr *function =
		record->mapped ? llast(((CustomScan *)filter_node->css.ss.ps.plan)->custom_exprs) : NULL;
	List *texts = NIL;

	foreach_ptr (ckfp_scans, scans, ckfp_group_targets(record))
		texts = lappend(texts, ckfp_scans_text(scans, record->columns, function, es));
	if (es->format == EXPLAIN_FORMAT_TEXT && list_length(texts) == 1)
		ExplainPropertyText("Filtered Scan", linitial(texts), es);
	else
		ExplainPropertyList("Filtered Scans", texts, es);
}

/* The indexes by which blocks can be skipped: their names, or how many they are. */
static const char *
ckfp_indexes_text(const ckfp_join_record *record)
{
	List *oids = NIL;
	StringInfoData text;
	ListCell *cell;

	foreach_ptr (const ckfp_join_target, target, record->targets)
		for (int i = 0; i < target->indexes; i++)
			oids = lappend_oid(oids, target->index[i].oid);
	list_sort(oids, list_oid_cmp);
	list_deduplicate_oid(oids);
	if (list_length(oids) > CKFP_INDEXES_SHOWN)
		return psprintf("%d indexes", list_length(oids));
	initStringInfo(&text);
	foreach (cell, oids)
	{
		const char *name = get_rel_name(lfirst_oid(cell));

		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "",
						 name != NULL ? quote_identifier(name) : "?");
	}
	return text.data;
}

/* Does a local scan or the loop test, or do only foreign servers, whose answers are not counted? */
static bool
ckfp_tests_locally(const ckfp_join_record *record)
{
	foreach_ptr (const ckfp_join_target, target, record->targets)
		if (!ckfp_remote_uses(target))
			return true;
	return record->targets == NIL;
}

/* Two numbers: a line of the text format, or a property each in the formats for programs. */
static void
ckfp_explain_numbers(const char *line, const char *text, const char *first, uint64 n,
					 const char *second, const char *unit, uint64 m, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyText(line, text, es);
		return;
	}
	ExplainPropertyInteger(first, NULL, (int64)n, es);
	ExplainPropertyInteger(second, unit, (int64)m, es);
}

/* The number of keys of a filter, and its memory. Formats for programs always have them. */
static void
ckfp_explain_keys(const ckfp_filter_node *filter_node, const ckfp_join_counts *counts,
				  ExplainState *es)
{
	uint64 memory = (counts->memory + 1023) / 1024;

	if (es->format == EXPLAIN_FORMAT_TEXT &&
		(filter_node->nest != NULL || counts->keys + memory == 0))
		return;
	ckfp_explain_numbers(
		"Filter Keys",
		psprintf(UINT64_FORMAT "  Memory: " UINT64_FORMAT "kB", counts->keys, memory),
		"Filter Keys", counts->keys, "Filter Memory", "kB", memory, es);
}

/* The rows that a filter was tested for, and what happened to those that it denied. */
static void
ckfp_explain_rows(const ckfp_filter_node *filter_node, const ckfp_join_counts *counts,
				  ExplainState *es)
{
	const char *denied = filter_node->verify ? "Denied" : "Removed";
	const char *property = psprintf("Rows %s by Join Filter", denied);
	double share = 100.0 * (double)counts->removed / (double)Max(counts->tested, 1);

	if (counts->tested == 0 &&
		(es->format == EXPLAIN_FORMAT_TEXT || !ckfp_tests_locally(&filter_node->record)))
		return;
	if (filter_node->record.skips_lookups && !filter_node->verify)
		denied = property = "Lookups Skipped";
	ckfp_explain_numbers("Rows Tested",
						 psprintf(UINT64_FORMAT "  %s: " UINT64_FORMAT " (%.1f %%)", counts->tested,
								  denied, counts->removed, share),
						 "Rows Tested", counts->tested, property, NULL, counts->removed, es);
}

/* How many partitions or blocks of all are skipped, by which indexes; or would be. */
static void
ckfp_explain_skipped(const char *what, const ckfp_filter_node *filter_node, uint64 skipped,
					 uint64 all, const char *indexes, ExplainState *es)
{
	const char *label = psprintf("%s %s", what, filter_node->verify ? "Denied" : "Skipped");
	const char *by = indexes != NULL ? psprintf(" by %s", indexes) : "";

	ckfp_explain_numbers(label, psprintf(UINT64_FORMAT " of " UINT64_FORMAT "%s", skipped, all, by),
						 what, all, label, NULL, skipped, es);
	if (indexes != NULL && es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Block Indexes", indexes, es);
}

/* No block can be skipped, although a key has an index. */
static void
ckfp_explain_unfit(const ckfp_join_record *record, ExplainState *es)
{
	const char *name = get_rel_name(record->unfit);

	ExplainPropertyText("Blocks Not Skipped",
						psprintf("index %s lacks the equality of the join",
								 name != NULL ? quote_identifier(name) : "?"),
						es);
}

/* How many blocks are skipped, or why none is. */
static void
ckfp_explain_blocks(const ckfp_filter_node *filter_node, const ckfp_join_counts *counts,
					ExplainState *es)
{
	static const char *const reasons[] = {
		[CKFP_UNSKIPPED_INDEX] = "the index is locked, invalid or dropped",
		[CKFP_UNSKIPPED_PRICE] = "searching the index does not pay",
		[CKFP_UNSKIPPED_CANDIDATES] = "nearly all can have the keys",
		[CKFP_UNSKIPPED_CHANGED] = "before VACUUM, the index may lack some of their rows",
	};

	ckfp_explain_skipped("Blocks", filter_node, counts->blocks_skipped, counts->blocks,
						 ckfp_indexes_text(&filter_node->record), es);
	if (counts->blocks_skipped == 0)
		ExplainPropertyText("Blocks Not Skipped", reasons[counts->unskipped], es);
}

void
ckfp_explain_filter(const ckfp_filter_node *filter_node, const char *verdict, ExplainState *es)
{
	ckfp_join_counts counts;

	if (filter_node->record.targets != NIL)
		ckfp_explain_targets(filter_node, es);
	if (filter_node->record.no_filter && !filter_node->record.mapped)
		ExplainPropertyText("Join Filter", "blocks only", es);
	if (OidIsValid(filter_node->record.unfit))
		ckfp_explain_unfit(&filter_node->record, es);
	if (!es->analyze)
		return;
	counts = ckfp_filter_node_all_counts(filter_node);
	if (verdict != NULL)
	{
		ExplainPropertyText("Nested Loop Filter", verdict, es);
		counts.given_up = CKFP_GIVEN_UP_NOT; /* the line says that the rows are not counted */
	}
	ckfp_explain_keys(filter_node, &counts, es);
	ckfp_explain_rows(filter_node, &counts, es);
	if (counts.untested > 0)
		ExplainPropertyInteger("Rows Passed Untested", NULL, (int64)counts.untested, es);
	if (counts.scans > 0)
		ckfp_explain_skipped("Partitions", filter_node, counts.skipped, counts.scans, NULL, es);
	if (counts.blocks > 0)
		ckfp_explain_blocks(filter_node, &counts, es);
	if (counts.given_up != CKFP_GIVEN_UP_NOT)
		ExplainPropertyText(
			"Given Up",
			counts.given_up == CKFP_GIVEN_UP_MEMORY ? "memory" : "more keys than estimated", es);
}
