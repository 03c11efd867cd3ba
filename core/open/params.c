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
	params->decimals = false;
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

/* The options, as bits. */
enum
{
	CKF_OPTION_KIND = 1,
	CKF_OPTION_LAYOUT = 2,
	CKF_OPTION_SEED = 4,
	CKF_OPTION_BUCKET_SIZE = 8
};

/* Read one option, and return its bit; 0: it is invalid. */
static unsigned
ckf_read_option(ckf_params *params, ckf_text name, ckf_text value)
{
	uint64_t number;

	if (ckf_piece_is(name, "kind"))
	{
		params->set = ckf_piece_is(value, "set");
		return params->set || ckf_piece_is(value, "deletable") ? CKF_OPTION_KIND : 0;
	}
	if (ckf_piece_is(name, "layout"))
	{
		params->plain = ckf_piece_is(value, "plain");
		return params->plain || ckf_piece_is(value, "semi_sorted") ? CKF_OPTION_LAYOUT : 0;
	}
	if (ckf_piece_is(name, "seed"))
		return ckf_text_integer(value, &params->seed) ? CKF_OPTION_SEED : 0;
	if (ckf_piece_is(name, "bucket_size") && ckf_text_integer(value, &number) &&
		(number == 2 || number == 4 || number == 8))
	{
		params->bucket_size = (uint8_t)number;
		return CKF_OPTION_BUCKET_SIZE;
	}
	return 0;
}

ckf_status
ckf_params_parse(ckf_params *params, const char *text, size_t size, const char **bad,
				 size_t *bad_size)
{
	ckf_params result = *params;
	const char *end = text + size;
	const char *at = text;
	unsigned given = 0;

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
		unsigned option = equals ? ckf_read_option(&result, ckf_text_trim(at, equals),
												   ckf_text_trim(equals + 1, stop))
								 : 0;

		if (option == 0 || (given & option))
		{
			*bad = whole.at;
			*bad_size = whole.size;
			return option ? CKF_OPTION_TWICE : CKF_BAD_OPTION;
		}
		given |= option;
		at = stop + 1;
	}
	if ((given & CKF_OPTION_LAYOUT) && !result.plain && result.bucket_size != 4)
		return CKF_BAD_OPTION;
	*params = result;
	return CKF_OK;
}
