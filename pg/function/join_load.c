/*
 * join_load.c - cuckoofilter_join_load. It is in this library, because CREATE FUNCTION loads the
 * library of a function: the extension would load that of the join filters when it is created.
 */
#include "host.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(cuckoofilter_join_load);

/* cuckoofilter_join_load() -> void: loads cuckoofilter_join, which lies beside this library */
Datum
cuckoofilter_join_load(PG_FUNCTION_ARGS)
{
	HeapTuple function = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	Datum library;
	bool missing;

	if (!HeapTupleIsValid(function))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	library = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_probin, &missing);
	/* as CREATE FUNCTION does: from 18 on, load_file finds it in $libdir only */
	load_external_function(psprintf("%s_join", TextDatumGetCString(library)),
						   "cuckoofilter_join_load", true, NULL);
	ReleaseSysCache(function);
	PG_RETURN_VOID();
}
