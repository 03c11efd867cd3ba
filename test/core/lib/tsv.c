/*
 * tsv.c - see tsv.h.
 */
#include "tsv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

size_t
split(char *text, char separator, char **parts, size_t most)
{
	size_t n = 0;

	while (text != NULL && n < most)
	{
		parts[n++] = text;
		text = strchr(text, separator);
		if (text != NULL)
			*text++ = '\0';
	}
	return n;
}

size_t
read_hex(const char *hex, uint8_t *bytes, size_t most)
{
	size_t n = 0;

	if (strcmp(hex, "-") == 0)
		return 0;
	for (; hex[0] != '\0'; hex += 2, n++)
	{
		CHECK(n < most && isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]),
			  "bad hex");
		bytes[n] = (uint8_t)strtoul((char[]){hex[0], hex[1], '\0'}, NULL, 16);
	}
	return n;
}

void
print_hex(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
}

uint64_t
read_integer(const char *text)
{
	return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
}

unsigned
tsv_read(const char *path, size_t fields, tsv_action each, void *arg)
{
	FILE *file = fopen(path, "r");
	char *line = check_alloc(TSV_LINE), *found[TSV_FIELDS];
	unsigned lines = 0;

	CHECK(file != NULL, "%s: not there (run from the repository's root)", path);
	while (fgets(line, TSV_LINE, file) != NULL)
	{
		if (line[0] == '#' || line[0] == '\n')
			continue;
		line[strcspn(line, "\n")] = '\0';
		CHECK(split(line, '\t', found, TSV_FIELDS) == fields, "%s: fields of line '%.40s'", path,
			  line);
		each(found, arg);
		lines++;
	}
	CHECK(lines > 0, "%s: no lines", path);
	free(line);
	fclose(file);
	return lines;
}

void
expect_in(owned *o, uint64_t hash)
{
	CHECK(ckf_contains(&o->filter, hash), "an item of `in` is not in");
}

void
expect_out(owned *o, uint64_t hash)
{
	CHECK(!ckf_contains(&o->filter, hash), "an item of `out` is in");
}

static void
for_range(owned *o, const char *text, uint64_t seed, item_action action)
{
	const char *to = strstr(text, "..");
	int64_t first = (int64_t)read_integer(text);
	int64_t last = to != NULL ? (int64_t)read_integer(to + 2) : first;

	driven_class = CKF_ITEM_NUMBER;
	for (int64_t value = first; value <= last; value++)
		action(o, ckf_hash_integer(value, seed));
}

static void
for_item(owned *o, const char *item, uint64_t seed, item_action action)
{
	const char *text = item + 2;
	uint8_t *bytes;

	CHECK(item[0] != '\0' && item[1] == ':', "item '%s'", item);
	switch (item[0])
	{
		case 'i':
			for_range(o, text, seed, action);
			break;
		case 'r':
			driven_class = CKF_ITEM_NUMBER;
			action(o, ckf_hash_real(strtod(text, NULL), seed));
			break;
		case 't':
			driven_class = CKF_ITEM_TEXT;
			action(o, ckf_hash_bytes(CKF_CLASS_TEXT, text, strlen(text), seed));
			break;
		case 'b':
			driven_class = CKF_ITEM_BYTES;
			bytes = check_alloc(strlen(text) + 1);
			action(o, ckf_hash_bytes(CKF_CLASS_BYTES, bytes, read_hex(text, bytes, strlen(text)),
									 seed));
			free(bytes);
			break;
		default:
			CHECK(false, "item '%s'", item);
	}
}

void
for_items(owned *o, char *items, uint64_t seed, item_action action)
{
	if (strcmp(items, "-") == 0)
		return;
	for (char *next; items != NULL; items = next)
	{
		next = strchr(items, ',');
		if (next != NULL)
			*next++ = '\0';
		for_item(o, items, seed, action);
	}
}
