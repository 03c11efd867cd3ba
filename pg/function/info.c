/*
 * info.c - cuckoofilter_info: the properties of a filter, as jsonb.
 */
#include "function/json_fields.h"
#include "type/argument_cache.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

PG_FUNCTION_INFO_V1(cuckoofilter_info);

static void
ckfp_append_fields(StringInfo json, const ckf_info *info){
	CKF_INFO_FIELDS(CKFP_COUNT, CKFP_INTEGER, CKFP_INTEGER, CKFP_REAL, CKFP_WORD, CKFP_WORDS)}

/* Reads only the header of a large value. */
Datum cuckoofilter_info(PG_FUNCTION_ARGS)
{
	ckf_filter filter;
	ckf_info info;
	StringInfoData json;

	ckfp_open_header(PG_GETARG_DATUM(0), &filter);
	ckf_get_info(&filter, &info);
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	ckfp_append_fields(&json, &info);
	appendStringInfoChar(&json, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
