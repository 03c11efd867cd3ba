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
	static const char *const states[] = {
		[CUCKOOFILTER_OK] = "00000",          [CUCKOOFILTER_NO_MEMORY] = "53200",
		[CUCKOOFILTER_INTERRUPTED] = "57014", [CUCKOOFILTER_BAD_PARAMETER] = "22023",
		[CUCKOOFILTER_BAD_BYTES] = "22P03",   [CUCKOOFILTER_UNLIKE_ITEM] = "42804",
		[CUCKOOFILTER_BAD_STATE] = "55000",   [CUCKOOFILTER_LIMIT] = "54000"};

	return states[(size_t)code < sizeof states / sizeof *states ? code : CUCKOOFILTER_OK];
}

void
ckfl_say(cuckoofilter_error *error, cuckoofilter_code code, const char *hint, const char *format,
		 ...)
{
	va_list arguments;

	if (!error)
		return;
	error->code = code;
	error->detail[0] = '\0';
	memcpy(error->hint, hint, strlen(hint) + 1);
	va_start(arguments, format);
	(void)vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
}

/* A writer of the texts. */
typedef struct ckfl_writer
{
	ckf_writer writer;
	cuckoofilter_error *error;
} ckfl_writer;

CKF_LIKE_PRINTF static void
ckfl_write(ckf_writer *writer, ckf_error_field part, const char *format, ...)
{
	cuckoofilter_error *error = ((ckfl_writer *)writer)->error;
	va_list arguments;

	va_start(arguments, format);
	if (part == CKF_MESSAGE)
		(void)vsnprintf(error->message, sizeof error->message, format, arguments);
	else if (part == CKF_DETAIL)
		(void)vsnprintf(error->detail, sizeof error->detail, format, arguments);
	else if (part == CKF_HINT)
		(void)vsnprintf(error->hint, sizeof error->hint, format, arguments);
	va_end(arguments);
}

void
ckfl_fail(cuckoofilter_error *error, ckf_status status, ckf_about about)
{
	static const cuckoofilter_code codes[] = {[CKF_FAULT_PARAMETER] = CUCKOOFILTER_BAD_PARAMETER,
											  [CKF_FAULT_BYTES] = CUCKOOFILTER_BAD_BYTES,
											  [CKF_FAULT_STATE] = CUCKOOFILTER_BAD_STATE,
											  [CKF_FAULT_LIMIT] = CUCKOOFILTER_LIMIT,
											  [CKF_FAULT_INTERNAL] = CUCKOOFILTER_BAD_STATE};
	ckfl_writer writer = {{ckfl_write, CKF_SAY_BAD_FPR("%.9g"), CKF_SAY_BAD_TARGET("%g"), false},
						  error};

	if (!error)
		return;
	error->message[0] = error->detail[0] = error->hint[0] = '\0';
	error->code = codes[ckf_describe(&writer.writer,
									 status == CKF_UNFINISHED ? CKF_BAD_BYTES : status, &about)];
}

/* An item of a class that the filter has never seen. */
static void
ckfl_fail_unlike(cuckoofilter_error *error, const ckf_filter *filter, unsigned item_class)
{
	char held[CKF_HELD_SIZE];

	if (filter->item_classes & CKF_ITEM_OLD)
		ckfl_say(error, CUCKOOFILTER_BAD_STATE, CKF_HINT_OLD, CKF_SAY_OLD);
	else
		ckfl_say(error, CUCKOOFILTER_UNLIKE_ITEM,
				 "Convert the item to the type of the items that were added. Use a pair only if "
				 "pairs were added. To use an item of another type on purpose, use its hash.",
				 CKF_SAY_UNLIKE, ckf_describe_held(held, filter->item_classes),
				 ckf_describe_item(item_class));
}

bool
ckfl_may_hold(const ckf_filter *filter, unsigned item_classes, cuckoofilter_error *error)
{
	int i;

	for (i = 0; i < 6; i++)
		if ((item_classes >> i & 1) && !ckf_may_hold(filter, 1U << i))
		{
			ckfl_fail_unlike(error, filter, 1U << i);
			return false;
		}
	return true;
}
