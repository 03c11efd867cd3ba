/*
 * module.c - the library of the join filters, cuckoofilter_join.  It is loaded by a preload
 * setting, by LOAD, or by cuckoofilter_join_load().  It shares the engine and pg/item with the
 * library of the type, and needs nothing else of it.
 */
#include "reason.h"
#include "stats.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(cuckoofilter_join_load);

#if PG_VERSION_NUM < 160000
void _PG_init(void);
#endif

void
_PG_init(void)
{
	ckfp_join_init_settings();
	ckfp_join_init_planner();
	ckfp_join_init_executor();
	ckfp_join_init_stats();
	ckfp_join_init_reasons();
}

/* cuckoofilter_join_load() -> void.  To call it is to load the library. */
Datum
cuckoofilter_join_load(PG_FUNCTION_ARGS)
{
	PG_RETURN_VOID();
}
