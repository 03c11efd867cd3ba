/*
 * join.c - cuckoofilter_join_load, _join_stats and _join_stats_reset, of the join filters' library.
 *
 * They are in this library, because CREATE FUNCTION loads the library of a function: the extension
 * would load that of the join filters when it is created.
 */
#include "library.h"

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

/* The library that has the counters.  It is not loaded for them, which would change the plans of a
 * session that only looks at the counters. */
static const ckfp_library_join *
ckfp_find_join_library(void)
{
	const ckfp_library_join *library = *find_rendezvous_variable(CKFP_LIBRARY_JOIN);

	if (library == NULL)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("library \"cuckoofilter_join\" must be loaded"),
						errhint("Add it to shared_preload_libraries to count the join filters of "
								"all sessions, or call cuckoofilter_join_load() to count those of "
								"this session.")));
	return library;
}

/* cuckoofilter_join_stats() -> setof record: a row for each database */
CKFP_FUNCTION(cuckoofilter_join_stats, ckfp_find_join_library()->stats(fcinfo));

/* cuckoofilter_join_stats_reset() -> void */
CKFP_FUNCTION(cuckoofilter_join_stats_reset, ckfp_find_join_library()->stats_reset(fcinfo));
