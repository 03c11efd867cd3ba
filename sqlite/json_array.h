/*
 * json_array.h - JSON arrays of numbers and strings.
 */
#ifndef CKFS_JSON_ARRAY_H
#define CKFS_JSON_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number or string in a JSON array, and the value that it is in SQL: INTEGER, REAL or TEXT. */
typedef struct ckfs_element
{
	const char *text; /* as it stands in the array */
	size_t size;
	int type; /* SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT */
	int64_t integer;
	const char *string; /* TEXT: its UTF-8, valid until the next element is read */
	size_t string_size;
} ckfs_element;

/* A JSON array that is read element by element. */
typedef struct ckfs_array
{
	const char *text, *end, *at; /* all of it, and how far it has been read */
	char *room;                  /* for the string of an element: as many bytes as the text */
	bool begun;
} ckfs_array;

/* What came of reading an element. */
typedef enum ckfs_read
{
	CKFS_READ_ELEMENT,
	CKFS_READ_END, /* there are no more, and nothing follows the array */
	CKFS_READ_BAD  /* array->at is where the text is no array of numbers and strings */
} ckfs_read;

ckfs_read ckfs_read_element(ckfs_array *array, ckfs_element *element);

#endif
