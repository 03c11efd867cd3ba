/*
 * vectors.c - replays test/vectors/hashes.tsv, containers.tsv, pairs.tsv, parts.tsv and
 * filters.tsv, which test/vectors/README.md describes.  PostgreSQL and SQLite replay the same
 * files.
 */
#include "tsv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	FIELDS = 6,
	OVERLAP_FIELDS = 4,
	MOST_FILTERS = 256,
	MOST_BYTES = 1 << 17
};

/* ------------------------------------------------------------------ hashes */

static void
check_hash_line(char **fields, void *arg)
{
	unsigned class_number = (unsigned)read_integer(fields[0]);
	uint8_t *bytes = check_alloc(MOST_BYTES);
	size_t size = read_hex(fields[1], bytes, MOST_BYTES);
	uint64_t seed = read_integer(fields[2]), hash = read_integer(fields[3]), word = 0;
	double real;

	(void)arg;
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

static void
run_hashes(const void *arg)
{
	check_note("%u vectors", tsv_read(arg, FIELDS, check_hash_line, NULL));
}

/* -------------------------------------------------------------- containers */

static void
check_container_line(char **fields, void *arg)
{
	uint8_t *bytes = check_alloc(MOST_BYTES);
	size_t n = read_hex(fields[2], bytes, MOST_BYTES) / 8;
	uint64_t *words = check_alloc(MOST_BYTES);
	uint64_t seed = read_integer(fields[1]), hash = read_integer(fields[3]);

	(void)arg;
	for (size_t i = 0; i < n; i++)
	{
		words[i] = 0;
		for (int j = 7; j >= 0; j--)
			words[i] = words[i] << 8 | bytes[8 * i + (size_t)j];
	}
	CHECK(ckf_hash_words(words, n, seed) == hash, "%s", fields[0]);
	free(words);
	free(bytes);
}

static void
run_containers(const void *arg)
{
	check_note("%u vectors", tsv_read(arg, 5, check_container_line, NULL));
}

/* ------------------------------------------------------------------- pairs */

static void
check_pair_line(char **fields, void *arg)
{
	uint64_t item = read_integer(fields[0]), value = read_integer(fields[1]);
	uint64_t seed = read_integer(fields[2]), hash = read_integer(fields[3]);

	(void)arg;
	CHECK(ckf_hash_pair(item, value, seed) == hash, "%s with %s", fields[0], fields[1]);
}

static void
run_pairs(const void *arg)
{
	check_note("%u vectors", tsv_read(arg, FIELDS, check_pair_line, NULL));
}

/* ------------------------------------------------------------------- parts */

static void
check_part_line(char **fields, void *arg)
{
	uint64_t hash = read_integer(fields[0]);
	uint32_t parts = (uint32_t)read_integer(fields[1]), part = (uint32_t)read_integer(fields[2]);

	(void)arg;
	CHECK(ckf_part(hash, parts) == part, "%s in %s parts", fields[0], fields[1]);
}

static void
run_parts(const void *arg)
{
	check_note("%u vectors", tsv_read(arg, 5, check_part_line, NULL));
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
	CHECK(owned_rebuild(o, CKF_FINISH, NULL) == CKF_OK, "finish");
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
		CHECK(owned_rebuild(o, CKF_COMPACT, NULL) == CKF_OK, "compact");
	else if (strcmp(verb, "union") == 0 && n == 2)
		CHECK(owned_rebuild(o, CKF_UNION, find_filter(list, words[1])) == CKF_OK, "union");
	else if (strcmp(verb, "sum") == 0 && n == 2)
		CHECK(owned_rebuild(o, CKF_SUM, find_filter(list, words[1])) == CKF_OK, "sum");
	else if (strcmp(verb, "intersect") == 0 && n == 2)
		CHECK(owned_rebuild(o, CKF_INTERSECT, find_filter(list, words[1])) == CKF_OK, "intersect");
	else
		CHECK(false, "step '%s' of %zu words", verb, n);
}

static void
check_filter_line(char **fields, void *arg)
{
	filter_list *list = arg;
	char *steps[64];
	size_t n = split(fields[1], ';', steps, 64), size;
	named *entry = &list->filters[list->n];
	owned *o = &entry->filter;
	uint8_t *expected = check_alloc(TSV_LINE);

	CHECK(list->n < MOST_FILTERS, "too many filters");
	for (size_t i = 0; i < n; i++)
		do_step(o, steps[i], list);
	size = read_hex(fields[3], expected, TSV_LINE);
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
check_overlap_line(char **fields, void *arg)
{
	ckf_comparison found;

	ckf_status status =
		run_comparison(&found, find_filter(arg, fields[0]), find_filter(arg, fields[1]));

	if (strcmp(fields[2], "sizes") == 0)
	{
		CHECK(status == CKF_UNLIKE_SIZES, "%s and %s: status %d", fields[0], fields[1], status);
		return;
	}
	CHECK(status == CKF_OK, "%s and %s: status %d", fields[0], fields[1], status);
	CHECK(fabs(found.overlap - strtod(fields[2], NULL)) < 1e-8, "%s and %s: %.17g in both",
		  fields[0], fields[1], found.overlap);
	CHECK(found.empty == (strcmp(fields[3], "-") == 0), "%s and %s: empty", fields[0], fields[1]);
	CHECK(found.empty || fabs(found.jaccard - strtod(fields[3], NULL)) < 1e-8, "%s and %s: %.17g",
		  fields[0], fields[1], found.jaccard);
}

static void
run_filters(const void *arg)
{
	filter_list *list = check_alloc(sizeof *list);

	list->n = 0;
	check_note("%u filters", tsv_read(arg, FIELDS, check_filter_line, list));
	check_note("%u pairs",
			   tsv_read("test/vectors/overlaps.tsv", OVERLAP_FIELDS, check_overlap_line, list));
	for (size_t i = 0; i < list->n; i++)
		owned_free(&list->filters[i].filter);
	free(list);
}

int
main(void)
{
	check_begin("core vectors");
	check_case(run_hashes, "test/vectors/hashes.tsv", "hashes.tsv");
	check_case(run_containers, "test/vectors/containers.tsv", "containers.tsv");
	check_case(run_pairs, "test/vectors/pairs.tsv", "pairs.tsv");
	check_case(run_parts, "test/vectors/parts.tsv", "parts.tsv");
	check_case(run_filters, "test/vectors/filters.tsv", "filters.tsv");
	return check_end();
}
