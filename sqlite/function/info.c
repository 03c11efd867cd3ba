/*
 * info.c - cuckoofilter_info: the parameters and statistics of a filter as JSON.
 */
#include "../argument.h"
#include "function.h"
#include "json.h"

void
ckfs_append_words(sqlite3_str *json, const char *const *words)
{
	int i;

	sqlite3_str_appendchar(json, 1, '[');
	for (i = 0; words[i]; i++)
		sqlite3_str_appendf(json, "%s\"%s\"", i > 0 ? "," : "", words[i]);
	sqlite3_str_appendchar(json, 1, ']');
}

static void
ckfs_append_fields(sqlite3_str *json, const ckf_info *info){
	CKF_INFO_FIELDS(CKFS_COUNT, CKFS_INTEGER, CKFS_INTEGER, CKFS_REAL, CKFS_WORD, CKFS_WORDS)}

/* The subtype of JSON values in SQLite. */
#define CKFS_JSON_SUBTYPE 'J'

sqlite3_str *ckfs_json_start(sqlite3_context *ctx, char opening)
{
	sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(ctx));

	sqlite3_str_appendchar(json, 1, opening);
	return json;
}

void
ckfs_json_result(sqlite3_context *ctx, sqlite3_str *json, char closing)
{
	char *text;

	sqlite3_str_appendchar(json, 1, closing);
	text = sqlite3_str_finish(json);
	if (!text)
	{
		sqlite3_result_error_nomem(ctx);
		return;
	}
	sqlite3_result_text(ctx, text, -1, sqlite3_free);
	sqlite3_result_subtype(ctx, CKFS_JSON_SUBTYPE);
}

/* cuckoofilter_info(filter): it checks every slot, so it also finds damage. */
void
ckfs_sql_info(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter(ctx, argv[0], CKF_FOREIGN, &local);
	ckf_info info;
	sqlite3_str *json;

	(void)argc;
	if (!filter)
		return;
	ckf_get_info(filter, &info);
	json = ckfs_json_start(ctx, '{');
	ckfs_append_fields(json, &info);
	ckfs_json_result(ctx, json, '}');
}
