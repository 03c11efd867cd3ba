/*
 * stdio.h - print.c implements it.
 */
#ifndef CKFW_STDIO_H
#define CKFW_STDIO_H

#include <stdarg.h>
#include <stddef.h>

/* As in C, for the conversions %s, %.*s, %d, %lld, %llu, %g and %.Ng, without widths and flags. */
int vsnprintf(char *text, size_t size, const char *format, va_list arguments);

#endif
