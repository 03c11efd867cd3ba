/*
 * conditions.c - conditions that call a function of ours, and say by its arguments what their
 * tables are: the CHECK constraint of a filter table, and the WHEN of triggers by which it follows
 * a table.
 */
#include "table/table.h"

#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

/* cuckoofilter_follows(filter) */
CKFP_FUNCTION(cuckoofilter_follows, BoolGetDatum(true));

List *
ckfp_arguments_of(const char *expression, PGFunction called)
{
	FuncExpr *call = expression != NULL ? stringToNode(expression) : NULL;
	FmgrInfo function;

	if (call == NULL || !IsA(call, FuncExpr))
		return NIL;
	fmgr_info(call->funcid, &function);
	return function.fn_addr == called ? call->args : NIL;
}

/* Statements of one row are frequent, and to parse a condition takes long, so the last ones are
 * kept. */
Oid
ckfp_filter_of(const Trigger *trigger)
{
	static struct
	{
		char *condition;
		Oid filter;
	} known[8];
	static unsigned next;
	List *arguments;
	const Const *filter;
	char *condition;

	if (trigger->tgqual == NULL)
		return InvalidOid;
	for (size_t i = 0; i < lengthof(known); i++)
		if (known[i].condition != NULL && strcmp(known[i].condition, trigger->tgqual) == 0)
			return known[i].filter;
	arguments = ckfp_arguments_of(trigger->tgqual, cuckoofilter_follows);
	filter = arguments != NIL ? linitial(arguments) : NULL;
	if (filter == NULL || !IsA(filter, Const) || filter->constisnull)
		return InvalidOid;
	condition = MemoryContextStrdup(TopMemoryContext, trigger->tgqual);
	next = (next + 1) % lengthof(known);
	if (known[next].condition != NULL)
		pfree(known[next].condition);
	known[next].condition = condition;
	return known[next].filter = DatumGetObjectId(filter->constvalue);
}

ckfp_followed
ckfp_read_triggers(Relation source, Oid filter)
{
	/* to read a condition may be when the session learns of a change, which frees the original */
	const TriggerDesc *triggers = CopyTriggerDesc(source->trigdesc);
	ckfp_followed followed = {0};

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (!OidIsValid(filter) || ckfp_filter_of(trigger) != filter)
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
	/* to read a condition may be when the session learns of a change, which frees the original */
	const TriggerDesc *triggers = CopyTriggerDesc(source->trigdesc);
	Oid filter;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		filter = ckfp_filter_of(trigger);
		if (OidIsValid(filter) && trigger->tgnattr == 1 &&
			(column == InvalidAttrNumber || trigger->tgattr[0] == column))
			return filter;
	}
	return InvalidOid;
}
