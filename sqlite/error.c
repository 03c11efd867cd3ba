/*
 * error.c - how the errors of the SQLite extension are reported, and those of the engine.
 *
 * A message is one sentence: the error with its values, then, after a colon, what to do.
 * PostgreSQL's errors begin with the same words. messages.h has the messages that both databases
 * share.
 */
#include "error.h"

#include "messages.h"

#include <stdarg.h>
#include <string.h>

void
ckfs_report(sqlite3_context *ctx, char *sentence)
{
	if (sentence)
		sqlite3_result_error(ctx, sentence, -1);
	else
		sqlite3_result_error_nomem(ctx);
	sqlite3_free(sentence);
}

/* A sentence that is being written. */
typedef struct ckfs_writer
{
	ckf_writer writer;
	sqlite3_str *sentence;
	bool continued; /* it has a colon */
	bool failed;    /* out of memory */
} ckfs_writer;

/* Make sentences parts of another one: lower case, semicolons between them, no full stop. */
static void
ckfs_join(char *text)
{
	char *stop;

	text[0] |= 'a' - 'A';
	for (; (stop = strstr(text, ". ")) != NULL; text = stop)
	{
		stop[0] = ';';
		stop[2] |= 'a' - 'A';
	}
	text[strlen(text) - 1] = '\0';
}

/* Details and hints become parts of one sentence: "..: it has ..; build it ..". */
CKF_LIKE_PRINTF static void
ckfs_write(ckf_writer *base, ckf_error_field part, const char *format, ...)
{
	ckfs_writer *writer = (ckfs_writer *)base;
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	writer->failed |= !text;
	if (text && part != CKF_MESSAGE)
	{
		ckfs_join(text);
		sqlite3_str_appendall(writer->sentence, writer->continued ? "; " : ": ");
		writer->continued = true;
	}
	if (text)
		sqlite3_str_appendall(writer->sentence, text);
	sqlite3_free(text);
}

char *
ckfs_error_text(ckf_status status, ckf_about about)
{
	ckfs_writer writer = {
		.writer = {ckfs_write, CKF_SAY_BAD_FPR("%!.15g"), CKF_SAY_BAD_TARGET("%!.15g"), true},
		.sentence = sqlite3_str_new(NULL)};
	char *sentence;

	/* SQLite never stores an unfinished state */
	(void)ckf_describe(&writer.writer, status == CKF_UNFINISHED ? CKF_BAD_BYTES : status, &about);
	sentence = sqlite3_str_finish(writer.sentence);
	if (!writer.failed)
		return sentence;
	sqlite3_free(sentence);
	return NULL;
}

void
ckfs_error(sqlite3_context *ctx, ckf_status status, ckf_about about)
{
	ckfs_report(ctx, ckfs_error_text(status, about));
}

char *
ckfs_type_error_text(const char *what, const char *must_be, sqlite3_value *value, const char *rest)
{
	static const char *const types[] = {[SQLITE_INTEGER] = "INTEGER",
										[SQLITE_TEXT] = "TEXT",
										[SQLITE_BLOB] = "BLOB",
										[SQLITE_NULL] = "NULL"};
	int type = sqlite3_value_type(value);

	if (type == SQLITE_FLOAT)
		return sqlite3_mprintf("%s must be %s, not %!.17g%s", what, must_be,
							   sqlite3_value_double(value), rest);
	return sqlite3_mprintf("%s must be %s, not %s%s", what, must_be, types[type], rest);
}

void
ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be, sqlite3_value *value,
				const char *rest)
{
	ckfs_report(ctx, ckfs_type_error_text(what, must_be, value, rest));
}

void
ckfs_error_filter_item(sqlite3_context *ctx)
{
	sqlite3_result_error(ctx, CKF_SAY_FILTER_ITEM ": merge filters by cuckoofilter_union", -1);
}

void
ckfs_log_unlike(ckfs_connection *connection, unsigned item_classes, unsigned item_class)
{
	char held[CKF_HELD_SIZE];

	if (ckfs_has_logged(connection, item_classes, item_class))
		return;
	connection->logged[item_classes & (CKF_ITEM_HASH - 1)] |= (uint8_t)item_class;
	sqlite3_log(SQLITE_WARNING, CKF_SAY_UNLIKE, ckf_describe_held(held, item_classes),
				ckf_describe_item(item_class));
}
