/*
 * golden.c - filters that released versions wrote (test/vectors/golden) open and give the same
 * answers; bytes that a later version may write are refused, not misread.
 */
#define _GNU_SOURCE
#include "tsv.h"

#include <stdlib.h>
#include <string.h>

enum
{
	FIELDS = 6,
	AT_FORMAT = 3, /* FORMAT.md, section 2 */
	AT_HASH = 4,
	AT_ENCODING = 5,
	AT_FLAGS = 6,
	AT_ITEM_CLASSES = 14,
	AT_RESERVED = 15,
	ENCODINGS = 3,
	FLAGS = 3 /* bits that have a meaning */
};

static const ckf_trust doors[] = {CKF_FOREIGN, CKF_STORED};

/* ---------------------------------------------------------------- answers */

/* The info column holds "name":value. */
static void
expect_number(const char *info, const char *name, long long value)
{
	char field[80];
	const char *at;

	snprintf(field, sizeof field, "\"%s\":%lld", name, value);
	at = strstr(info, field);
	CHECK(at != NULL && strchr(",}", at[strlen(field)]) != NULL, "%s is not %lld in %s", name,
		  value, info);
}

static void
expect_text(const char *info, const char *name, const char *value)
{
	char field[80];

	snprintf(field, sizeof field, "\"%s\":\"%s\"", name, value);
	CHECK(strstr(info, field) != NULL, "%s is not %s in %s", name, value, info);
}

/* The names of the classes. Version 1 did not have them. */
static void
expect_classes(const char *info, const char *const *names)
{
	char field[160] = "\"item_classes\":[";

	for (size_t i = 0; names[i] != NULL; i++)
		snprintf(field + strlen(field), sizeof field - strlen(field), "%s\"%s\"", i > 0 ? "," : "",
				 names[i]);
	strcat(field, "]");
	CHECK(strstr(info, field) != NULL, "%s is not in %s", field, info);
}

static void
expect_info(const ckf_filter *filter, const char *text)
{
	static const char rate[] = "\"target_fpr\":";
	const char *at = strstr(text, rate);
	ckf_info info;

	ckf_get_info(filter, &info);
	expect_number(text, "count", (long long)info.count);
	expect_number(text, "capacity", info.capacity);
	expect_number(text, "bytes", (long long)info.bytes);
	expect_number(text, "bucket_size", info.bucket_size);
	expect_number(text, "fingerprint_bits", info.fingerprint_bits);
	expect_number(text, "prefix_bits", info.prefix_bits);
	expect_number(text, "segments", (long long)info.segments);
	expect_number(text, "seed", (long long)info.seed);
	expect_number(text, "format_version", info.format_version);
	expect_text(text, "encoding", info.encoding);
	expect_text(text, "layout", info.layout);
	expect_text(text, "kind", info.kind);
	CHECK(at != NULL && strtod(at + strlen(rate), NULL) == info.target_fpr, "target_fpr");
	if (info.format_version > 1)
		expect_classes(text, info.item_classes);
	else if (info.count > 0)
		CHECK(strcmp(info.item_classes[0], "hash") == 0 && info.item_classes[1] == NULL,
			  "an old filter has hashes, not %s", info.item_classes[0]);
	else
		CHECK(info.item_classes[0] == NULL, "classes of nothing");
}

static unsigned expected_copies;

static void
expect_copies(owned *o, uint64_t hash)
{
	CHECK(ckf_copies(&o->filter, hash) == expected_copies, "%u copies, must be %u",
		  ckf_copies(&o->filter, hash), expected_copies);
}

/* A list of ITEM=N. */
static void
expect_all_copies(owned *o, char *list)
{
	char *parts[64], *pair[2];
	size_t n = strcmp(list, "-") == 0 ? 0 : split(list, ',', parts, 64);

	for (size_t i = 0; i < n; i++)
	{
		CHECK(split(parts[i], '=', pair, 2) == 2, "copies '%s'", parts[i]);
		expected_copies = (unsigned)read_integer(pair[1]);
		for_items(o, pair[0], o->filter.seed, expect_copies);
	}
}

static void
expect_answers(owned *o, char **fields)
{
	char *in = strdup(fields[2]), *out = strdup(fields[3]), *copies = strdup(fields[4]);

	expect_info(&o->filter, fields[1]);
	for_items(o, in, o->filter.seed, expect_in);
	for_items(o, out, o->filter.seed, expect_out);
	expect_all_copies(o, copies);
	free(in);
	free(out);
	free(copies);
}

/* A rebuild keeps all items. */
static void
expect_after(const owned *o, ckf_operation operation, char *in)
{
	owned moved;
	ckf_status status = run_rebuild(&moved, operation, o, operation == CKF_UNION ? o : NULL);

	if (status == CKF_PRECISION && operation != CKF_COMPACT)
		return;
	CHECK(status == CKF_OK, "rebuild %d: status %d", operation, status);
	in = strdup(in);
	for_items(&moved, in, moved.filter.seed, expect_in);
	free(in);
	owned_free(&moved);
}

/* Removing an absent item changes nothing. Adding an item gives the filter the current version;
 * its old classes stay. */
static void
expect_changes(const owned *golden, uint64_t hash, unsigned class)
{
	owned o;
	bool found;
	ckf_status status;

	owned_copy(&o, golden);
	driven_class = class;
	if (!filter_is_set(&o.filter) && ckf_copies(&o.filter, hash) == 0)
	{
		CHECK(owned_remove(&o, hash, &found) == CKF_OK && !found, "removal of nothing");
		CHECK(owned_rebuild_hashes(&o, CKF_REMOVE_MANY, &hash, 1) == CKF_OK, "of many");
		CHECK(owned_same_bytes(&o, golden), "removals of nothing have changed the filter");
	}
	status = owned_add(&o, hash);
	CHECK(status == CKF_OK || status == CKF_PRECISION, "add: status %d", status);
	if (status == CKF_OK)
		CHECK(o.filter.format == CKF_FORMAT_VERSION && o.filter.count > 0 &&
				  o.filter.item_classes == (golden->filter.item_classes | class),
			  "classes %#x after an add", o.filter.item_classes);
	owned_free(&o);
}

static void
check_line(char **fields, void *arg)
{
	uint8_t *bytes = check_alloc(TSV_LINE);
	size_t size = read_hex(fields[5], bytes, TSV_LINE);
	owned o;

	(void)arg;
	for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
	{
		owned_open(&o, bytes, size, doors[i]);
		expect_answers(&o, fields);
		expect_after(&o, CKF_COMPACT, fields[2]);
		expect_after(&o, CKF_GROW, fields[2]);
		expect_after(&o, CKF_UNION, fields[2]);
		expect_changes(&o, check_random(), CKF_ITEM_BYTES);
		expect_changes(&o, check_random(), CKF_ITEM_HASH); /* which an old one has */
		owned_free(&o);
	}
	free(bytes);
}

static void
run_answers(const void *arg)
{
	check_note("%u golden filters", tsv_read(arg, FIELDS, check_line, NULL));
}

/* --------------------------------------------------------------- decimals */

typedef void (*decimal_action)(owned *o, ckf_hashes item, const char *text);

static void
for_decimals(owned *o, const char *list, decimal_action action)
{
	char *texts = strdup(list);

	for (char *text = strcmp(list, "-") == 0 ? NULL : texts, *next; text != NULL; text = next)
	{
		ckf_hashes item;

		next = strchr(text, ',');
		if (next != NULL)
			*next++ = '\0';
		CHECK(strncmp(text, "n:", 2) == 0 &&
				  ckf_hash_decimal(text + 2, strlen(text + 2), o->filter.seed, &item),
			  "number '%s'", text);
		action(o, item, text);
	}
	free(texts);
}

static void
decimal_in(owned *o, ckf_hashes item, const char *text)
{
	CHECK(ckf_contains_item(&o->filter, item), "%s is not in", text);
	CHECK(ckf_copies_of_item(&o->filter, item) > 0, "%s has no copies", text);
}

static void
decimal_out(owned *o, ckf_hashes item, const char *text)
{
	CHECK(!ckf_contains_item(&o->filter, item), "%s is in", text);
}

/* A number that an older version may have added stays. */
static void
decimal_stays(owned *o, ckf_hashes item, const char *text)
{
	bool found;

	if (filter_is_set(&o->filter) || !ckf_is_decimal(item))
		return;
	CHECK(ckf_remove_item(&o->filter, item, &found) == CKF_OK && !found, "%s is removed", text);
}

/* Filters of 1.7 hold decimals by the nearest double: alone, after an exact one was added, and
 * after merges with a filter that holds the same numbers by their exact values, or by hashes that
 * a caller computed of these. */
static owned exact_ones;
static bool own_hashes;

static void
add_exact(owned *o, ckf_hashes item, const char *text)
{
	(void)o, (void)text;
	driven_class = own_hashes ? CKF_ITEM_HASH : CKF_ITEM_NUMBER | ckf_decimal_class(item);
	CHECK(owned_add(&exact_ones, item.hash) == CKF_OK, "add");
}

static void
check_merges(owned *o, char *numbers)
{
	static const ckf_operation operations[] = {CKF_UNION, CKF_SUM, CKF_INTERSECT};
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = 1000;
	params.seed = o->filter.seed;
	owned_create(&exact_ones, &params);
	for_decimals(o, numbers, add_exact);
	CHECK(own_hashes || exact_ones.filter.format == CKF_FORMAT_DECIMALS,
		  "an exact decimal needs version 3");
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		for (int turned = 0; turned < 2; turned++)
		{
			owned merged;

			CHECK(run_rebuild(&merged, operations[i], turned ? &exact_ones : o,
							  turned ? o : &exact_ones) == CKF_OK,
				  "operation %d", operations[i]);
			for_decimals(&merged, numbers, decimal_in);
			owned_free(&merged);
		}
	owned_free(&exact_ones);
}

static void
check_decimals(char **fields, void *arg)
{
	uint8_t *bytes = check_alloc(TSV_LINE);
	size_t size = read_hex(fields[5], bytes, TSV_LINE);
	owned o;

	(void)arg;
	owned_open(&o, bytes, size, CKF_FOREIGN);
	expect_info(&o.filter, fields[1]);
	for_decimals(&o, fields[2], decimal_in);
	for_decimals(&o, fields[3], decimal_out);
	for_decimals(&o, fields[2], decimal_stays);
	for_decimals(&o, fields[2], decimal_in);
	for (int own = 0; own < 2; own++)
	{
		own_hashes = own;
		check_merges(&o, fields[2]);
	}
	owned_free(&o);
	free(bytes);
}

static void
run_decimals(const void *arg)
{
	check_note("%u golden filters", tsv_read(arg, FIELDS, check_decimals, NULL));
}

/* --------------------------------------------------------------- refusals */

/* With another value in this byte, opening gives this status with each kind of trust. */
static void
refuse(uint8_t *bytes, size_t size, size_t at, unsigned value, ckf_status expected)
{
	uint8_t before = bytes[at];

	bytes[at] = (uint8_t)value;
	for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
	{
		ckf_filter filter;
		ckf_status status = ckf_open(&filter, bytes, size, doors[i]);

		CHECK(status == expected, "byte %zu is %u: status %d, must be %d", at, value, status,
			  expected);
	}
	bytes[at] = before;
}

/* Whether version 3 could say that the numbers of these items are no rounded ones. */
static bool
ckf_forms_differ(const uint8_t *bytes)
{
	unsigned classes = bytes[AT_ITEM_CLASSES];

	return (classes & (CKF_ITEM_NUMBER | CKF_ITEM_OTHER)) && !(classes & CKF_ITEM_HASH);
}

static void
refuse_line(char **fields, void *arg)
{
	uint8_t *bytes = check_alloc(TSV_LINE);
	size_t size = read_hex(fields[5], bytes, TSV_LINE);

	bool empty = fields[1] == strstr(fields[1], "{\"count\":0,");
	unsigned version = bytes[AT_FORMAT];

	(void)arg;
	for (unsigned value = 0; value < 256; value++)
	{
		bool likely = version > 1 && (value < CKF_ITEM_OLD || (value & CKF_ITEM_HASH));

		if (value == 0 || value > CKF_FORMAT_DECIMALS)
			refuse(bytes, size, AT_FORMAT, value, CKF_BAD_VERSION);
		else if (!empty && value != version &&
				 (value < CKF_FORMAT_DECIMALS || !ckf_forms_differ(bytes)))
			refuse(bytes, size, AT_FORMAT, value, CKF_BAD_BYTES);
		if (value != CKF_HASH_VERSION)
			refuse(bytes, size, AT_HASH, value, CKF_BAD_VERSION);
		if (value >= ENCODINGS)
			refuse(bytes, size, AT_ENCODING, value, CKF_BAD_BYTES);
		if (value > FLAGS && !(bytes[AT_ENCODING] == CKF_PLAIN && value < 16 && (value & 4)))
			refuse(bytes, size, AT_FLAGS, value, CKF_BAD_BYTES);
		if (empty ? value > 0 : version == 1 ? value > 0 : value == 0 || !likely)
			refuse(bytes, size, AT_ITEM_CLASSES, value, CKF_BAD_BYTES);
		if (value > 0)
			refuse(bytes, size, AT_RESERVED, value, CKF_BAD_BYTES);
	}
	free(bytes);
}

static void
run_refusals(const void *arg)
{
	(void)tsv_read(arg, FIELDS, refuse_line, NULL);
}

int
main(void)
{
	static const char *const paths[] = {"test/vectors/golden/format-1.tsv",
										"test/vectors/golden/format-2.tsv"};

	check_begin("core golden");
	check_case(run_decimals, "test/vectors/golden/decimals.tsv", "decimals of 1.7");
	for (int i = 0; i < 2; i++)
	{
		check_case(run_answers, paths[i], "answers of format-%d.tsv", i + 1);
		check_case(run_refusals, paths[i], "unknown versions, encodings, flags and classes, %d",
				   i + 1);
	}
	return check_end();
}
