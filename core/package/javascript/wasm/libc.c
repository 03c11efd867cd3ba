/*
 * libc.c - the functions of libc/string.h.
 */
#include <stdint.h>
#include <string.h>

int
memcmp(const void *a, const void *b, size_t size)
{
	const uint8_t *p = a, *q = b;
	size_t i;

	for (i = 0; i < size; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

void *
memchr(const void *bytes, int byte, size_t size)
{
	const uint8_t *p = bytes;
	size_t i;

	for (i = 0; i < size; i++)
		if (p[i] == (uint8_t)byte)
			return (void *)(uintptr_t)(p + i);
	return NULL;
}

size_t
strlen(const char *text)
{
	size_t size = 0;

	while (text[size])
		size++;
	return size;
}
