/*
 * json_fields.h - the fields of info_fields.h as JSON: `json` is a StringInfo, `info` a ckf_info.
 */
#ifndef CKFP_JSON_FIELDS_H
#define CKFP_JSON_FIELDS_H

#include "host.h"

#include "info_fields.h"

#include "lib/stringinfo.h"

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

static inline void
ckfp_append_words(StringInfo json, const char *const *words)
{
	appendStringInfoChar(json, '[');
	for (int i = 0; words[i]; i++)
		appendStringInfo(json, "%s\"%s\"", i > 0 ? "," : "", words[i]);
	appendStringInfoChar(json, ']');
}

#endif
