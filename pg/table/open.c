/*
 * open.c - what a filter table is: a table whose CHECK constraint calls cuckoofilter_chunk_valid on
 * its two columns.  The constraint has the parameters and the type of the items, so they go where
 * the table goes: through a dump, a rename, CREATE TABLE (LIKE ..).
 */
#include "table/table.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "type/argument_cache.h"
#include "error.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"

/* A page of rows, and a row without its chunk: line pointer, header, id, length of the chunk. */
#define CKFP_PAGE_ROOM 8168
#define CKFP_ROW_ROOM (4 + 24 + 8 + 4)

static HTAB *ckfp_forms;

/* ------------------------------------------------------------ a session's forms */

/* A relation, or each one if it is InvalidOid, has changed. Forms may be in use. */
static void
ckfp_forget(Datum argument, Oid relation)
{
	HASH_SEQ_STATUS scan;
	ckfp_form *form;

	(void)argument;
	if (OidIsValid(relation))
	{
		form = hash_search(ckfp_forms, &relation, HASH_FIND, NULL);
		if (form != NULL)
			form->valid = false;
		return;
	}
	hash_seq_init(&scan, ckfp_forms);
	while ((form = hash_seq_search(&scan)) != NULL)
		form->valid = false;
}

/* At the end of a transaction no form is in use. */
static void
ckfp_sweep(XactEvent event, void *argument)
{
	HASH_SEQ_STATUS scan;
	ckfp_form *form;

	(void)argument;
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	hash_seq_init(&scan, ckfp_forms);
	while ((form = hash_seq_search(&scan)) != NULL)
		if (!form->valid)
			hash_search(ckfp_forms, &form->relation, HASH_REMOVE, NULL);
}

static void
ckfp_start_forms(void)
{
	HASHCTL control = {
		.keysize = sizeof(Oid), .entrysize = sizeof(ckfp_form), .hcxt = CacheMemoryContext};

	ckfp_forms =
		hash_create("cuckoofilter tables", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(ckfp_forget, (Datum)0);
	RegisterXactCallback(ckfp_sweep, NULL);
}

/* ---------------------------------------------------------- reading a relation */

_Noreturn static void
ckfp_error_no_table(Relation heap)
{
	ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
					errmsg("%s is not a cuckoofilter table", RelationGetRelationName(heap)),
					errhint("cuckoofilter_table_create creates one.")));
}

/* Report why these functions cannot change a table, or not find its rows. */
_Noreturn static void
ckfp_error_unusable(Relation heap, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("cuckoofilter table %s cannot be used: it %s",
						   RelationGetRelationName(heap), what)));
}

static bool
ckfp_is_column(Node *node, AttrNumber column)
{
	return IsA(node, Var) && ((Var *)node)->varattno == column;
}

/* The call of cuckoofilter_chunk_valid that a constraint is; NULL: it is something else. */
static FuncExpr *
ckfp_call_of(const char *constraint)
{
	FuncExpr *call = stringToNode(constraint);
	FmgrInfo function;

	if (!IsA(call, FuncExpr) || list_length(call->args) != 6 ||
		!ckfp_is_column(linitial(call->args), CKFP_ID) ||
		!ckfp_is_column(lsecond(call->args), CKFP_CHUNK))
		return NULL;
	fmgr_info(call->funcid, &function);
	return function.fn_addr == cuckoofilter_chunk_valid ? call : NULL;
}

/* The constant in an argument of a call. */
static Datum
ckfp_constant(const FuncExpr *call, int n, Relation heap)
{
	Const *constant = (Const *)eval_const_expressions(NULL, list_nth(call->args, n));

	if (!IsA(constant, Const) || constant->constisnull)
		ckfp_error_no_table(heap);
	return constant->constvalue;
}

static FuncExpr *
ckfp_constraint_of(Relation heap)
{
	const TupleConstr *constraints = RelationGetDescr(heap)->constr;
	FuncExpr *call = NULL;

	if (heap->rd_rel->relkind == RELKIND_RELATION && !heap->rd_rel->relispartition &&
		RelationGetNumberOfAttributes(heap) == CKFP_COLUMNS && constraints != NULL)
		for (int i = 0; i < constraints->num_check && call == NULL; i++)
			call = ckfp_call_of(constraints->check[i].ccbin);
	if (call == NULL)
		ckfp_error_no_table(heap);
	return call;
}

/* Find the index by which rows are found, and whether there is one with other keys. */
static void
ckfp_read_indexes(Relation heap, ckfp_form *form)
{
	List *indexes = RelationGetIndexList(heap);
	ListCell *cell;

	form->index = InvalidOid;
	form->other_index = false;

	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		const FormData_pg_index *about = index->rd_index;

		if (about->indkey.values[0] != CKFP_ID || about->indnatts != 1 ||
			RelationGetIndexPredicate(index) != NIL)
			form->other_index = true;
		else if (about->indisprimary && about->indimmediate && about->indisvalid)
			form->index = lfirst_oid(cell);
		index_close(index, NoLock);
	}
	list_free(indexes);
	if (!OidIsValid(form->index))
		ckfp_error_unusable(heap, "has no primary key");
}

static void
ckfp_read_form(Relation heap, ckfp_form *form)
{
	FuncExpr *call = ckfp_constraint_of(heap);
	ckf_status status;

	form->type = exprType(lthird(call->args));
	form->collation = exprCollation(lthird(call->args));
	form->decimals = ckfp_type_has_decimals(form->type, form->collation);
	ckf_params_default(&form->params);
	form->params.capacity = DatumGetInt64(ckfp_constant(call, 3, heap));
	form->params.fpr = DatumGetFloat8(ckfp_constant(call, 4, heap));
	ckfp_parse_options(DatumGetTextPP(ckfp_constant(call, 5, heap)), &form->params);
	status = ckf_chunks_init(&form->chunks, &form->params);
	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){.params = &form->params});
	form->chunks.page_room =
		CKFP_PAGE_ROOM * RelationGetFillFactor(heap, HEAP_DEFAULT_FILLFACTOR) / 100;
	form->chunks.row_room = CKFP_ROW_ROOM;
	ckfp_read_indexes(heap, form);
	form->allowed = form->depth = 0;
	form->valid = true;
}

/* The form of a relation that is locked. */
static ckfp_form *
ckfp_form_of(Relation heap)
{
	Oid relation = RelationGetRelid(heap);
	ckfp_form *form;
	bool found;

	if (unlikely(ckfp_forms == NULL))
		ckfp_start_forms();
	form = hash_search(ckfp_forms, &relation, HASH_ENTER, &found);
	if (!found)
		form->valid = false;
	if (!form->valid)
		ckfp_read_form(heap, form);
	return form;
}

/* --------------------------------------------------------------------- opening */

static void
ckfp_check_privileges(Oid relation, Oid user, AclMode needed)
{
	if (pg_class_aclmask(relation, user, needed, ACLMASK_ALL) != needed)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(relation));
	if (check_enable_rls(relation, user, true) == RLS_ENABLED)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("cuckoofilter table %s has row-level security policies, which "
							   "do not apply to a filter",
							   get_rel_name(relation))));
}

/* Rows are written without triggers and without expressions of indexes, so nobody may rely on them.
 */
static void
ckfp_check_alone(Relation heap, const ckfp_form *form)
{
	if (form->other_index)
		ckfp_error_unusable(heap, "has an index besides its primary key");
	for (int i = 0; heap->trigdesc != NULL && i < heap->trigdesc->numtriggers; i++)
		if (!heap->trigdesc->triggers[i].tgisinternal)
			ckfp_error_unusable(heap, "has a trigger, which changes of the filter do not fire");
}

void
ckfp_open_table(ckfp_table *table, Oid relation, Oid user, AclMode needed, LOCKMODE lock)
{
	memset(table, 0, sizeof(*table));
	ckfp_check_privileges(relation, user, needed);
	table->heap = relation_open(relation, lock);
	table->form = ckfp_form_of(table->heap);
	if (RELATION_IS_OTHER_TEMP(table->heap))
		ckfp_error_unusable(table->heap, "is a temporary table of another session");
	table->index =
		index_open(table->form->index, lock == AccessShareLock ? lock : RowExclusiveLock);
	table->row = table_slot_create(table->heap, NULL);
	if (needed == CKFP_READS)
		return;
	ckfp_check_alone(table->heap, table->form);
	CheckCmdReplicaIdentity(table->heap, CMD_UPDATE);
}

void
ckfp_close_table(ckfp_table *table)
{
	ExecDropSingleTupleTableSlot(table->row);
	if (table->written != NULL)
		ExecDropSingleTupleTableSlot(table->written);
	index_close(table->index, NoLock);
	relation_close(table->heap, NoLock);
}

void
ckfp_error_damaged(const ckfp_table *table, int64 id, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
					errmsg("cuckoofilter table %s is damaged: %s at chunk %lld",
						   RelationGetRelationName(table->heap), what, (long long)id)));
}
