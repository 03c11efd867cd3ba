/*
 * module.c - the module itself.
 */
#include "host.h"

#include "join/join.h"

#include "utils/builtins.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(cuckoofilter_version);

#if PG_VERSION_NUM < 160000
void _PG_init(void);
#endif

/* Called when the library is loaded. */
void
_PG_init(void)
{
	ckfp_join_init();
}

/* cuckoofilter_version() -> text */
Datum
cuckoofilter_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(CKF_VERSION));
}
