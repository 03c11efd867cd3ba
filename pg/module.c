/*
 * module.c - the module itself.
 */
#include "host.h"

#include "utils/builtins.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(cuckoofilter_version);

/* cuckoofilter_version() -> text */
Datum
cuckoofilter_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(CKF_VERSION));
}
