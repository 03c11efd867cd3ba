/*
 * error.c - the errors of the C library, in PostgreSQL's sentences (messages.h).
 */
#include "internal.h"

#include "messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
cuckoofilter_sqlstate(cuckoofilter_code code)
{
	switch (code)
	{
		case CUCKOOFILTER_OK:
			break;
		case CUCKOOFILTER_NO_MEMORY:
			return "53200";
		case CUCKOOFILTER_INTERRUPTED:
			return "57014";
		case CUCKOOFILTER_BAD_PARAMETER:
			return "22023";
		case CUCKOOFILTER_BAD_BYTES:
			return "22P03";
		case CUCKOOFILTER_UNLIKE_ITEM:
			return "42804";
		case CUCKOOFILTER_BAD_STATE:
			return "55000";
		case CUCKOOFILTER_LIMIT:
			return "54000";
	}
	return "00000";
}

/* Write one of the texts of an error. */
__attribute__((format(printf, 3, 4))) static void
ckfl_say(char *text, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, size, format, arguments);
	va_end(arguments);
}

/* The three texts of an error: MESSAGE(error, CKF_SAY_.., ..). */
#define MESSAGE(error, ...) ckfl_say((error)->message, sizeof(error)->message, __VA_ARGS__)
#define DETAIL(error, ...) ckfl_say((error)->detail, sizeof(error)->detail, __VA_ARGS__)
#define HINT(error, ...) ckfl_say((error)->hint, sizeof(error)->hint, __VA_ARGS__)

/* Begin an error: its code, and no texts. */
static void
ckfl_begin(cuckoofilter_error *error, cuckoofilter_code code)
{
	error->code = code;
	error->message[0] = error->detail[0] = error->hint[0] = '\0';
}

/* Fill *error with a sentence that needs no values. */
static void
ckfl_fail_plainly(cuckoofilter_error *error, cuckoofilter_code code, const char *message)
{
	if (!error)
		return;
	ckfl_begin(error, code);
	MESSAGE(error, "%s", message);
}

void
ckfl_fail_memory(cuckoofilter_error *error)
{
	ckfl_fail_plainly(error, CUCKOOFILTER_NO_MEMORY, "out of memory");
}

bool
ckfl_interrupted(cuckoofilter_error *error)
{
	if (!error || !error->interrupted || !error->interrupted(error->data))
		return false;
	ckfl_fail_plainly(error, CUCKOOFILTER_INTERRUPTED, "interrupted");
	return true;
}

/* A merge that fails because one filter is too coarse.  The error names that filter. */
static void
ckfl_describe_coarse(cuckoofilter_error *error, const ckf_refusal *refusal,
					 const ckfl_subject *about)
{
	const ckf_filter *coarse = refusal->input == 1 ? about->other : about->filter;
	unsigned long long items = refusal->items;

	MESSAGE(error, CKF_SAY_COARSE, refusal->input == 1 ? CKF_SECOND : CKF_FIRST, items);
	DETAIL(error, CKF_DETAIL_COARSE, (unsigned long long)coarse->count, ckf_fpr(coarse),
		   (long long)coarse->capacity, refusal->fpr, refusal->limit);
	HINT(error, CKF_HINT_COARSE, items);
}

/* A filter, or the result of a merge, has no precision left. */
static void
ckfl_describe_precision(cuckoofilter_error *error, const ckfl_subject *about)
{
	ckf_refusal refusal = {.cause = CKF_FULL};

	ckfl_begin(error, CUCKOOFILTER_LIMIT);
	if (about->rebuild)
		ckf_rebuild_refusal(about->rebuild, &refusal);
	switch (refusal.cause)
	{
		case CKF_COARSE:
			ckfl_describe_coarse(error, &refusal, about);
			return;
		case CKF_CROWDED:
			MESSAGE(error, CKF_SAY_CROWDED);
			DETAIL(error, CKF_DETAIL_FILL, (unsigned long long)refusal.items, refusal.fpr);
			HINT(error, CKF_HINT_CROWDED);
			return;
		case CKF_CROWDED_HASHES:
			MESSAGE(error, CKF_SAY_CROWDED_HASHES);
			DETAIL(error, CKF_DETAIL_FILL, (unsigned long long)refusal.items, refusal.fpr);
			HINT(error, CKF_HINT_CROWDED_HASHES);
			return;
		case CKF_FULL:
			break;
	}
	MESSAGE(error, CKF_SAY_PRECISION);
	DETAIL(error, CKF_DETAIL_FILL, (unsigned long long)about->filter->count,
		   ckf_fpr(about->filter));
	HINT(error, CKF_HINT_PRECISION);
}

/* An error of a parameter, or of two filters that do not go together. */
static void
ckfl_describe_parameters(cuckoofilter_error *error, ckf_status status, const ckfl_subject *about)
{
	const ckf_params *params = about->params;

	ckfl_begin(error, CUCKOOFILTER_BAD_PARAMETER);
	switch (status)
	{
		case CKF_BAD_CAPACITY:
			MESSAGE(error, CKF_SAY_BAD_CAPACITY, (long long)CKF_MAX_CAPACITY,
					(long long)params->capacity);
			return;
		case CKF_BAD_FPR:
			MESSAGE(error, CKF_SAY_BAD_FPR("%g"), params->fpr);
			if (params->fpr >= 1)
				HINT(error, CKF_HINT_PERCENT);
			return;
		case CKF_BAD_TARGET:
			MESSAGE(error, CKF_SAY_BAD_TARGET("%g"), (long long)params->capacity, params->fpr);
			DETAIL(error, CKF_DETAIL_BAD_TARGET, CKF_MAX_PREFIX);
			HINT(error, CKF_HINT_BAD_TARGET);
			return;
		case CKF_BAD_OPTION:
		case CKF_OPTION_TWICE:
			MESSAGE(error, CKF_SAY_BAD_OPTION, (int)about->option_size, about->option);
			HINT(error, status == CKF_OPTION_TWICE ? CKF_HINT_OPTION_TWICE : CKF_HINT_BAD_OPTION);
			return;
		case CKF_UNLIKE_SIZES:
			MESSAGE(error, CKF_SAY_UNLIKE_SIZES, (unsigned long long)about->filter->count,
					(unsigned long long)about->other->count,
					about->comparison->coarse == 0 ? CKF_FIRST : CKF_SECOND);
			DETAIL(error, CKF_DETAIL_UNLIKE_SIZES, about->comparison->error);
			HINT(error, CKF_HINT_UNLIKE_SIZES, (long long)about->comparison->capacity);
			return;
		default:
			MESSAGE(error, CKF_SAY_SEED_DIFFERS);
			DETAIL(error, CKF_DETAIL_SEED_DIFFERS, (long long)about->filter->seed,
				   (long long)about->other->seed);
			HINT(error, CKF_HINT_SEED_DIFFERS);
	}
}

/* An error of the filter's bytes or of its kind. */
static void
ckfl_describe_filter(cuckoofilter_error *error, ckf_status status)
{
	switch (status)
	{
		case CKF_BAD_BYTES:
		case CKF_UNFINISHED: /* CKF_FOREIGN gives CKF_BAD_BYTES instead */
			ckfl_begin(error, CUCKOOFILTER_BAD_BYTES);
			MESSAGE(error, CKF_SAY_BAD_BYTES);
			return;
		case CKF_BAD_VERSION:
			ckfl_begin(error, CUCKOOFILTER_BAD_BYTES);
			MESSAGE(error, CKF_SAY_BAD_VERSION);
			HINT(error, CKF_HINT_BAD_VERSION);
			return;
		case CKF_IS_SET:
			ckfl_begin(error, CUCKOOFILTER_BAD_STATE);
			MESSAGE(error, CKF_SAY_IS_SET);
			DETAIL(error, CKF_DETAIL_IS_SET);
			HINT(error, CKF_HINT_IS_SET);
			return;
		case CKF_OLD_ITEMS:
			ckfl_begin(error, CUCKOOFILTER_BAD_STATE);
			MESSAGE(error, CKF_SAY_OLD_ITEMS);
			HINT(error, CKF_HINT_OLD_ITEMS);
			return;
		default:
			ckfl_begin(error, CUCKOOFILTER_BAD_STATE);
			MESSAGE(error, CKF_SAY_UNEXPECTED, (int)status);
	}
}

void
ckfl_fail(cuckoofilter_error *error, ckf_status status, ckfl_subject about)
{
	if (!error)
		return;
	switch (status)
	{
		case CKF_BAD_CAPACITY:
		case CKF_BAD_FPR:
		case CKF_BAD_TARGET:
		case CKF_BAD_OPTION:
		case CKF_OPTION_TWICE:
		case CKF_SEED_DIFFERS:
		case CKF_UNLIKE_SIZES:
			ckfl_describe_parameters(error, status, &about);
			return;
		case CKF_PRECISION:
			ckfl_describe_precision(error, &about);
			return;
		default:
			ckfl_describe_filter(error, status);
	}
}

/* The classes of the items in a filter, as words. */
static void
ckfl_describe_held(char *text, size_t size, unsigned item_classes)
{
	static const char *const words[] = {CKF_WORDS_HELD};
	unsigned left = item_classes & (CKF_ITEM_HASH - 1);
	size_t used = 0;
	int i;

	text[0] = '\0';
	for (i = 0; left >> i != 0; i++)
		if (left >> i & 1)
		{
			ckfl_say(text + used, size - used, "%s%s",
					 used == 0        ? ""
					 : left >> i == 1 ? CKF_WORDS_AND
									  : ", ",
					 words[i]);
			used = strlen(text);
		}
}

/* An item of a class that the filter has never seen. */
static void
ckfl_fail_unlike(cuckoofilter_error *error, const ckf_filter *filter, int class_number)
{
	static const char *const words[] = {CKF_WORDS_ITEM};
	char held[128];

	if (!error)
		return;
	if (filter->item_classes & CKF_ITEM_OLD)
	{
		ckfl_begin(error, CUCKOOFILTER_BAD_STATE);
		MESSAGE(error, CKF_SAY_OLD);
		HINT(error, CKF_HINT_OLD);
		return;
	}
	ckfl_begin(error, CUCKOOFILTER_UNLIKE_ITEM);
	ckfl_describe_held(held, sizeof held, filter->item_classes);
	MESSAGE(error, CKF_SAY_UNLIKE, held, words[class_number]);
	HINT(error, "Convert the item to the type of the items that were added. Use a pair only if "
				"pairs were added. To use an item of another type on purpose, use its hash.");
}

bool
ckfl_may_hold(const ckf_filter *filter, unsigned item_classes, cuckoofilter_error *error)
{
	int i;

	for (i = 0; i < 6; i++)
		if ((item_classes >> i & 1) && !ckf_may_hold(filter, 1U << i))
		{
			ckfl_fail_unlike(error, filter, i);
			return false;
		}
	return true;
}
