/*
 * whole.c - functions of a whole table: merge, info, optimize, check, export.
 */
#include "table/table.h"

#include "error.h"
#include "function/json_fields.h"
#include "messages.h"
#include "type/argument_cache.h"
#include "type/owned.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(cuckoofilter_table_merge);
PG_FUNCTION_INFO_V1(cuckoofilter_table_optimize);
PG_FUNCTION_INFO_V1(cuckoofilter_table_info);
PG_FUNCTION_INFO_V1(cuckoofilter_table_check);
PG_FUNCTION_INFO_V1(cuckoofilter_export);

/* -------------------------------------------------------------------------- merge */

/* Report why the items of a filter cannot be added. */
_Noreturn static void
ckfp_refuse_filter(const ckfp_table *table, const ckf_filter *filter, ckf_status status)
{
	const ckfp_form *form = &table->form;

	if (status == CKF_IS_SET)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg(CKF_SAY_MERGE_SET, RelationGetRelationName(table->heap)),
						errhint("Merge deletable filters, or create the table with kind=set.")));
	if (status != CKF_PRECISION)
		ckfp_error(status, (ckf_about){.filter = &form->chunks.exact, .other = filter});
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg(CKF_SAY_MERGE_COARSE, RelationGetRelationName(table->heap),
					(long long)filter->capacity, filter->fpr),
			 errhint("A capacity of %lld at a rate of %g is enough.",
					 (long long)ckf_chunks_capacity(&form->chunks), form->chunks.exact.fpr)));
}

/* Hashes of one's own can be of any class; so can items of 1.0.0, whose containers had other
 * hashes. */
static void
ckfp_check_classes(const ckfp_table *table, const ckf_filter *filter)
{
	unsigned mine = table->form.item_class;
	unsigned taken = mine | CKF_ITEM_HASH | (mine == CKF_ITEM_OTHER ? 0 : CKF_ITEM_OLD);
	bool numbers = mine == CKF_ITEM_NUMBER || mine == CKF_ITEM_OTHER;
	unsigned unlike = filter->number_forms &
					  (CKF_FORM_ANY | (table->form.decimals ? CKF_FORM_ROUNDED : CKF_FORM_EXACT));
	char held[CKF_HELD_SIZE];

	if (filter->item_classes & ~taken)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("cannot merge the filter into cuckoofilter table %s: it holds %s, "
							   "the table holds items of type %s",
							   RelationGetRelationName(table->heap),
							   ckf_describe_held(held, filter->item_classes),
							   format_type_be(table->form.type))));
	/* also of an intersection without items, which may share numbers all the same */
	if (numbers && unlike)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot merge the filter into cuckoofilter table %s: it may hold numbers "
						"that are not hashed as items of type %s",
						RelationGetRelationName(table->heap), format_type_be(table->form.type)),
				 errhint("Add the items of which it was built: see cuckoofilter_table_add_all.")));
}

/* cuckoofilter_table_merge(table, filter) */
Datum
cuckoofilter_table_merge(PG_FUNCTION_ARGS)
{
	char prefixes_memory[CKF_PREFIXES_SIZE] __attribute__((aligned(8)));
	ckf_prefixes *prefixes = (ckf_prefixes *)(void *)prefixes_memory;
	ckfp_items items = {0};
	ckfp_table table;
	ckf_filter filter;
	ckf_status status;

	ckfp_open(fcinfo, &table, CKFP_CHANGE);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &filter);
	ckfp_check_classes(&table, &filter);
	status = ckf_prefixes_start(
		prefixes, &table.form.chunks, &filter,
		MemoryContextAllocHuge(CurrentMemoryContext, ckf_prefixes_scratch(&filter)));
	if (status != CKF_OK)
		ckfp_refuse_filter(&table, &filter, status);
	ckfp_lock_order(&table, true);
	ckfp_reserve(&table, &(ckfp_items){.count = filter.count});
	while ((status = ckf_prefixes_next(prefixes, &items.at, &items.count)) == CKF_MORE)
	{
		CHECK_FOR_INTERRUPTS();
		items.whole = ckf_prefixes_whole(prefixes);
		ckfp_change(&table, &items, NULL);
	}
	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){0});
	ckfp_close_table(&table);
	PG_RETURN_VOID();
}

/* ----------------------------------------------------------------------- optimize */

/* cuckoofilter_table_optimize(table): each chunk as small as possible. Other writers wait. */
Datum
cuckoofilter_table_optimize(PG_FUNCTION_ARGS)
{
	ckfp_table table;

	ckfp_open(fcinfo, &table, CKFP_REWRITE);
	ckfp_pack(&table);
	ckfp_close_table(&table);
	PG_RETURN_VOID();
}

/* --------------------------------------------------------------------------- check */

/* Move to the next row. Raises an error if the ranges of all rows overlap or leave a gap. */
static bool
ckfp_next_covered(ckfp_table *table, ckf_coverage *coverage)
{
	bool found = ckfp_next_row(table);
	const char *wrong = found ? ckf_cover(coverage, &table->chunk) : ckf_covered(coverage);

	if (wrong != NULL)
		ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start), wrong);
	return found;
}

/* cuckoofilter_table_check(table) */
Datum
cuckoofilter_table_check(PG_FUNCTION_ARGS)
{
	ckf_coverage coverage = {0};
	ckfp_table table;

	ckfp_open(fcinfo, &table, CKFP_READ);
	while (ckfp_next_covered(&table, &coverage))
		;
	ckfp_close_table(&table);
	PG_RETURN_VOID();
}

/* ---------------------------------------------------------------------------- info */

/* cuckoofilter_table_info(table) */
Datum
cuckoofilter_table_info(PG_FUNCTION_ARGS)
{
	void *scratch = palloc(CKF_CHUNK_DISTINCT_SCRATCH);
	ckf_coverage coverage = {0};
	ckf_tally tally = {0};
	const ckf_info *info = &tally.info;
	ckfp_table table;
	StringInfoData text;
	StringInfo json = &text;

	ckfp_open(fcinfo, &table, CKFP_READ);
	while (ckfp_next_covered(&table, &coverage))
		ckf_tally_chunk(&tally, &table.chunk, scratch);
	ckf_tally_end(&tally, &table.form.chunks, tally.copies > 0 ? table.form.item_class : 0);
	initStringInfo(json);
	appendStringInfoChar(json, '{');
	CKF_TABLE_INFO_FIELDS(CKFP_COUNT, CKFP_INTEGER, CKFP_INTEGER, CKFP_REAL, CKFP_WORD, CKFP_WORDS)
	appendStringInfo(
		json, ",\"rows\":" UINT64_FORMAT ",\"pages\":%u,\"distinct_prefixes\":" UINT64_FORMAT "}",
		tally.rows, RelationGetNumberOfBlocks(table.heap), tally.distinct);
	ckfp_close_table(&table);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json->data));
}

/* -------------------------------------------------------------------------- export */

typedef struct ckfp_exported
{
	ckfp_table table;
	unsigned item_classes;
	bool any; /* the table has rows */
} ckfp_exported;

static ckf_status
ckfp_export_start(ckf_rebuild *rebuild, void *data)
{
	ckfp_exported *exported = data;

	return ckf_export_start(rebuild, &exported->table.form.chunks,
							exported->any ? &exported->table.chunk : NULL, 0,
							exported->item_classes, MaxAllocSize - VARHDRSZ);
}

static bool
ckfp_export_feed(ckf_host *host, ckf_rebuild *rebuild, void *data)
{
	ckfp_table *table = &((ckfp_exported *)data)->table;

	(void)host;
	if (ckf_export_again(rebuild))
		ckfp_end_rows(table);
	if (ckf_export_feed(rebuild, ckfp_next_row(table) ? &table->chunk : NULL) != CKF_OK)
		ckfp_error_damaged(table, ckf_chunk_id(table->chunk.start), CKF_DAMAGE_GAP);
	return true;
}

/* cuckoofilter_export(table) */
Datum
cuckoofilter_export(PG_FUNCTION_ARGS)
{
	ckfp_exported exported = {.item_classes = 0};
	ckfp_table *table = &exported.table;
	ckf_filter about; /* for the error message */
	const ckf_filter *in = &about;
	ckf_filter result;
	ckf_task task = {.operation = CKF_FINISH,
					 .in = &in,
					 .inputs = 1,
					 .start = ckfp_export_start,
					 .feed = ckfp_export_feed,
					 .data = &exported};

	ckfp_open(fcinfo, table, CKFP_READ);
	about = table->form.chunks.exact;
	about.w = table->form.chunks.like.w;
	while (ckfp_next_row(table))
		about.count += table->chunk.count;
	if (about.count > 0) /* all decimals in it are exact */
		exported.item_classes =
			table->form.item_class | (table->form.decimals ? CKF_ITEM_DECIMAL : 0);
	exported.any = ckfp_next_row(table);
	(void)ckf_host_run(CKFP_HOST, &task, &result);
	ckfp_close_table(table);
	CKFP_RETURN_OWNED(&result);
}
