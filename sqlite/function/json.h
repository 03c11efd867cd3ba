/*
 * json.h - write the fields of core/info_fields.h as JSON.  The macros expect a sqlite3_str `json`
 * and a pointer `info` to a struct with these members.
 */
#ifndef CKFS_JSON_H
#define CKFS_JSON_H

#include "../host.h"

#include "info_fields.h"

#define CKFS_COUNT(field)                                                                          \
	sqlite3_str_appendf(json, "%s\"" #field "\":%llu", sqlite3_str_length(json) > 1 ? "," : "",    \
						(sqlite3_uint64)info->field);
#define CKFS_INTEGER(field)                                                                        \
	sqlite3_str_appendf(json, ",\"" #field "\":%lld", (sqlite3_int64)info->field);
#define CKFS_REAL(field) sqlite3_str_appendf(json, ",\"" #field "\":%!.15g", info->field);
#define CKFS_WORD(field) sqlite3_str_appendf(json, ",\"" #field "\":\"%s\"", info->field);

#define CKFS_WORDS(field)                                                                          \
	sqlite3_str_appendall(json, ",\"" #field "\":");                                               \
	ckfs_append_words(json, info->field);

/* Append an array of words, which ends with NULL. */
void ckfs_append_words(sqlite3_str *json, const char *const *words);

/* Begin an object or an array by its opening bracket. */
sqlite3_str *ckfs_json_start(sqlite3_context *ctx, char opening);

/* End the object or array by its closing bracket, and return it as the result of the function. */
void ckfs_json_result(sqlite3_context *ctx, sqlite3_str *json, char closing);

#endif
