/*
 * json_array.h - JSON arrays of numbers and strings.
 */
#ifndef CKFS_JSON_ARRAY_H
#define CKFS_JSON_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number or string in a JSON array, and its value in SQL: INTEGER, REAL or TEXT. */
typedef struct ckfs_element
{
	const char *text; /* as it is written in the array */
	size_t size;
	int type; /* SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT */
	int64_t integer;
	const char *string; /* of TEXT: its UTF-8, valid until the next element is read */
	size_t string_size;
} ckfs_element;

/* A JSON array that is read element by element. */
typedef struct ckfs_array
{
	const char *text, *end, *at; /* the whole text, and the position of the reader */
	char *room;                  /* for the string of an element: as many bytes as the text */
	bool begun;
} ckfs_array;

/* The result of reading an element. */
typedef enum ckfs_read
{
	CKFS_READ_ELEMENT,
	CKFS_READ_END, /* the array has ended, and nothing follows it */
	CKFS_READ_BAD  /* at array->at, the text is not an array of numbers and strings */
} ckfs_read;

ckfs_read ckfs_read_element(ckfs_array *array, ckfs_element *element);

#endif
