/*
 * tsv.h - read the files of test/vectors, whose columns README.md describes, and their lists of
 * items.
 */
#ifndef TSV_H
#define TSV_H

#include "drive.h"

enum
{
	TSV_LINE = 1 << 20,
	TSV_FIELDS = 8
};

/* Call `each` with the fields of every line that is no comment; how many lines
 * there were.  All have this many fields. */
typedef void (*tsv_action)(char **fields, void *arg);
unsigned tsv_read(const char *path, size_t fields, tsv_action each, void *arg);

/* Cut a text in place; how many parts there are. */
size_t split(char *text, char separator, char **parts, size_t most);

size_t read_hex(const char *hex, uint8_t *bytes, size_t most);
void print_hex(const uint8_t *bytes, size_t n);
uint64_t read_integer(const char *text);

/* A function that is called with the hash of each item of a list, under a seed. driven_class is
 * the class of the item. */
typedef void (*item_action)(owned *o, uint64_t hash);
void for_items(owned *o, char *items, uint64_t seed, item_action action);

/* Actions. */
void expect_in(owned *o, uint64_t hash);
void expect_out(owned *o, uint64_t hash);

#endif
