/*
 * json_array.c - JSON arrays of numbers and strings, element by element.
 *
 * SQLite before 3.38 may be built without its JSON functions, and json_each gives the value of a
 * number but not its text.  So this file has a parser of its own.  It is as strict as RFC 8259: it
 * accepts no comments, no trailing commas and no control characters.  An element has the SQL value
 * that json_each gives it.
 */
#include "../host.h"
#include "json_array.h"

#include "cuckoofilter_host.h"

#include <string.h>

static void
ckfs_json_skip_blanks(ckfs_array *array)
{
	while (array->at < array->end &&
		   (*array->at == ' ' || *array->at == '\t' || *array->at == '\n' || *array->at == '\r'))
		array->at++;
}

/* The next character, or 0 at the end.  The text itself may contain a 0, which is not valid
 * JSON. */
static char
ckfs_json_peek(const ckfs_array *array)
{
	return array->at < array->end ? *array->at : 0;
}

/* Skip the next character if it is this one. */
static bool
ckfs_json_take(ckfs_array *array, char wanted)
{
	if (ckfs_json_peek(array) != wanted)
		return false;
	array->at++;
	return true;
}

/* ------------------------------------------------------------------ numbers */

/* Skip digits. false: there are none. */
static bool
ckfs_json_take_digits(ckfs_array *array)
{
	const char *first = array->at;

	while (ckfs_json_peek(array) >= '0' && ckfs_json_peek(array) <= '9')
		array->at++;
	return array->at > first;
}

/* A number without fraction and exponent is INTEGER if it fits, else REAL. */
static bool
ckfs_json_read_number(ckfs_array *array, ckfs_element *element)
{
	const char *first = array->at;
	bool negative = ckfs_json_take(array, '-'), real = false;
	uint64_t integer;

	if (!ckfs_json_take(array, '0') && !ckfs_json_take_digits(array))
		return false;
	if (ckfs_json_take(array, '.'))
	{
		real = true;
		if (!ckfs_json_take_digits(array))
			return false;
	}
	if (ckfs_json_take(array, 'e') || ckfs_json_take(array, 'E'))
	{
		real = true;
		if (!ckfs_json_take(array, '-'))
			ckfs_json_take(array, '+');
		if (!ckfs_json_take_digits(array))
			return false;
	}
	element->type = SQLITE_FLOAT;
	if (!real && ckf_text_integer((ckf_text){first, (size_t)(array->at - first)}, &integer) &&
		(negative || integer <= INT64_MAX))
	{
		element->type = SQLITE_INTEGER;
		element->integer = (int64_t)integer;
	}
	return true;
}

/* ------------------------------------------------------------------ strings */

/* Read four hexadecimal digits. */
static bool
ckfs_json_take_hex(ckfs_array *array, unsigned *code)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *digit;
	int i;

	*code = 0;
	for (i = 0; i < 4; i++, array->at++)
	{
		digit = ckfs_json_peek(array) ? strchr(digits, ckfs_json_peek(array)) : NULL;
		if (!digit)
			return false;
		*code = *code * 16 + (unsigned)(digit - digits) - (digit - digits > 15 ? 6 : 0);
	}
	return true;
}

/* Write a character in UTF-8.  One half of a surrogate pair becomes three bytes, as in SQLite. */
static char *
ckfs_json_put_utf8(char *to, unsigned code)
{
	static const unsigned first[] = {0, 0xC0, 0xE0, 0xF0};
	unsigned more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);

	*to++ = (char)(first[more] | code >> 6 * more);
	while (more-- > 0)
		*to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
	return to;
}

/* Read what follows \u, including the second half of a surrogate pair. */
static bool
ckfs_json_read_code(ckfs_array *array, char **to)
{
	unsigned code, low;

	if (!ckfs_json_take_hex(array, &code))
		return false;
	if (code >= 0xD800 && code < 0xDC00 && array->end - array->at >= 6 && array->at[0] == '\\' &&
		array->at[1] == 'u')
	{
		ckfs_array next = *array;

		next.at += 2;
		if (ckfs_json_take_hex(&next, &low) && low >= 0xDC00 && low < 0xE000)
		{
			code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
			array->at = next.at;
		}
	}
	*to = ckfs_json_put_utf8(*to, code);
	return true;
}

/* Read what follows a backslash. */
static bool
ckfs_json_read_escape(ckfs_array *array, char **to)
{
	static const char names[] = "\"\\/bfnrt";
	static const char meant[] = "\"\\/\b\f\n\r\t";
	const char *name = ckfs_json_peek(array) ? strchr(names, ckfs_json_peek(array)) : NULL;

	if (ckfs_json_take(array, 'u'))
		return ckfs_json_read_code(array, to);
	if (!name)
		return false;
	array->at++;
	*(*to)++ = meant[name - names];
	return true;
}

/* Read a string after its first quotation mark.  If it has no escapes, its bytes are used as they
 * are. */
static bool
ckfs_json_read_string(ckfs_array *array, ckfs_element *element)
{
	const char *first = array->at;
	char *to = array->room;

	element->type = SQLITE_TEXT;
	while (array->at < array->end && *array->at != '"' && *array->at != '\\' &&
		   (unsigned char)*array->at >= ' ')
		array->at++;
	element->string = first;
	element->string_size = (size_t)(array->at - first);
	if (ckfs_json_take(array, '"'))
		return true;
	memcpy(to, first, element->string_size);
	to += element->string_size;
	while (!ckfs_json_take(array, '"'))
	{
		if ((unsigned char)ckfs_json_peek(array) < ' ')
			return false;
		if (!ckfs_json_take(array, '\\'))
			*to++ = *array->at++;
		else if (!ckfs_json_read_escape(array, &to))
			return false;
	}
	element->string = array->room;
	element->string_size = (size_t)(to - array->room);
	return true;
}

/* -------------------------------------------------------------------- array */

/* Skip the bracket or comma before the next element. */
static ckfs_read
ckfs_json_next_element(ckfs_array *array)
{
	bool first = !array->begun;

	ckfs_json_skip_blanks(array);
	array->begun = true;
	if (first && !ckfs_json_take(array, '['))
		return CKFS_READ_BAD;
	ckfs_json_skip_blanks(array);
	if (ckfs_json_take(array, ']'))
	{
		ckfs_json_skip_blanks(array);
		return array->at == array->end ? CKFS_READ_END : CKFS_READ_BAD;
	}
	if (!first && !ckfs_json_take(array, ','))
		return CKFS_READ_BAD;
	ckfs_json_skip_blanks(array);
	return CKFS_READ_ELEMENT;
}

ckfs_read
ckfs_read_element(ckfs_array *array, ckfs_element *element)
{
	ckfs_read next = ckfs_json_next_element(array);

	if (next != CKFS_READ_ELEMENT)
		return next;
	element->text = array->at;
	if (!(ckfs_json_take(array, '"') ? ckfs_json_read_string(array, element)
									 : ckfs_json_read_number(array, element)))
		return CKFS_READ_BAD;
	element->size = (size_t)(array->at - element->text);
	return CKFS_READ_ELEMENT;
}
