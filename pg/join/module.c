/*
 * module.c - the library of the join filters, cuckoofilter_join. A preload setting, LOAD, or
 * cuckoofilter_join_load() loads it. Both libraries have the engine and pg/item linked in; this
 * one needs nothing else of the library of the type.
 */
#include "join/blocks/blocks.h"
#include "join/hooks.h"
#include "join/show/show.h"

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
	ckfp_join_init_complete();
}

/* cuckoofilter_join_load() -> void, where the extension is not updated to 1.6.0 yet: PostgreSQL has
 * loaded this library to call it. */
Datum
cuckoofilter_join_load(PG_FUNCTION_ARGS)
{
	PG_RETURN_VOID();
}
