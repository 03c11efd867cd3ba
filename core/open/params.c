/*
 * params.c - the parameters of a new filter: defaults, and the options text.
 */
#include "cuckoofilter_host.h"

#include <string.h>

void
ckf_params_default(ckf_params *params)
{
	params->capacity = 0;
	params->fpr = CKF_DEFAULT_FPR;
	params->seed = 0;
	params->set = false;
	params->plain = false;
	params->bucket_size = 4;
}

static bool
ckf_is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

ckf_text
ckf_text_trim(const char *at, const char *end)
{
	while (at < end && ckf_is_blank(*at))
		at++;
	while (end > at && ckf_is_blank(end[-1]))
		end--;
	return (ckf_text){at, (size_t)(end - at)};
}

static bool
ckf_piece_is(ckf_text piece, const char *word)
{
	size_t i;

	for (i = 0; i < piece.size && word[i] != '\0'; i++)
		if (piece.at[i] != word[i])
			return false;
	return i == piece.size && word[i] == '\0';
}

bool
ckf_text_integer(ckf_text piece, uint64_t *value)
{
	bool negative = piece.size > 0 && piece.at[0] == '-';
	size_t i = negative || (piece.size > 0 && piece.at[0] == '+');
	uint64_t sum = 0;

	if (i == piece.size)
		return false;
	for (; i < piece.size; i++)
	{
		unsigned digit = (unsigned)(piece.at[i] - '0');

		if (digit > 9 || sum > UINT64_MAX / 10 || sum * 10 > UINT64_MAX - digit)
			return false;
		sum = sum * 10 + digit;
	}
	if (negative && sum > UINT64_C(1) << 63)
		return false;
	*value = negative ? UINT64_C(0) - sum : sum;
	return true;
}

/* Whether an option with this name is in the text before `end`, the options read so far. */
static bool
ckf_was_given(const char *text, const char *end, ckf_text name)
{
	while (text < end)
	{
		const char *stop = memchr(text, ',', (size_t)(end - text));
		const char *equals = memchr(text, '=', (size_t)(end - text));
		ckf_text before = ckf_text_trim(text, equals); /* not NULL: ckf_read_option accepted it */

		if (before.size == name.size && memcmp(before.at, name.at, name.size) == 0)
			return true;
		text = stop + 1;
	}
	return false;
}

/* Read one option.  *layout_given is 0 as long as there was no layout option, 1 for plain and 2 for
 * semi_sorted.  The caller checks it against the bucket size after the last option. */
static bool
ckf_read_option(ckf_params *params, ckf_text name, ckf_text value, int *layout_given)
{
	uint64_t number;

	if (ckf_piece_is(name, "kind"))
	{
		params->set = ckf_piece_is(value, "set");
		return params->set || ckf_piece_is(value, "deletable");
	}
	if (ckf_piece_is(name, "layout"))
	{
		*layout_given = ckf_piece_is(value, "plain")         ? 1
						: ckf_piece_is(value, "semi_sorted") ? 2
															 : 0;
		return *layout_given != 0;
	}
	if (ckf_piece_is(name, "seed"))
		return ckf_text_integer(value, &params->seed);
	if (ckf_piece_is(name, "bucket_size") && ckf_text_integer(value, &number) &&
		(number == 2 || number == 4 || number == 8))
	{
		params->bucket_size = (uint8_t)number;
		return true;
	}
	return false;
}

ckf_status
ckf_params_parse(ckf_params *params, const char *text, size_t size, const char **bad,
				 size_t *bad_size)
{
	ckf_params result = *params;
	const char *end = text + size;
	const char *at = text;
	int layout_given = 0;

	*bad = text;
	*bad_size = size;
	if (ckf_text_trim(text, end).size == 0)
		return CKF_OK;
	while (at <= end)
	{
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;
		const char *equals = memchr(at, '=', (size_t)(stop - at));
		ckf_text whole = ckf_text_trim(at, stop);
		bool valid = equals && ckf_read_option(&result, ckf_text_trim(at, equals),
											   ckf_text_trim(equals + 1, stop), &layout_given);

		if (!valid || ckf_was_given(text, at, ckf_text_trim(at, equals)))
		{
			*bad = whole.at;
			*bad_size = whole.size;
			return valid ? CKF_OPTION_TWICE : CKF_BAD_OPTION;
		}
		at = stop + 1;
	}
	if (layout_given == 2 && result.bucket_size != 4)
		return CKF_BAD_OPTION;
	if (layout_given)
		result.plain = layout_given == 1;
	*params = result;
	return CKF_OK;
}
