/*
 * open.c - what a filter table is: a table whose CHECK constraint calls cuckoofilter_chunk_valid on
 * its two columns.  The constraint has the parameters and the type of the items, so they go where
 * the table goes: through a dump, a rename, CREATE TABLE (LIKE ..).
 */
#include "table/table.h"

#include "error.h"
#include "type/argument_cache.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/transam.h"
#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"

/* A page of rows, and a row without its chunk: line pointer, header, id, length of the chunk. */
#define CKFP_PAGE_ROOM 8168
#define CKFP_ROW_ROOM (4 + 24 + 8 + 4)

/* Bytes of a chunk above which it splits; README.md has what other sizes cost. */
#define CKFP_SPLIT_SIZE 360

/* ------------------------------------------------------------ a session's forms */

static HTAB *ckfp_forms;

/* The relation whose form is being read; InvalidOid: it has changed since. */
static Oid ckfp_reading;

/* A relation, or each one if it is InvalidOid, has changed. Open tables have copies of their forms.
 */
static void
ckfp_forget(Datum argument, Oid relation)
{
	(void)argument;
	if (!OidIsValid(relation) || relation == ckfp_reading)
		ckfp_reading = InvalidOid;
	if (ckfp_forms != NULL && OidIsValid(relation))
		(void)hash_search(ckfp_forms, &relation, HASH_REMOVE, NULL);
	else if (ckfp_forms != NULL)
	{
		hash_destroy(ckfp_forms);
		ckfp_forms = NULL;
	}
}

/* The cached form of a relation; NULL: there is none (HASH_FIND). */
static ckfp_form *
ckfp_cached(Oid relation, HASHACTION action)
{
	static bool registered;
	HASHCTL control = {
		.keysize = sizeof(Oid), .entrysize = sizeof(ckfp_form), .hcxt = CacheMemoryContext};

	if (!registered)
		CacheRegisterRelcacheCallback(ckfp_forget, (Datum)0);
	registered = true;
	if (ckfp_forms == NULL)
		ckfp_forms =
			hash_create("cuckoofilter tables", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return hash_search(ckfp_forms, &relation, action, NULL);
}

/* ---------------------------------------------------------- reading a relation */

_Noreturn void
ckfp_error_unusable(Relation heap, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("cuckoofilter table %s cannot be used: it %s",
						   RelationGetRelationName(heap), what)));
}

_Noreturn static void
ckfp_error_no_table(Relation heap)
{
	const char *filter = get_rel_name(ckfp_follower_of(heap, InvalidAttrNumber));

	ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
					errmsg("%s is not a cuckoofilter table", RelationGetRelationName(heap)),
					filter != NULL ? errhint("Cuckoofilter table %s follows it.", filter)
								   : errhint("cuckoofilter_table_create creates one.")));
}

static bool
ckfp_is_column(const Node *node, AttrNumber column)
{
	return IsA(node, Var) && ((const Var *)node)->varattno == column;
}

/* The constant in an argument of a call, perhaps under a cast of PostgreSQL's, which has no other
 * argument. Functions of others are not run: the owner of the table is not who calls. */
static Datum
ckfp_constant(List *arguments, int n, Relation heap)
{
	Node *node = list_nth(arguments, n);
	const FuncExpr *cast = (const FuncExpr *)node;
	const Const *constant = NULL;

	if (IsA(node, Const) || (IsA(node, FuncExpr) && cast->funcid < FirstNormalObjectId &&
							 list_length(cast->args) == 1 && IsA(linitial(cast->args), Const)))
		constant = (const Const *)eval_const_expressions(NULL, node);
	if (constant == NULL || !IsA(constant, Const) || constant->constisnull)
		ckfp_error_no_table(heap);
	return constant->constvalue;
}

List *
ckfp_constraint_of(Relation heap)
{
	const TupleConstr *constraints = RelationGetDescr(heap)->constr;
	List *arguments;

	if (heap->rd_rel->relkind == RELKIND_RELATION && !heap->rd_rel->relispartition &&
		RelationGetNumberOfAttributes(heap) == CKFP_CHUNK && constraints != NULL)
		for (int i = 0; i < constraints->num_check; i++)
		{
			arguments = ckfp_arguments_of(constraints->check[i].ccbin, "cuckoofilter_chunk_valid");
			if (arguments != NIL && ckfp_is_column(linitial(arguments), CKFP_ID) &&
				ckfp_is_column(lsecond(arguments), CKFP_CHUNK))
				return arguments;
		}
	return NIL;
}

/* Find the index by which rows are found, and whether there is one that is no copy of it, as
 * REINDEX CONCURRENTLY builds it. Its expressions are not read: functions in them would be run. */
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

		if (index->rd_rel->relam != BTREE_AM_OID || !about->indisunique || about->indnatts != 1 ||
			about->indkey.values[0] != CKFP_ID || index->rd_indoption[0] != 0 ||
			!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
			form->other_index = true;
		else if (about->indisprimary && about->indimmediate && about->indisvalid)
			form->index = lfirst_oid(cell);
		index_close(index, NoLock);
	}
	list_free(indexes);
	if (!OidIsValid(form->index))
		ckfp_error_unusable(heap, "has no primary key of its first column");
}

void
ckfp_read_parameters(ckf_chunks *chunks, int64 capacity, double fpr, const text *options)
{
	ckf_params params;
	ckf_status status;

	ckf_params_default(&params);
	params.capacity = capacity;
	params.fpr = fpr;
	ckfp_parse_options(options, &params);
	status = ckf_chunks_init(chunks, &params);
	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){.params = &params});
}

static void
ckfp_read_form(Relation heap, ckfp_form *form)
{
	static uint64 readings;
	List *arguments = ckfp_constraint_of(heap);
	ckfp_hasher hasher = {0};

	if (arguments == NIL)
		ckfp_error_no_table(heap);
	form->reading = ++readings;
	form->relation = RelationGetRelid(heap);
	form->type = getBaseType(exprType(lthird(arguments)));
	form->collation = exprCollation(lthird(arguments));
	ckfp_hasher_prepare(&hasher, form->type, form->collation, CurrentMemoryContext);
	form->item_class = hasher.item_class;
	form->decimals = ckfp_type_has_decimals(form->type, form->collation);
	ckfp_read_parameters(&form->chunks, DatumGetInt64(ckfp_constant(arguments, 3, heap)),
						 DatumGetFloat8(ckfp_constant(arguments, 4, heap)),
						 DatumGetTextPP(ckfp_constant(arguments, 5, heap)));
	form->chunks.page_room =
		CKFP_PAGE_ROOM * RelationGetFillFactor(heap, HEAP_DEFAULT_FILLFACTOR) / 100;
	form->chunks.row_room = CKFP_ROW_ROOM;
	form->chunks.limit = CKFP_SPLIT_SIZE;
	ckfp_read_indexes(heap, form);
}

/* --------------------------------------------------------------------- opening */

static void
ckfp_check_policies(Relation heap, Oid user)
{
	if (heap->rd_rel->relrowsecurity &&
		check_enable_rls(RelationGetRelid(heap), user, true) == RLS_ENABLED)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("cuckoofilter table %s has row-level security policies, which "
							   "do not apply to a filter",
							   RelationGetRelationName(heap))));
}

/* Rows are written without triggers and without expressions of indexes, so nobody may rely on them.
 */
static void
ckfp_check_alone(const ckfp_table *table, ckfp_use use)
{
	if (table->form.other_index)
		ckfp_error_unusable(table->heap, "has an index besides its primary key");
	if (table->heap->trigdesc != NULL || table->heap->rd_rules != NULL)
		ckfp_error_unusable(table->heap, "has a trigger, a rule or a foreign key, which changes of "
										 "the filter do not run");
	CheckCmdReplicaIdentity(table->heap, CMD_UPDATE);
	if (use == CKFP_REWRITE)
		CheckCmdReplicaIdentity(table->heap, CMD_DELETE);
	if (!table->heap->rd_islocaltemp)
		PreventCommandIfReadOnly("changes of cuckoofilter tables");
}

Relation
ckfp_open_by_oid(Oid relation, LOCKMODE lock)
{
	Relation opened = try_relation_open(relation, lock);

	if (opened == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation with OID %u does not exist", relation)));
	return opened;
}

void
ckfp_open_table(ckfp_table *table, Oid relation, Oid user, ckfp_use use)
{
	static const struct
	{
		AclMode needed;
		LOCKMODE lock;
	} of[] = {
		{ACL_SELECT, AccessShareLock},
		{ACL_SELECT | ACL_INSERT | ACL_UPDATE, RowExclusiveLock},
		{ACL_SELECT | ACL_INSERT | ACL_UPDATE | ACL_DELETE, ShareRowExclusiveLock},
	};
	const ckfp_form *cached;

	memset(table, 0, offsetof(ckfp_table, bytes));
	if (pg_class_aclmask(relation, user, of[use].needed, ACLMASK_ALL) != of[use].needed)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(relation));
	table->use = use;
	table->heap = ckfp_open_by_oid(relation, of[use].lock);
	ckfp_check_policies(table->heap, user);
	cached = ckfp_cached(relation, HASH_FIND);
	if (cached != NULL)
		table->form = *cached;
	else
	{
		/* To open an index may be when the session learns that another one was created. This one
		 * does not write to it as long as the table is locked, but later calls would. */
		ckfp_reading = relation;
		ckfp_read_form(table->heap, &table->form);
		if (ckfp_reading == relation)
			*ckfp_cached(relation, HASH_ENTER) = table->form;
	}
	if (RELATION_IS_OTHER_TEMP(table->heap))
		ckfp_error_unusable(table->heap, "is a temporary table of another session");
	table->row = table_slot_create(table->heap, NULL);
	if (use != CKFP_READ)
		ckfp_check_alone(table, use);
}

void
ckfp_open(FunctionCallInfo fcinfo, ckfp_table *table, ckfp_use use)
{
	ckfp_open_table(table, PG_GETARG_OID(0), GetUserId(), use);
}

void
ckfp_close_table(ckfp_table *table)
{
	/* a lookup learns nothing but by the index */
	ckfp_form *cached = table->use != CKFP_READ || table->index != NULL
							? ckfp_cached(table->form.relation, HASH_FIND)
							: NULL;

	if (cached != NULL)
	{
		cached->depth = table->form.depth;
		cached->allowed = table->form.allowed;
	}
	if (table->scan != NULL)
		index_endscan(table->scan);
	ExecDropSingleTupleTableSlot(table->row);
	if (table->written != NULL)
		ExecDropSingleTupleTableSlot(table->written);
	if (table->index != NULL)
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
