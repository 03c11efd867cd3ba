/*
 * string.h - the functions of the C library that the engine calls.  clang translates copies and
 * fills to instructions of WebAssembly.
 */
#ifndef CKFW_STRING_H
#define CKFW_STRING_H

#include <stddef.h>

#define memcpy(to, from, size) __builtin_memcpy(to, from, size)
#define memmove(to, from, size) __builtin_memmove(to, from, size)
#define memset(to, byte, size) __builtin_memset(to, byte, size)

int memcmp(const void *a, const void *b, size_t size);
void *memchr(const void *bytes, int byte, size_t size);
size_t strlen(const char *text);

#endif
