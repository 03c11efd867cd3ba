/*
 * catalog.c - what several modules read in the catalogs, or know of all tables of a statement.
 */
#include "join/base/join.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "nodes/pathnodes.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static bool
ckfp_collation_is_deterministic(Oid collation)
{
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

bool
ckfp_collations_agree(Oid one, Oid other)
{
	return one == other ||
		   (ckfp_collation_is_deterministic(one) && ckfp_collation_is_deterministic(other));
}

bool
ckfp_read_class(Oid relation, FormData_pg_class *class)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));

	if (!HeapTupleIsValid(tuple))
		return false;
	memcpy(class, GETSTRUCT(tuple), CLASS_TUPLE_SIZE);
	ReleaseSysCache(tuple);
	return true;
}

Relation
ckfp_open_relation(EState *estate, Index relation)
{
#if PG_VERSION_NUM >= 180000
	return ExecGetRangeTableRelation(estate, relation, false);
#else
	return ExecGetRangeTableRelation(estate, relation);
#endif
}

bool
ckfp_has_policies(Oid relation)
{
	FormData_pg_class class;

	return !ckfp_read_class(relation, &class) || class.relrowsecurity;
}

static bool
ckfp_find_policies(const PlannedStmt *statement)
{
	foreach_ptr (const RangeTblEntry, entry, statement->rtable)
		if (entry->rtekind == RTE_RELATION && ckfp_has_policies(entry->relid))
			return true;
	return false;
}

bool
ckfp_tables_hide_rows(ckfp_tables *tables)
{
	if (tables->has_barrier)
		return true;
	if (!tables->policies_known)
		tables->policies = ckfp_find_policies(tables->statement);
	tables->policies_known = true;
	return tables->policies;
}

static AppendRelInfo **
ckfp_find_parents(const PlannedStmt *statement)
{
	AppendRelInfo **parents =
		palloc0((list_length(statement->rtable) + 1) * sizeof(AppendRelInfo *));

	foreach_ptr (AppendRelInfo, info, statement->appendRelations)
	{
		/* the parent of a UNION ALL is a subquery */
		if (rt_fetch(info->parent_relid, statement->rtable)->rtekind == RTE_RELATION)
			parents[info->child_relid] = info;
	}
	return parents;
}

const AppendRelInfo *
ckfp_parent_of(ckfp_tables *tables, Index relation)
{
	if (tables->statement->appendRelations == NIL)
		return NULL;
	if (tables->parents == NULL)
		tables->parents = ckfp_find_parents(tables->statement);
	return tables->parents[relation];
}
