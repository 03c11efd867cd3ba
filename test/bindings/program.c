/*
 * program.c - the C library: hashes, errors, damaged bytes, interrupts, and every allocation
 * failing once.  package.py replays the other vectors and the golden filters through it.
 */
#include "cuckoofilter_program.h"
#include "tsv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	FIELDS = 6,
	MOST_BYTES = 1 << 17
};

static cuckoofilter_error error;

/* A call that must succeed. */
#define WORKS(call) CHECK(call, "%s", error.message)

/* ------------------------------------------------------------- allocations */

/* The linker calls this instead of malloc (--wrap). */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static long allocations_left = -1; /* until one fails; -1: none does */

void *
__wrap_malloc(size_t size)
{
	if (allocations_left == 0)
		return NULL;
	if (allocations_left > 0)
		allocations_left--;
	return __real_malloc(size);
}

/* ----------------------------------------------------------------- hashes */

static void
check_hash_line(char **fields, void *arg)
{
	uint8_t *bytes = check_alloc(MOST_BYTES);
	size_t size = read_hex(fields[1], bytes, MOST_BYTES);
	uint64_t word = 0;
	double real;
	cuckoofilter_item item;

	(void)arg;
	for (int i = 7; i >= 0 && size == 8; i--)
		word = word << 8 | bytes[i];
	memcpy(&real, &word, sizeof real);
	switch (read_integer(fields[0]))
	{
		case CKF_CLASS_INTEGER:
			item = cuckoofilter_integer((int64_t)word);
			break;
		case CKF_CLASS_REAL:
			item = cuckoofilter_real(real);
			break;
		case CKF_CLASS_TEXT:
			item = cuckoofilter_text((const char *)bytes, size);
			break;
		case CKF_CLASS_BYTES:
			item = size == 16 ? cuckoofilter_uuid(bytes) : cuckoofilter_bytes(bytes, size);
			break;
		case CKF_CLASS_DECIMAL: /* numeric '1.5' */
			item = cuckoofilter_decimal(fields[5] + 9, strlen(fields[5]) - 10);
			break;
		default:
			if (word != (uint64_t)INT64_MIN && word != INT64_MAX)
				word += (uint64_t)CUCKOOFILTER_EPOCH;
			item = read_integer(fields[0]) == CKF_CLASS_TIMESTAMP
					   ? cuckoofilter_timestamp((int64_t)word)
					   : cuckoofilter_timestamptz((int64_t)word);
	}
	CHECK(cuckoofilter_hash(item, read_integer(fields[2])) == read_integer(fields[3]),
		  "class %s, %s", fields[0], fields[1]);
	free(bytes);
}

static void
run_hashes(const void *arg)
{
	check_note("%u vectors", tsv_read(arg, FIELDS, check_hash_line, NULL));
	CHECK(cuckoofilter_hash(cuckoofilter_date(10957), 0) ==
			  cuckoofilter_hash(cuckoofilter_timestamp(CUCKOOFILTER_EPOCH), 0),
		  "2000-01-01");
	CHECK(cuckoofilter_hash(cuckoofilter_real(-0.0), 9) ==
			  cuckoofilter_hash(cuckoofilter_integer(0), 9),
		  "-0.0 is 0");
}

/* ----------------------------------------------------------------- errors */

/* The last call failed with this code and sentence. */
static void
expect_error(bool failed, cuckoofilter_code code, const char *message)
{
	CHECK(failed, "no error; expected: %s", message);
	CHECK(error.code == code && strcmp(error.message, message) == 0, "%d %s, expected %d %s",
		  error.code, error.message, code, message);
}

/* The filter of the integers 1 .. n. */
static cuckoofilter *
filter_of(int64_t n, double fpr, int64_t capacity, const char *options)
{
	cuckoofilter_builder *builder = cuckoofilter_build(fpr, capacity, options, &error);
	cuckoofilter *filter;

	WORKS(builder != NULL);
	for (int64_t i = 1; i <= n; i++)
		WORKS(cuckoofilter_build_add(builder, cuckoofilter_integer(i), &error));
	filter = cuckoofilter_build_end(builder, &error);
	WORKS(filter != NULL);
	cuckoofilter_build_free(builder);
	return filter;
}

static void
run_parameter_errors(const void *arg)
{
	(void)arg;
	expect_error(!cuckoofilter_create(0, 0.01, NULL, &error), CUCKOOFILTER_BAD_PARAMETER,
				 "capacity must be from 1 to 1099511627776, not 0");
	expect_error(!cuckoofilter_create(9, 1.5, NULL, &error), CUCKOOFILTER_BAD_PARAMETER,
				 "false positive rate must be greater than 0 and less than 1, not 1.5");
	expect_error(!cuckoofilter_build(NAN, 0, NULL, &error), CUCKOOFILTER_BAD_PARAMETER,
				 "false positive rate must be greater than 0 and less than 1, not nan");
	expect_error(!cuckoofilter_create(1 << 30, 1e-12, NULL, &error), CUCKOOFILTER_BAD_PARAMETER,
				 "capacity 1073741824 at a false positive rate of 1e-12 is too precise");
	CHECK(strcmp(error.detail, "The quotient of capacity and rate must not exceed 2^56.") == 0,
		  "%s", error.detail);
	expect_error(!cuckoofilter_create(9, 0.01, "kind=set, colour=red", &error),
				 CUCKOOFILTER_BAD_PARAMETER, "invalid cuckoofilter option \"colour=red\"");
	CHECK(strstr(error.hint, "Valid options are kind=deletable|set") == error.hint, "%s",
		  error.hint);
	expect_error(!cuckoofilter_create(9, 0.01, "kind=set, kind=set", &error),
				 CUCKOOFILTER_BAD_PARAMETER, "invalid cuckoofilter option \"kind=set\"");
	CHECK(strcmp(error.hint, "Give this option once.") == 0, "%s", error.hint);
	expect_error(!cuckoofilter_build(0.01, -1, NULL, &error), CUCKOOFILTER_BAD_PARAMETER,
				 "capacity must be from 1 to 1099511627776, not -1");
	CHECK(strcmp(cuckoofilter_sqlstate(error.code), "22023") == 0, "sqlstate");
	CHECK(!cuckoofilter_create(0, 0.01, NULL, NULL), "without an error struct");
	expect_error(!cuckoofilter_open("SQLite format 3", 16, &error), CUCKOOFILTER_BAD_BYTES,
				 "not a cuckoofilter: the bytes are damaged or are something else");
	expect_error(!cuckoofilter_open(NULL, 0, &error), CUCKOOFILTER_BAD_BYTES,
				 "not a cuckoofilter: the bytes are damaged or are something else");
}

static void
run_filter_errors(const void *arg)
{
	cuckoofilter *numbers = filter_of(5, 0.01, 0, NULL), *set = filter_of(5, 0.01, 0, "kind=set");
	cuckoofilter *seeded = filter_of(5, 0.01, 0, "seed=7");
	uint8_t newer[CKF_HEADER_SIZE];
	size_t size;

	(void)arg;
	expect_error(cuckoofilter_contains(numbers, cuckoofilter_text("5", 1), &error) < 0,
				 CUCKOOFILTER_UNLIKE_ITEM, "the cuckoofilter holds numbers, the item is text");
	CHECK(strstr(error.hint, "Convert the item") == error.hint, "%s", error.hint);
	expect_error(!cuckoofilter_add(numbers, cuckoofilter_date(5), &error), CUCKOOFILTER_UNLIKE_ITEM,
				 "the cuckoofilter holds numbers, the item is a timestamp");
	expect_error(cuckoofilter_remove(numbers, cuckoofilter_bytes("5", 1), &error) < 0,
				 CUCKOOFILTER_UNLIKE_ITEM, "the cuckoofilter holds numbers, the item is bytes");
	expect_error(cuckoofilter_copies(numbers, cuckoofilter_timestamptz(5), &error) < 0,
				 CUCKOOFILTER_UNLIKE_ITEM,
				 "the cuckoofilter holds numbers, the item is a timestamp with time zone");
	expect_error(cuckoofilter_remove(set, cuckoofilter_integer(5), &error) < 0,
				 CUCKOOFILTER_BAD_STATE, "cannot remove from a cuckoofilter of kind set");
	expect_error(!cuckoofilter_union(numbers, seeded, &error), CUCKOOFILTER_BAD_PARAMETER,
				 "cannot merge cuckoofilters with different seeds");
	CHECK(strcmp(error.detail, "The seeds are 0 and 7.") == 0, "%s", error.detail);
	memcpy(newer, cuckoofilter_data(numbers, &size), sizeof newer);
	newer[3] = 99;
	expect_error(!cuckoofilter_open(newer, sizeof newer, &error), CUCKOOFILTER_BAD_BYTES,
				 "cuckoofilter of an unknown format or hash version");
	cuckoofilter_free(numbers);
	cuckoofilter_free(set);
	cuckoofilter_free(seeded);
}

/* Add until the precision is used up; all that was added stays in. */
static void
run_limit(const void *arg)
{
	cuckoofilter *filter = filter_of(5000, 0.01, 0, NULL);
	int64_t n = 5000, i;

	(void)arg;
	while (cuckoofilter_add(filter, cuckoofilter_integer(n + 1), &error))
		n++;
	expect_error(true, CUCKOOFILTER_LIMIT, "cuckoofilter has no precision left");
	CHECK(strstr(error.detail, " items at a false positive rate of "), "%s", error.detail);
	for (i = 1; i <= n; i++)
		WORKS(cuckoofilter_contains(filter, cuckoofilter_integer(i), &error) == 1);
	cuckoofilter_free(filter);
}

/* ------------------------------------------------------------------ pairs */

/* Read a literal of SQLite's: a number, 'text' or x'bytes'.  Its bytes are written over it. */
static cuckoofilter_item
read_literal(char *literal)
{
	char *text = strchr(literal, '\'');

	if (strstr(literal, " - 1")) /* the least integer */
		return cuckoofilter_integer(INT64_MIN);
	if (!text)
		return strpbrk(literal, ".e") ? cuckoofilter_real(strtod(literal, NULL))
									  : cuckoofilter_integer(strtoll(literal, NULL, 10));
	text[strlen(text) - 1] = '\0';
	text++;
	if (literal[0] == '\'')
		return cuckoofilter_text(text, strlen(text));
	return cuckoofilter_bytes(text, read_hex(text, (uint8_t *)text, strlen(text)));
}

/* A filter with one pair, made in both ways, beside one with its hash. */
static void
check_pair(cuckoofilter_item item, cuckoofilter_item value, uint64_t seed, uint64_t hash)
{
	char options[64];
	cuckoofilter_builder *builder[2];
	cuckoofilter *made[2], *added;
	const void *bytes[2];
	size_t size[2];

	CHECK(cuckoofilter_hash_pair(item, value, seed) == hash, "hash of a pair");
	snprintf(options, sizeof options, "seed=%lld", (long long)seed);
	for (int i = 0; i < 2; i++)
	{
		builder[i] = cuckoofilter_build(0.01, 0, options, &error);
		WORKS(builder[i] != NULL);
		WORKS(i == 0 ? cuckoofilter_build_add_pair(builder[i], item, value, &error)
					 : cuckoofilter_build_add_hashes(builder[i], &hash, 1, CKF_ITEM_OTHER, &error));
		made[i] = cuckoofilter_build_end(builder[i], &error);
		WORKS(made[i] != NULL);
		bytes[i] = cuckoofilter_data(made[i], &size[i]);
		cuckoofilter_build_free(builder[i]);
	}
	CHECK(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0, "bytes of a pair");
	added = cuckoofilter_create(9, 0.01, options, &error);
	WORKS(cuckoofilter_contains_pair(added, item, value, &error) == 0);
	WORKS(cuckoofilter_add_pair(added, item, value, &error));
	WORKS(cuckoofilter_contains_pair(added, item, value, &error) == 1);
	CHECK(cuckoofilter_contains(added, item, &error) < 0, "the item alone is in");
	WORKS(cuckoofilter_remove_pair(added, item, value, &error) == 1);
	WORKS(cuckoofilter_remove_pair(added, item, value, &error) == 0);
	CHECK(cuckoofilter_count(added) == 0, "count");
	cuckoofilter_free(added);
	cuckoofilter_free(made[0]);
	cuckoofilter_free(made[1]);
}

static void
check_pair_line(char **fields, void *arg)
{
	char *value = strstr(fields[4], ", ");

	if (!value)
		return;
	*value = '\0';
	check_pair(read_literal(fields[4]), read_literal(value + 2), read_integer(fields[2]),
			   read_integer(fields[3]));
	++*(int *)arg;
}

static void
run_pairs(const void *arg)
{
	cuckoofilter_item five = cuckoofilter_integer(5), date = cuckoofilter_date(10958);
	cuckoofilter *numbers = filter_of(5, 0.01, 0, NULL), *set = filter_of(0, 0.01, 0, "kind=set");
	int pairs = 0;

	tsv_read(arg, FIELDS, check_pair_line, &pairs);
	check_pair(cuckoofilter_integer(4711), date, 0, UINT64_C(5432586172844209807));
	check_note("%d pairs", pairs);
	CHECK(pairs >= 18, "%d pairs", pairs);
	expect_error(cuckoofilter_contains_pair(numbers, five, five, &error) < 0,
				 CUCKOOFILTER_UNLIKE_ITEM,
				 "the cuckoofilter holds numbers, the item is of another type");
	CHECK(strstr(error.hint, "Use a pair only if pairs were added.") != NULL, "%s", error.hint);
	expect_error(!cuckoofilter_add_pair(numbers, five, five, &error), CUCKOOFILTER_UNLIKE_ITEM,
				 "the cuckoofilter holds numbers, the item is of another type");
	expect_error(cuckoofilter_remove_pair(numbers, five, five, &error) < 0,
				 CUCKOOFILTER_UNLIKE_ITEM,
				 "the cuckoofilter holds numbers, the item is of another type");
	WORKS(cuckoofilter_add_pair(set, five, date, &error));
	expect_error(cuckoofilter_remove_pair(set, five, date, &error) < 0, CUCKOOFILTER_BAD_STATE,
				 "cannot remove from a cuckoofilter of kind set");
	cuckoofilter_free(numbers);
	cuckoofilter_free(set);
}

/* ------------------------------------------------------------ many hashes */

/* The hashes of n integers from `first` on. */
static uint64_t *
hashes_from(int64_t first, size_t n, uint64_t seed)
{
	uint64_t *hashes = check_alloc(n * sizeof *hashes + 1);

	for (size_t i = 0; i < n; i++)
		hashes[i] = ckf_hash_integer(first + (int64_t)i, seed);
	return hashes;
}

/* Batches of every size, beside the number of items that are in. */
static void
run_batches(const void *arg)
{
	static const char *const options[] = {NULL, "bucket_size=2", "bucket_size=8", "layout=plain",
										  "seed=-3"};

	(void)arg;
	for (uint64_t round = check_rounds(30); round > 0; round--)
	{
		cuckoofilter *filter = cuckoofilter_create((int64_t)(1 + check_below(20000)), 0.001,
												   options[check_below(5)], &error);
		uint64_t seed = cuckoofilter_engine(filter)->seed;
		int64_t first = 1, next = 1; /* the integers first .. next - 1 are in */

		for (int step = 0; step < 8; step++)
		{
			size_t n = check_below(check_chance(50) ? 9 : 3000);
			size_t in = (size_t)(next - first);
			bool removes = n < in && check_chance(40);
			uint64_t *hashes = hashes_from(removes ? first : next, n, seed);
			uint8_t *found;

			WORKS(removes ? cuckoofilter_remove_hashes(filter, hashes, n, CKF_ITEM_NUMBER, &error)
						  : cuckoofilter_add_hashes(filter, hashes, n, CKF_ITEM_NUMBER, &error));
			*(removes ? &first : &next) += (int64_t)n;
			free(hashes);
			in = (size_t)(next - first);
			hashes = hashes_from(first, in, seed);
			found = check_alloc(in + 1);
			WORKS(cuckoofilter_contains_hashes(filter, hashes, in, CKF_ITEM_NUMBER, found, &error));
			for (size_t i = 0; i < in; i++)
				CHECK(found[i] == 1, "%lld is denied", (long long)first + (long long)i);
			CHECK(cuckoofilter_count(filter) == in, "count %llu of %zu",
				  (unsigned long long)cuckoofilter_count(filter), in);
			free(hashes);
			free(found);
		}
		cuckoofilter_free(filter);
	}
}

/* ------------------------------------------------------- many filters in one */

static void
expect_bytes(const cuckoofilter *a, const cuckoofilter *b, const char *what)
{
	size_t size_a, size_b;
	const void *bytes_a = cuckoofilter_data(a, &size_a), *bytes_b = cuckoofilter_data(b, &size_b);

	CHECK(size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0, "%s: other bytes", what);
}

/* The bytes, the copies and the comparison of two filters that share 300 of their 600 integers. */
static void
run_two(const void *arg)
{
	cuckoofilter *a = filter_of(600, 0.001, 5000, NULL), *b = filter_of(300, 0.001, 5000, NULL);
	cuckoofilter *merged[3], *many;
	static const uint64_t copies[] = {1, 2, 1};
	ckf_comparison found;

	(void)arg;
	for (int64_t i = 601; i <= 900; i++)
		WORKS(cuckoofilter_add(b, cuckoofilter_integer(i), &error));
	merged[0] = cuckoofilter_union(a, b, &error);
	merged[1] = cuckoofilter_sum(a, b, &error);
	merged[2] = cuckoofilter_intersect(a, b, &error);
	for (int i = 0; i < 3; i++)
	{
		WORKS(merged[i] != NULL);
		CHECK(cuckoofilter_copies(merged[i], cuckoofilter_integer(5), &error) == (int)copies[i],
			  "copies of merge %d", i);
		WORKS(cuckoofilter_compact(merged[i], &error));
		WORKS(cuckoofilter_contains(merged[i], cuckoofilter_integer(5), &error) == 1);
	}
	CHECK(cuckoofilter_count(merged[1]) == 1200, "a sum");
	many = cuckoofilter_sum_many((const cuckoofilter *const[]){b, a}, 2, &error);
	WORKS(many != NULL && cuckoofilter_compact(many, &error));
	expect_bytes(merged[1], many, "a sum of many");
	WORKS(cuckoofilter_compare(a, b, &found, &error));
	CHECK(fabs(found.overlap - 300) < 5 && fabs(found.jaccard - 1.0 / 3) < 0.01, "%g, %g",
		  found.overlap, found.jaccard);
	CHECK(found.error >= 0 && fabs(found.overlap - 300) <= 5 * found.error + 1, "an error of %g",
		  found.error);
	CHECK(cuckoofilter_remove(a, cuckoofilter_integer(5), &error) == 1 &&
			  cuckoofilter_remove(a, cuckoofilter_integer(5), &error) == 0,
		  "removed once");
	cuckoofilter_free(a);
	cuckoofilter_free(b);
	cuckoofilter_free(many);
	for (int i = 0; i < 3; i++)
		cuckoofilter_free(merged[i]);
}

static cuckoofilter *
merge_many(bool sum, cuckoofilter *const *filters, size_t n)
{
	return (sum ? cuckoofilter_sum_many
				: cuckoofilter_union_many)((const cuckoofilter *const *)filters, n, &error);
}

/* n filters of numbers that overlap, or not for a sum. */
static void
check_merge_many(size_t n, bool sum)
{
	cuckoofilter *filters[64], *merged, *again;
	size_t size = check_below(2) ? 5 : 600;
	size_t items = n == 0 ? 0 : (sum ? n * size : (n - 1) * (size / 2) + size);

	for (size_t i = 0; i < n; i++)
	{
		uint64_t *hashes = hashes_from((int64_t)(i * (sum ? size : size / 2)), size, 0);

		filters[i] = cuckoofilter_create(1 << (15 + check_below(4)), 0.001, NULL, &error);
		WORKS(filters[i] &&
			  cuckoofilter_add_hashes(filters[i], hashes, size, CKF_ITEM_NUMBER, &error));
		free(hashes);
	}
	merged = merge_many(sum, filters, n);
	WORKS(merged != NULL);
	for (size_t i = n; i > 1; i--) /* in another order */
	{
		size_t other = check_below(i);
		cuckoofilter *moved = filters[i - 1];

		filters[i - 1] = filters[other];
		filters[other] = moved;
	}
	again = merge_many(sum, filters, n);
	WORKS(again != NULL);
	expect_bytes(merged, again, "another order");
	CHECK(!(cuckoofilter_engine(merged)->flags & 1) == (sum || n == 0), "kind");
	for (size_t i = 0; i < items; i++)
		WORKS(cuckoofilter_contains(merged, cuckoofilter_integer((int64_t)i), &error) == 1);
	/* a set keeps one copy of items that share a prefix: some five are to be expected */
	CHECK(cuckoofilter_count(merged) <= items &&
			  cuckoofilter_count(merged) + (sum ? 0 : 100) >= items,
		  "count %llu of %zu items", (unsigned long long)cuckoofilter_count(merged), items);
	for (size_t i = 0; i < n; i++)
		cuckoofilter_free(filters[i]);
	cuckoofilter_free(merged);
	cuckoofilter_free(again);
}

static void
run_merge_many(const void *arg)
{
	cuckoofilter *coarse[3] = {filter_of(0, 0.01, 0, NULL), filter_of(4000, 0.01, 100000, NULL),
							   filter_of(5000, 0.5, 0, NULL)};
	cuckoofilter *seeded[3] = {coarse[1], coarse[1], filter_of(5, 0.01, 0, "seed=7")};

	(void)arg;
	for (uint64_t round = check_rounds(60); round > 0; round--)
		check_merge_many(check_below(check_chance(50) ? 4 : 64), check_chance(50));
	for (size_t n = 0; n < 3; n++)
		check_merge_many(n, n % 2);
	expect_error(!merge_many(false, seeded, 3), CUCKOOFILTER_BAD_PARAMETER,
				 "cannot merge cuckoofilters with different seeds");
	CHECK(strcmp(error.detail, "The seeds are 0 and 7.") == 0, "%s", error.detail);
	for (uint64_t i = 5000; i < 40000; i += 5000)
	{
		cuckoofilter *many[3] = {coarse[0], coarse[2], coarse[1]}, *more;
		uint64_t *hashes = hashes_from((int64_t)i, 5000, 0);

		WORKS(cuckoofilter_add_hashes(coarse[1], hashes, 5000, CKF_ITEM_NUMBER, &error));
		more = merge_many(true, many, 3);
		free(hashes);
		if (more || i < 35000)
		{
			cuckoofilter_free(more);
			continue;
		}
		CHECK(error.code == CUCKOOFILTER_LIMIT &&
				  strstr(error.message, "at least one was built for only "),
			  "%s", error.message);
	}
	for (size_t i = 0; i < 3; i++)
		cuckoofilter_free(coarse[i]);
	cuckoofilter_free(seeded[2]);
}

/* The part of an item: its hash without a seed, modulo the parts. */
static void
run_part(const void *arg)
{
	cuckoofilter_item item = cuckoofilter_integer(5);
	uint64_t hash = cuckoofilter_hash(item, 0);

	(void)arg;
	for (uint64_t round = 0; round < 1000; round++)
	{
		int64_t parts = 1 + (int64_t)check_below(check_chance(50) ? 100 : INT32_MAX);

		item = cuckoofilter_integer((int64_t)check_random());
		hash = cuckoofilter_hash(item, 0);
		CHECK(cuckoofilter_part(item, parts, NULL) ==
				  (int64_t)((hash & 0xffffffff) % (uint64_t)parts),
			  "part of %lld", (long long)parts);
	}
	WORKS(cuckoofilter_part(item, INT32_MAX, &error) == (int64_t)((hash & 0xffffffff) % INT32_MAX));
	expect_error(cuckoofilter_part(item, 0, &error) < 0, CUCKOOFILTER_BAD_PARAMETER,
				 "parts must be from 1 to 2147483647, not 0");
	expect_error(cuckoofilter_part(item, INT64_C(1) << 32, &error) < 0, CUCKOOFILTER_BAD_PARAMETER,
				 "parts must be from 1 to 2147483647, not 4294967296");
	CHECK(cuckoofilter_part(item, -1, NULL) == -1, "without an error struct");
}

/* ---------------------------------------------- calls that fail on the way */

static bool
stop_later(void *data)
{
	long *left = data;

	return (*left)-- == 0;
}

/* One of the calls that take memory or time, on two filters.  A new filter goes to *made. */
static bool
call(int number, cuckoofilter *a, const cuckoofilter *b, const uint64_t *hashes,
	 cuckoofilter **made)
{
	cuckoofilter_builder *builder;
	ckf_comparison comparison;
	const void *bytes;
	size_t size;
	bool ok = false;

	*made = NULL;
	switch (number)
	{
		case 0:
			*made = cuckoofilter_union(a, b, &error);
			break;
		case 1:
			*made = cuckoofilter_sum(a, b, &error);
			break;
		case 2:
			*made = cuckoofilter_intersect(a, b, &error);
			break;
		case 3:
			*made = cuckoofilter_copy(a, &error);
			break;
		case 4:
			bytes = cuckoofilter_data(a, &size);
			*made = cuckoofilter_open(bytes, size, &error);
			break;
		case 5:
			*made = cuckoofilter_create(9, 0.5, NULL, &error);
			break;
		case 6:
			builder = cuckoofilter_build(0.01, 0, NULL, &error);
			if (builder &&
				cuckoofilter_build_add_hashes(builder, hashes, 40000, CKF_ITEM_NUMBER, &error))
				*made = cuckoofilter_build_end(builder, &error);
			cuckoofilter_build_free(builder);
			break;
		case 7:
			ok = cuckoofilter_compare(a, b, &comparison, &error);
			break;
		case 8:
			ok = cuckoofilter_add_hashes(a, hashes, 40000, CKF_ITEM_NUMBER, &error);
			break;
		case 9:
			ok = cuckoofilter_add_hashes(a, hashes, 40, CKF_ITEM_NUMBER, &error);
			break;
		case 10:
			ok = cuckoofilter_remove_hashes(a, hashes, 40000, CKF_ITEM_NUMBER, &error);
			break;
		case 11:
			ok = cuckoofilter_compact(a, &error);
			break;
		case 12:
			*made = cuckoofilter_union_many((const cuckoofilter *const[]){a, b, a}, 3, &error);
			break;
		default:
			ok = true;
			for (size_t i = 0; ok && i < 40000; i++)
				ok = cuckoofilter_add_hashes(a, hashes + i, 1, CKF_ITEM_NUMBER, &error);
	}
	return ok || *made;
}

enum
{
	CALLS = 14
};

/* Let each call fail at the n-th allocation, or at the n-th check for interrupts, for every n until
 * it succeeds: nothing has changed, nothing leaks (AddressSanitizer says so). */
static void
run_failures(const void *arg)
{
	bool interrupts = arg != NULL;
	cuckoofilter_code code = interrupts ? CUCKOOFILTER_INTERRUPTED : CUCKOOFILTER_NO_MEMORY;
	uint64_t failures = 0, *hashes = hashes_from(1000000, 40000, 0);

	for (int number = 0; number < CALLS; number++)
		for (long n = 0;; n += 1 + n / 8)
		{
			cuckoofilter *a = filter_of(3000, 0.001, 100000, NULL), *made;
			cuckoofilter *b = filter_of(2000, 0.001, 100000, NULL), *before;
			size_t size, size_before;
			long left = n;
			bool ok;

			before = cuckoofilter_copy(a, &error);
			if (interrupts)
			{
				error.interrupted = stop_later;
				error.data = &left;
			}
			else
				allocations_left = n;
			ok = call(number, a, b, hashes, &made);
			allocations_left = -1;
			error.interrupted = NULL;
			if (!ok)
			{
				CHECK(error.code == code, "call %d: %s", number, error.message);
				failures++;
			}
			if (!ok && number < CALLS - 1)
			{
				const void *bytes = cuckoofilter_data(a, &size);
				const void *bytes_before = cuckoofilter_data(before, &size_before);

				CHECK(size == size_before && memcmp(bytes, bytes_before, size) == 0,
					  "call %d changed the filter and failed", number);
			}
			cuckoofilter_free(made);
			cuckoofilter_free(a);
			cuckoofilter_free(b);
			cuckoofilter_free(before);
			if (ok)
				break;
		}
	free(hashes);
	check_note("%llu failures", (unsigned long long)failures);
	CHECK(failures > 10, "%llu failures", (unsigned long long)failures);
}

/* ----------------------------------------------------------- damaged bytes */

/* Do with a filter what a program may do with it; any answer is right. */
static void
use(cuckoofilter *filter)
{
	static const cuckoofilter_code allowed[] = {CUCKOOFILTER_BAD_BYTES, CUCKOOFILTER_BAD_STATE,
												CUCKOOFILTER_LIMIT, CUCKOOFILTER_BAD_PARAMETER};
	uint64_t hash = check_random();
	ckf_info info;
	bool ok;

	error.code = CUCKOOFILTER_OK;
	cuckoofilter_info(filter, &info);
	(void)ckf_copies(cuckoofilter_engine(filter), hash);
	switch (check_below(5))
	{
		case 0:
			ok = cuckoofilter_compact(filter, &error);
			break;
		case 1:
			ok = cuckoofilter_remove_hashes(filter, &hash, 1, CKF_ITEM_HASH, &error);
			break;
		default:
			ok = cuckoofilter_add_hashes(filter, &hash, 1, CKF_ITEM_HASH, &error);
	}
	for (size_t i = 0; !ok && error.code != allowed[i]; i++)
		CHECK(i < 3, "%d %s", error.code, error.message);
	if (ok)
	{
		cuckoofilter *merged = cuckoofilter_union(filter, filter, &error);

		cuckoofilter_free(merged);
	}
}

/* Damage the bytes in one place or several, and cut or lengthen them. */
static size_t
damage(uint8_t *bytes, size_t size, size_t room)
{
	uint64_t places = check_below(4);

	for (uint64_t i = 0; i < places; i++)
	{
		/* half of the time in the header */
		size_t at = check_below(check_chance(50) && size > 48 ? 48 : size);

		bytes[at] = check_chance(50) ? (uint8_t)check_random()
									 : (uint8_t)(bytes[at] ^ 1U << check_below(8));
	}
	if (check_chance(20))
		size = check_below(room);
	return size;
}

static uint64_t opened_damaged;

static void
damage_line(char **fields, void *arg)
{
	enum
	{
		ROUNDS = 200
	};
	uint8_t *bytes = check_alloc(TSV_LINE), *damaged = check_alloc(TSV_LINE);
	size_t size = read_hex(fields[3], bytes, TSV_LINE);

	for (uint64_t round = check_rounds(ROUNDS); round > 0; round--)
	{
		uint8_t *copy;
		size_t changed;
		cuckoofilter *filter;

		memcpy(damaged, bytes, size);
		memset(damaged + size, 0, 64);
		changed = damage(damaged, size, size + 64);
		copy = guard_copy(damaged, changed);
		filter = cuckoofilter_open(copy, changed, &error);
		guard_free(copy);
		++*(uint64_t *)arg;
		if (!filter)
			continue;
		opened_damaged++;
		use(filter);
		cuckoofilter_free(filter);
	}
	free(bytes);
	free(damaged);
}

static void
run_damaged(const void *arg)
{
	uint64_t damages = 0;

	tsv_read(arg, FIELDS, damage_line, &damages);
	check_note("%llu damaged filters, %llu of them open", (unsigned long long)damages,
			   (unsigned long long)opened_damaged);
}

int
main(void)
{
	check_begin("C library");
	check_case(run_hashes, "test/vectors/hashes.tsv", "hashes.tsv");
	check_case(run_pairs, "test/vectors/pairs.tsv", "pairs.tsv");
	check_case(run_two, NULL, "two filters");
	check_case(run_parameter_errors, NULL, "errors of parameters and bytes");
	check_case(run_filter_errors, NULL, "errors of filters");
	check_case(run_limit, NULL, "the end of the precision");
	check_case(run_batches, NULL, "batches of hashes");
	check_case(run_merge_many, NULL, "many filters in one");
	check_case(run_part, NULL, "parts");
	check_case(run_failures, NULL, "each allocation fails once");
	check_case(run_failures, "", "an interrupt at each check");
	check_case(run_damaged, "test/vectors/filters.tsv", "damaged bytes");
	return check_end();
}
