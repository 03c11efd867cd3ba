/*
 * info.c - cuckoofilter_info: the properties of a filter, as jsonb.
 */
#include "type/argument_cache.h"

#include "info_fields.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

PG_FUNCTION_INFO_V1(cuckoofilter_info);

#define CKFP_COUNT(field)                                                                          \
	appendStringInfo(json, "%s\"" #field "\":" UINT64_FORMAT, json->len > 1 ? "," : "",            \
					 (uint64)info->field);
#define CKFP_INTEGER(field)                                                                        \
	appendStringInfo(json, ",\"" #field "\":" INT64_FORMAT, (int64)info->field);
#define CKFP_REAL(field) appendStringInfo(json, ",\"" #field "\":%.15g", info->field);
#define CKFP_WORD(field) appendStringInfo(json, ",\"" #field "\":\"%s\"", info->field);

#define CKFP_WORDS(field)                                                                          \
	appendStringInfoString(json, ",\"" #field "\":");                                              \
	ckfp_append_words(json, info->field);

static void
ckfp_append_words(StringInfo json, const char *const *words)
{
	appendStringInfoChar(json, '[');
	for (int i = 0; words[i]; i++)
		appendStringInfo(json, "%s\"%s\"", i > 0 ? "," : "", words[i]);
	appendStringInfoChar(json, ']');
}

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
