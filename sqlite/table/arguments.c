/*
 * arguments.c - the arguments of USING cuckoofilter: fpr=.., capacity=.., and the options of
 * cuckoofilter_create, each as an argument of its own.
 */
#include "methods.h"

#include "../argument.h"

#include "cuckoofilter_host.h"
#include "messages.h"

#include <string.h>

#define CKFS_DEFAULT_CAPACITY 1000000

static bool
ckfs_piece_is(ckf_text piece, const char *word)
{
	return piece.size == strlen(word) && sqlite3_strnicmp(piece.at, word, (int)piece.size) == 0;
}

/* Report an argument; status: CKF_BAD_OPTION, CKF_OPTION_TWICE.  A table takes the rate and the
 * capacity as options, too, so it lists more of them than a function. */
static int
ckfs_bad_argument(char **error, ckf_status status, ckf_text argument)
{
	if (status == CKF_OPTION_TWICE || ckf_lacks_comma(argument))
		*error = ckfs_error_text(status,
								 (ckf_about){.option = argument.at, .option_size = argument.size});
	else if (argument.size > 3 && sqlite3_strnicmp(argument.at, "fpr", 3) == 0)
		*error = sqlite3_mprintf(CKF_SAY_BAD_OPTION "%s", (int)argument.size, argument.at,
								 CKFS_REST_PERCENT);
	else
		*error = sqlite3_mprintf(
			"invalid cuckoofilter option \"%.*s\": options of a table are fpr=<rate>, "
			"capacity=<items>, " CKF_OPTIONS,
			(int)argument.size, argument.at);
	return *error ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* Read one argument.  An option that ckf_params_parse reads is appended to *options. */
static int
ckfs_read_argument(sqlite3 *db, const char *text, bool twice, ckf_params *params,
				   sqlite3_str *options, char **error)
{
	const char *end = text + strlen(text);
	const char *equals = strchr(text, '=');
	ckf_text whole = ckf_text_trim(text, end);
	ckf_text name, value;
	sqlite3_stmt *statement = NULL;
	double number = 0;
	bool is_number;
	int rc;

	if (whole.size == 0)
		return SQLITE_OK;
	if (!equals)
		return ckfs_bad_argument(error, CKF_BAD_OPTION, whole);
	name = ckf_text_trim(text, equals);
	value = ckf_text_trim(equals + 1, end);
	if (value.size >= 2 && (value.at[0] == '\'' || value.at[0] == '"') &&
		value.at[value.size - 1] == value.at[0])
		value = ckf_text_trim(value.at + 1, value.at + value.size - 1);
	if (!ckfs_piece_is(name, "fpr") && !ckfs_piece_is(name, "capacity"))
	{
		if (memchr(value.at, ',', value.size)) /* it would add a second option */
			return ckfs_bad_argument(error, CKF_BAD_OPTION, whole);
		sqlite3_str_appendf(options, "%s%.*s=%.*s", sqlite3_str_length(options) > 0 ? "," : "",
							(int)name.size, name.at, (int)value.size, value.at);
		return sqlite3_str_errcode(options);
	}
	rc = ckfs_read_real(db, &statement, value.at, value.size, &number, &is_number);
	sqlite3_finalize(statement);
	if (rc != SQLITE_OK)
		return rc;
	/* SQLite also skips vertical tabs and form feeds, which are no blanks here */
	if (!is_number || value.at[0] <= ' ' || value.at[value.size - 1] <= ' ')
		return ckfs_bad_argument(error, CKF_BAD_OPTION, whole);
	if (twice)
		return ckfs_bad_argument(error, CKF_OPTION_TWICE, whole);
	if (ckfs_piece_is(name, "fpr"))
		params->fpr = number;
	else if (number >= -CKF_EXACT && number <= CKF_EXACT && number == (double)(int64_t)number)
		params->capacity = (int64_t)number;
	else
		return ckfs_bad_argument(error, CKF_BAD_OPTION, whole);
	return SQLITE_OK;
}

/* Read the options that the functions have, too. */
static int
ckfs_read_options(const char *options, ckf_params *params, char **error)
{
	ckf_text bad = {0};
	ckf_status status;

	if (!options)
		return SQLITE_OK;
	status = ckf_params_parse(params, options, strlen(options), &bad.at, &bad.size);
	return status == CKF_OK ? SQLITE_OK : ckfs_bad_argument(error, status, bad);
}

static ckf_text
ckfs_name_of(const char *argument)
{
	return ckf_text_trim(argument, argument + strcspn(argument, "="));
}

/* Whether one of some arguments has the name of this one. */
static bool
ckfs_has_name(const char *const *argv, int count, const char *argument)
{
	ckf_text name = ckfs_name_of(argument);
	int i;

	for (i = 0; i < count; i++)
	{
		ckf_text other = ckfs_name_of(argv[i]);

		if (other.size == name.size && sqlite3_strnicmp(other.at, name.at, (int)name.size) == 0)
			return true;
	}
	return false;
}

int
ckfs_table_arguments(sqlite3 *db, bool unique, int argc, const char *const *argv,
					 ckf_params *params, ckf_chunks *chunks, char **error)
{
	sqlite3_str *options = sqlite3_str_new(db);
	int rc = SQLITE_OK;
	ckf_status status;
	char *text;
	int i;

	ckf_params_default(params);
	params->capacity = CKFS_DEFAULT_CAPACITY;
	for (i = 0; i < argc && rc == SQLITE_OK; i++)
		if (unique || !ckfs_has_name(argv + i + 1, argc - i - 1, argv[i]))
			rc = ckfs_read_argument(db, argv[i], unique && ckfs_has_name(argv, i, argv[i]), params,
									options, error);
	text = sqlite3_str_finish(options);
	if (rc == SQLITE_OK)
		rc = ckfs_read_options(text, params, error);
	sqlite3_free(text);
	if (rc != SQLITE_OK)
		return rc;
	status = ckf_chunks_init(chunks, params);
	if (status == CKF_OK)
		return SQLITE_OK;
	*error = ckfs_error_text(status, (ckf_about){.params = params});
	return *error ? SQLITE_ERROR : SQLITE_NOMEM;
}
