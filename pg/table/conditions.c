/*
 * conditions.c - conditions that call a function of ours, and say by its arguments what their
 * tables are: the CHECK constraint of a filter table, and the WHEN of triggers by which it follows
 * a table.
 */
#include "table/table.h"

#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* cuckoofilter_follows(filter) */
CKFP_FUNCTION(cuckoofilter_follows, BoolGetDatum(true));

/* Is a function this one in C? PostgreSQL calls a function that has a setting (ALTER FUNCTION ..
 * SET) by way of another one, so that its address does not tell which it is; its symbol does. */
static bool
ckfp_is_function(Oid function, const char *symbol)
{
	HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool is_null;
	bool is =
		HeapTupleIsValid(row) && ((Form_pg_proc)GETSTRUCT(row))->prolang == ClanguageId &&
		strcmp(TextDatumGetCString(SysCacheGetAttr(PROCOID, row, Anum_pg_proc_prosrc, &is_null)),
			   symbol) == 0;

	if (HeapTupleIsValid(row))
		ReleaseSysCache(row);
	return is;
}

List *
ckfp_arguments_of(const char *expression, const char *symbol)
{
	const FuncExpr *call = expression != NULL ? stringToNode(expression) : NULL;

	return call != NULL && IsA(call, FuncExpr) && ckfp_is_function(call->funcid, symbol)
			   ? call->args
			   : NIL;
}

/* Statements of one row are frequent, and to parse a condition takes long, so the last ones are
 * kept: each filter of a table has five, and other triggers may have some. */
Oid
ckfp_filter_of(const Trigger *trigger)
{
	static struct
	{
		char *condition;
		Oid function, filter;
	} known[64];
	static unsigned next;
	Oid function = trigger->tgfoid;
	List *arguments;
	const Const *filter;
	char *condition;
	Oid id = InvalidOid;

	if (trigger->tgqual == NULL)
		return InvalidOid;
	for (size_t i = 0; i < lengthof(known); i++)
		if (known[i].function == function && strcmp(known[i].condition, trigger->tgqual) == 0)
			return known[i].filter;
	condition = pstrdup(trigger->tgqual);
	arguments = ckfp_arguments_of(condition, "cuckoofilter_follows");
	filter = arguments != NIL ? linitial(arguments) : NULL;
	if (filter != NULL && IsA(filter, Const) && !filter->constisnull &&
		ckfp_is_function(function, "cuckoofilter_table_changed"))
		id = DatumGetObjectId(filter->constvalue);
	condition = MemoryContextStrdup(TopMemoryContext, condition);
	next = (next + 1) % lengthof(known);
	if (known[next].condition != NULL)
		pfree(known[next].condition);
	known[next].condition = condition;
	known[next].function = function;
	known[next].filter = id;
	return known[next].filter;
}

/* The filter table of a relation's trigger number i, which is in `trigger`. InvalidOid: it is not
 * one of ours. false: there are fewer triggers. The relation may read its triggers anew meanwhile,
 * and free the old ones. */
static bool
ckfp_next_trigger(Relation source, int i, Oid *filter, const Trigger **trigger)
{
	if (source->trigdesc == NULL || i >= source->trigdesc->numtriggers)
		return false;
	*filter = ckfp_filter_of(&source->trigdesc->triggers[i]);
	*trigger = &source->trigdesc->triggers[i];
	return true;
}

ckfp_followed
ckfp_read_triggers(Relation source, Oid filter)
{
	ckfp_followed followed = {0};
	const Trigger *trigger;
	Oid its;

	for (int i = 0; ckfp_next_trigger(source, i, &its, &trigger); i++)
	{
		if (!OidIsValid(filter) || its != filter)
			continue;
		if (trigger->tgnattr == 1)
			followed.column = trigger->tgattr[0];
		followed.types |= UINT64CONST(1) << (trigger->tgtype & 63);
	}
	return followed;
}

Oid
ckfp_follower_of(Relation source, AttrNumber column)
{
	const Trigger *trigger;
	Oid filter;

	for (int i = 0; ckfp_next_trigger(source, i, &filter, &trigger); i++)
		if (OidIsValid(filter) && trigger->tgnattr == 1 &&
			(column == InvalidAttrNumber || trigger->tgattr[0] == column))
			return filter;
	return InvalidOid;
}
