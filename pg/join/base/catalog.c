/*
 * catalog.c - what several rooms ask the catalogs.
 */
#include "join/base/join.h"

#include "access/htup_details.h"
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

bool
ckfp_has_policies(Oid relation)
{
	FormData_pg_class class;

	return !ckfp_read_class(relation, &class) || class.relrowsecurity;
}
