/*
 * vectors.c - replays test/vectors/hashes.tsv and filters.tsv, which
 * test/vectors/README.md describes: the same files that PostgreSQL and SQLite
 * replay.
 */
#include "drive.h"

#include <stdlib.h>
#include <string.h>

enum
{
	LINE = 1 << 20,
	FIELDS = 6,
	MOST_FILTERS = 256,
	MOST_BYTES = 1 << 17
};

/* ------------------------------------------------------------------ fields */

/* Cut a line of tab-separated fields in place; how many there are. */
static size_t
split(char *line, char separator, char **fields, size_t most)
{
	size_t n = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line != NULL && n < most)
	{
		fields[n++] = line;
		line = strchr(line, separator);
		if (line != NULL)
			*line++ = '\0';
	}
	return n;
}

static size_t
read_hex(const char *hex, uint8_t *bytes, size_t most)
{
	size_t n = 0;
	unsigned byte;

	if (strcmp(hex, "-") == 0)
		return 0;
	for (; hex[0] != '\0'; hex += 2, n++)
	{
		CHECK(n < most && sscanf(hex, "%2x", &byte) == 1 && hex[1] != '\0', "bad hex");
		bytes[n] = (uint8_t)byte;
	}
	return n;
}

static uint64_t
read_integer(const char *text)
{
	return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
}

/* ------------------------------------------------------------------ hashes */

static void
check_hash_line(char **fields)
{
	unsigned class_number = (unsigned)read_integer(fields[0]);
	uint8_t *bytes = check_alloc(MOST_BYTES);
	size_t size = read_hex(fields[1], bytes, MOST_BYTES);
	uint64_t seed = read_integer(fields[2]), hash = read_integer(fields[3]), word = 0;
	double real;

	CHECK(ckf_hash_bytes((ckf_class)class_number, bytes, size, seed) == hash, "class %u, %s",
		  class_number, fields[1]);
	if (size == 8)
	{
		for (int i = 7; i >= 0; i--)
			word = word << 8 | bytes[i];
		CHECK(ckf_hash_word((ckf_class)class_number, word, seed) == hash, "class %u, word %s",
			  class_number, fields[1]);
		memcpy(&real, &word, sizeof real);
		if (class_number == CKF_CLASS_INTEGER)
			CHECK(ckf_hash_integer((int64_t)word, seed) == hash, "integer %s", fields[1]);
		if (class_number == CKF_CLASS_REAL)
			CHECK(ckf_hash_real(real, seed) == hash, "real %s", fields[1]);
	}
	free(bytes);
}

static FILE *
open_vectors(const char *path)
{
	FILE *file = fopen(path, "r");

	CHECK(file != NULL, "%s: not there (run from the repository's root)", path);
	return file;
}

static void
run_hashes(const void *arg)
{
	FILE *file = open_vectors(arg);
	char *line = check_alloc(LINE), *fields[FIELDS];
	unsigned lines = 0;

	while (fgets(line, LINE, file) != NULL)
	{
		if (line[0] == '#' || line[0] == '\n')
			continue;
		CHECK(split(line, '\t', fields, FIELDS) == FIELDS, "line %u: fields", lines);
		check_hash_line(fields);
		lines++;
	}
	check_note("%u vectors", lines);
	CHECK(lines > 0, "no vectors");
	free(line);
	fclose(file);
}

/* ----------------------------------------------------------------- filters */

typedef struct named
{
	char name[64];
	owned filter;
} named;

typedef struct filter_list
{
	named filters[MOST_FILTERS];
	size_t n;
} filter_list;

/* What to do with each hash of a list of items. */
typedef void (*item_action)(owned *o, uint64_t hash);

static void
add_item(owned *o, uint64_t hash)
{
	CHECK(owned_add(o, hash) == CKF_OK, "add");
}

static void
remove_item(owned *o, uint64_t hash)
{
	bool found;

	CHECK(owned_remove(o, hash, &found) == CKF_OK, "remove");
}

static void
expect_in(owned *o, uint64_t hash)
{
	CHECK(ckf_contains(&o->filter, hash), "an item of `in` is not in");
}

static void
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
			action(o, ckf_hash_real(strtod(text, NULL), seed));
			break;
		case 't':
			action(o, ckf_hash_bytes(CKF_CLASS_TEXT, text, strlen(text), seed));
			break;
		case 'b':
			bytes = check_alloc(MOST_BYTES);
			action(o,
				   ckf_hash_bytes(CKF_CLASS_BYTES, bytes, read_hex(text, bytes, MOST_BYTES), seed));
			free(bytes);
			break;
		default:
			CHECK(false, "item '%s'", item);
	}
}

static void
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

static void
read_options(ckf_params *params, const char *options)
{
	const char *bad;
	size_t bad_size;

	if (strcmp(options, "-") != 0)
		CHECK(ckf_params_parse(params, options, strlen(options), &bad, &bad_size) == CKF_OK,
			  "options '%s'", options);
}

static const owned *
find_filter(const filter_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->filters[i].name, name) == 0)
			return &list->filters[i].filter;
	CHECK(false, "no filter '%s' before this one", name);
	return NULL;
}

static void
do_create(owned *o, char **words)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = (int64_t)read_integer(words[1]);
	params.fpr = strtod(words[2], NULL);
	read_options(&params, words[3]);
	owned_create(o, &params);
}

static void
do_aggregate(owned *o, char **words)
{
	ckf_params params;

	ckf_params_default(&params);
	params.fpr = strtod(words[1], NULL);
	params.capacity = (int64_t)read_integer(words[2]);
	read_options(&params, words[3]);
	owned_state(o, &params);
	for_items(o, words[4], params.seed, add_item);
	CHECK(owned_job(o, CKF_FINISH, NULL) == CKF_OK, "finish");
}

static void
do_step(owned *o, char *step, const filter_list *list)
{
	char *words[5] = {NULL};
	size_t n = split(step + strspn(step, " "), ' ', words, 5);
	const char *verb = words[0];

	if (strcmp(verb, "create") == 0 && n == 4)
		do_create(o, words);
	else if (strcmp(verb, "agg") == 0 && n == 5)
		do_aggregate(o, words);
	else if (strcmp(verb, "add") == 0 && n == 2)
		for_items(o, words[1], o->filter.seed, add_item);
	else if (strcmp(verb, "remove") == 0 && n == 2)
		for_items(o, words[1], o->filter.seed, remove_item);
	else if (strcmp(verb, "compact") == 0 && n == 1)
		CHECK(owned_job(o, CKF_COMPACT, NULL) == CKF_OK, "compact");
	else if (strcmp(verb, "union") == 0 && n == 2)
		CHECK(owned_job(o, CKF_UNION, find_filter(list, words[1])) == CKF_OK, "union");
	else if (strcmp(verb, "sum") == 0 && n == 2)
		CHECK(owned_job(o, CKF_SUM, find_filter(list, words[1])) == CKF_OK, "sum");
	else
		CHECK(false, "step '%s' of %zu words", verb, n);
}

static void
check_filter_line(char **fields, filter_list *list)
{
	char *steps[64];
	size_t n = split(fields[1], ';', steps, 64), size;
	named *entry = &list->filters[list->n];
	owned *o = &entry->filter;
	uint8_t *expected = check_alloc(LINE);

	CHECK(list->n < MOST_FILTERS, "too many filters");
	for (size_t i = 0; i < n; i++)
		do_step(o, steps[i], list);
	size = read_hex(fields[3], expected, LINE);
	CHECK(o->filter.size == size && memcmp(o->bytes, expected, size) == 0, "%s: other bytes",
		  fields[0]);
	CHECK(o->filter.count == read_integer(fields[2]), "%s: count %llu", fields[0],
		  (unsigned long long)o->filter.count);
	for_items(o, fields[4], o->filter.seed, expect_in);
	for_items(o, fields[5], o->filter.seed, expect_out);
	snprintf(entry->name, sizeof entry->name, "%s", fields[0]);
	list->n++;
	free(expected);
}

static void
run_filters(const void *arg)
{
	FILE *file = open_vectors(arg);
	char *line = check_alloc(LINE), *fields[FIELDS];
	filter_list *list = check_alloc(sizeof *list);

	list->n = 0;
	while (fgets(line, LINE, file) != NULL)
	{
		if (line[0] == '#' || line[0] == '\n')
			continue;
		CHECK(split(line, '\t', fields, FIELDS) == FIELDS, "filter %zu: fields", list->n);
		check_filter_line(fields, list);
	}
	check_note("%zu filters", list->n);
	CHECK(list->n > 0, "no filters");
	for (size_t i = 0; i < list->n; i++)
		owned_free(&list->filters[i].filter);
	free(list);
	free(line);
	fclose(file);
}

int
main(void)
{
	check_begin("core vectors");
	check_case(run_hashes, "test/vectors/hashes.tsv", "hashes.tsv");
	check_case(run_filters, "test/vectors/filters.tsv", "filters.tsv");
	return check_end();
}
