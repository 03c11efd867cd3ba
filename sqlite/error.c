/*
 * error.c - every error of the SQLite extension.
 *
 * A message is one sentence: the error with its values, then, after a colon, what to do.
 * PostgreSQL's errors begin with the same words. messages.h has the messages that both databases
 * share.
 */
#include "error.h"

#include "messages.h"

#include <stdarg.h>
#include <string.h>

/* Report a message from sqlite3_mprintf. */
static void
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
ckfs_write(ckf_writer *base, ckf_part_of_error part, const char *format, ...)
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
ckfs_sentence(ckf_status status, ckf_about about)
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
	ckfs_report(ctx, ckfs_sentence(status, about));
}

char *
ckfs_sentence_type(const char *what, const char *must_be, sqlite3_value *value, const char *rest)
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
ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be, sqlite3_value *value)
{
	ckfs_report(ctx, ckfs_sentence_type(what, must_be, value, ""));
}

void
ckfs_error_not_filter(sqlite3_context *ctx, sqlite3_value *value)
{
	const char *rest = sqlite3_value_type(value) == SQLITE_TEXT ? CKFS_REST_TABLE : "";

	ckfs_report(ctx, ckfs_sentence_type("cuckoofilter", CKFS_SAY_FILTER, value, rest));
}

void
ckfs_error_capacity(sqlite3_context *ctx, double capacity, bool is_integer)
{
	if (is_integer)
		ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_BAD_CAPACITY("%!.17g"),
										 (long long)CKF_MAX_CAPACITY, capacity));
	else
		ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_FRACTION("%!.17g%s"), capacity,
										 capacity > 0 && capacity < 1 ? CKFS_REST_FRACTION : ""));
}

void
ckfs_error_fpr(sqlite3_context *ctx, sqlite3_value *value)
{
	ckfs_report(ctx,
				ckfs_sentence_type("false positive rate", "a number", value, CKFS_REST_PERCENT));
}

void
ckfs_error_order(sqlite3_context *ctx, sqlite3_value *first)
{
	if (sqlite3_value_type(first) == SQLITE_BLOB)
		sqlite3_result_error(ctx, CKF_SAY_BAD_BYTES CKFS_REST_ORDER, -1);
	else
		ckfs_report(ctx,
					ckfs_sentence_type("cuckoofilter", CKFS_SAY_FILTER, first, CKFS_REST_ORDER));
}

void
ckfs_error_no_table(sqlite3_context *ctx, const char *name, const char *why)
{
	ckfs_report(ctx, sqlite3_mprintf("there is no cuckoofilter table \"%s\"%s%s", name,
									 why ? ": " : "", why ? why : ""));
}

void
ckfs_error_filter_item(sqlite3_context *ctx)
{
	sqlite3_result_error(ctx, CKF_SAY_FILTER_ITEM ": merge filters by cuckoofilter_union", -1);
}

void
ckfs_error_parts(sqlite3_context *ctx, int64_t parts)
{
	ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_BAD_PARTS, CKF_MOST_PARTS, (long long)parts));
}

void
ckfs_error_no_filter(sqlite3_context *ctx)
{
	sqlite3_result_error(ctx, "the first argument must be a cuckoofilter", -1);
}

void
ckfs_error_too_large(sqlite3_context *ctx, const ckf_filter *filter, int64_t limit)
{
	ckfs_report(ctx,
				sqlite3_mprintf(CKF_SAY_TOO_LARGE ": " CKF_FILL CKFS_REST_SPREAD, (long long)limit,
								(unsigned long long)filter->count, ckf_fpr(filter)));
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

void
ckfs_error_candidates(sqlite3_context *ctx, size_t at)
{
	ckfs_report(ctx,
				sqlite3_mprintf("candidates must be a JSON array of numbers and strings: error "
								"at byte %llu",
								(unsigned long long)at));
}

void
ckfs_error_frame(sqlite3_context *ctx)
{
	sqlite3_result_error(ctx,
						 "cuckoofilter aggregates cannot drop rows: the window frame must start at "
						 "UNBOUNDED PRECEDING",
						 -1);
}
