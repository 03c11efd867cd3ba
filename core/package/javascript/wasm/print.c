/*
 * print.c - vsnprintf for the errors' sentences (libc/stdio.h).
 *
 * JavaScript writes the digits of a double, which takes much code in C.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Write a double with so many significant digits, as %g does.  Returns the number of characters,
 * at most 32. */
__attribute__((import_module("env"), import_name("print_real"))) size_t
ckfw_print_real(double value, int digits, char *text);

/* Where the text goes.  size counts what did not fit, too. */
typedef struct ckfw_output
{
	char *text;
	size_t room, size;
} ckfw_output;

static void
ckfw_put(ckfw_output *out, const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++, out->size++)
		if (out->size + 1 < out->room)
			out->text[out->size] = text[i];
}

static void
ckfw_put_integer(ckfw_output *out, uint64_t value, int negative)
{
	char digits[24];
	size_t at = sizeof digits;

	if (negative)
		value = 0 - value;
	do
		digits[--at] = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	if (negative)
		digits[--at] = '-';
	ckfw_put(out, digits + at, sizeof digits - at);
}

/* Write the conversion behind a %.  Returns where the format continues. */
static const char *
ckfw_convert(ckfw_output *out, const char *format, va_list *arguments)
{
	char real[32];
	int precision = 6;
	long long integer;
	const char *text;

	if (*format == '.')
	{
		precision = *++format == '*' ? va_arg(*arguments, int) : *format - '0';
		format++;
		if (*format == 's')
		{
			ckfw_put(out, va_arg(*arguments, const char *), (size_t)precision);
			return format + 1;
		}
	}
	switch (*format)
	{
		case '%':
			ckfw_put(out, "%", 1);
			return format + 1;
		case 's':
			text = va_arg(*arguments, const char *);
			ckfw_put(out, text, strlen(text));
			return format + 1;
		case 'g':
			ckfw_put(out, real, ckfw_print_real(va_arg(*arguments, double), precision, real));
			return format + 1;
		case 'd':
			integer = va_arg(*arguments, int);
			ckfw_put_integer(out, (uint64_t)integer, integer < 0);
			return format + 1;
		default: /* lld, llu */
			integer = va_arg(*arguments, long long);
			ckfw_put_integer(out, (uint64_t)integer, format[2] == 'd' && integer < 0);
			return format + 3;
	}
}

int
vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
	ckfw_output out = {text, size, 0};
	va_list left;

	va_copy(left, arguments);
	while (*format)
		if (*format == '%')
			format = ckfw_convert(&out, format + 1, &left);
		else
			ckfw_put(&out, format++, 1);
	va_end(left);
	if (size > 0)
		text[out.size < size ? out.size : size - 1] = '\0';
	return (int)out.size;
}
