/*
 * json.h - the fields of core/info_fields.h as JSON: for functions that have a sqlite3_str
 * `json` and an `info` with these members.
 */
#ifndef CKFS_JSON_H
#define CKFS_JSON_H

#include "host.h"

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

/* The mark of a JSON value among SQLite's functions. */
#define CKFS_JSON_SUBTYPE 'J'

/* An array of words, NULL behind the last. */
void ckfs_append_words(sqlite3_str *json, const char *const *words);

/* Begin an object. */
sqlite3_str *ckfs_json_start(sqlite3_context *ctx);

/* End it: the result is JSON. */
void ckfs_json_result(sqlite3_context *ctx, sqlite3_str *json);

#endif
