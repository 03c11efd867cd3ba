/*
 * exports.c - what filter.js calls besides the functions of libcuckoofilter that package.mk
 * exports: those that take items, in batches.
 *
 * JavaScript writes the items of a batch into ckfw_batch and calls a function that hashes them.
 * A call that fails returns 0 or -1, and ckfw_address gives its texts.
 */
#include "cuckoofilter_program.h"
#include "info_fields.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("env"), import_name(#name)))

/* Items in a batch, and bytes for their texts.  A longer text is in memory of its own. */
enum
{
	CKFW_ITEMS = 2048,
	CKFW_TEXT = 65536
};

/* Added to the kind of a pair's item.  The value is the next entry, which is no item by itself. */
#define CKFW_PAIR 16

/* A batch.  A kind is a ckf_class, or 0 for no item (null).  A word has an integer, the bits of a
 * double, or the address and the size of bytes; of a moment, the bits of its milliseconds since
 * 1970 as a double. */
static struct
{
	uint64_t words[CKFW_ITEMS];
	uint64_t hashes[CKFW_ITEMS];
	uint64_t rounded[CKFW_ITEMS]; /* the older hashes (ckf_hashes) */
	uint8_t kinds[CKFW_ITEMS];
	uint8_t answers[CKFW_ITEMS];
	uint8_t text[CKFW_TEXT];
} ckfw_batch;

static cuckoofilter_error ckfw_error;

/* What JavaScript must know of this memory; wasm.js names the numbers. */
EXPORT(address)
size_t
ckfw_address(int what)
{
	const size_t addresses[] = {(size_t)ckfw_batch.words,
								(size_t)ckfw_batch.kinds,
								(size_t)ckfw_batch.answers,
								(size_t)ckfw_batch.text,
								CKFW_ITEMS,
								CKFW_TEXT,
								(size_t)&ckfw_error,
								(size_t)ckfw_error.message,
								(size_t)ckfw_error.detail,
								(size_t)ckfw_error.hint,
								(size_t)cuckoofilter_sqlstate(ckfw_error.code)};

	return addresses[what];
}

/* ------------------------------------------------------------------ items */

/* Microseconds since 2000, of milliseconds since 1970 without a fraction, as JavaScript has them.
 */
static int64_t
ckfw_moment(double milliseconds)
{
	return (int64_t)milliseconds * 1000 - CUCKOOFILTER_EPOCH;
}

static ckf_hashes
ckfw_hash_value(unsigned kind, uint64_t word, uint64_t seed)
{
	cuckoofilter_item item = {(ckf_class)kind, (int64_t)word, 0,
							  (const void *)(uintptr_t)(uint32_t)word, (size_t)(word >> 32)};

	memcpy(&item.real, &word, sizeof item.real);
	if (kind == CKF_CLASS_TIMESTAMPTZ)
		item.word = ckfw_moment(item.real);
	return cuckoofilter_hashes(item, seed);
}

/* The hashes of item i of the batch. */
static ckf_hashes
ckfw_hash(size_t i, uint64_t seed)
{
	unsigned kind = ckfw_batch.kinds[i];
	ckf_hashes item = ckfw_hash_value(kind % CKFW_PAIR, ckfw_batch.words[i], seed);

	if (kind < CKFW_PAIR)
		return item;
	return ckf_hashes_of_pair(
		item, ckfw_hash_value(ckfw_batch.kinds[i + 1], ckfw_batch.words[i + 1], seed), seed);
}

/* The class of item i of the batch, with these hashes. */
static unsigned
ckfw_class(size_t i, ckf_hashes item)
{
	unsigned kind = ckfw_batch.kinds[i];

	if (kind >= CKFW_PAIR)
		return CKF_ITEM_OTHER | ckf_decimal_class(item);
	return kind == CKF_CLASS_DECIMAL ? CKF_ITEM_NUMBER | ckf_decimal_class(item)
									 : ckf_item_class_of((ckf_class)kind);
}

/* Hash n entries of the batch.  Returns the classes among them. */
static unsigned
ckfw_hash_batch(size_t n, uint64_t seed)
{
	unsigned item_classes = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (ckfw_batch.kinds[i])
		{
			ckf_hashes item = ckfw_hash(i, seed);

			ckfw_batch.hashes[i] = item.hash;
			ckfw_batch.rounded[i] = item.rounded;
			item_classes |= ckfw_class(i, item);
			if (ckfw_batch.kinds[i] >= CKFW_PAIR)
				ckfw_batch.kinds[++i] = 0;
		}
	return item_classes;
}

/* The same, and what is no item is left out.  Returns the number of hashes. */
static size_t
ckfw_hash_items(size_t n, uint64_t seed, unsigned *item_classes)
{
	size_t i, items = 0;

	*item_classes = ckfw_hash_batch(n, seed);
	for (i = 0; i < n; i++)
		if (ckfw_batch.kinds[i])
		{
			ckfw_batch.rounded[items] = ckfw_batch.rounded[i];
			ckfw_batch.hashes[items++] = ckfw_batch.hashes[i];
		}
	return items;
}

EXPORT(hash)
uint64_t
ckfw_hash_one(uint64_t seed)
{
	return ckfw_hash(0, seed).hash;
}

/* The part of item 0 of the batch, of 1 parts and more. */
EXPORT(part)
uint32_t
ckfw_part(uint32_t parts)
{
	return ckf_part(ckfw_hash(0, 0).hash, parts);
}

/* ---------------------------------------------------------------- filters */

EXPORT(data)
const void *
ckfw_data(const cuckoofilter *filter)
{
	return cuckoofilter_engine(filter)->bytes;
}

EXPORT(size)
size_t
ckfw_size(const cuckoofilter *filter)
{
	return cuckoofilter_engine(filter)->size;
}

EXPORT(seed)
uint64_t
ckfw_seed(const cuckoofilter *filter)
{
	return cuckoofilter_engine(filter)->seed;
}

/* One field of info, for JavaScript.  A list of words comes word by word, then as NULL. */
IMPORT(info_number) void ckfw_info_number(const char *name, double value);
IMPORT(info_bits) void ckfw_info_bits(const char *name, int64_t value);
IMPORT(info_word) void ckfw_info_word(const char *name, const char *word);
IMPORT(info_list) void ckfw_info_list(const char *name, const char *word);

#define NUMBER(name) ckfw_info_number(#name, (double)info.name);
#define BITS(name) ckfw_info_bits(#name, (int64_t)info.name);
#define WORD(name) ckfw_info_word(#name, info.name);
#define WORDS(name)                                                                                \
	for (i = 0; i == 0 || info.name[i - 1]; i++)                                                   \
		ckfw_info_list(#name, info.name[i]);

EXPORT(info)
void
ckfw_info(const cuckoofilter *filter)
{
	ckf_info info;
	int i;

	cuckoofilter_info(filter, &info);
	CKF_INFO_FIELDS(NUMBER, NUMBER, BITS, NUMBER, WORD, WORDS)
}

/* -------------------------------------------------- lookups and changes */

/* Whether item 0 of the batch may be in the filter; if not, there is an error. */
static bool
ckfw_may_hold(const cuckoofilter *filter, ckf_hashes item)
{
	return cuckoofilter_contains_hashes(filter, ckfw_batch.hashes, 0, ckfw_class(0, item), NULL,
										&ckfw_error);
}

/* Item 0 of the batch: 1, 0 or -1. */
EXPORT(contains)
int
ckfw_contains(const cuckoofilter *filter)
{
	const ckf_filter *engine = cuckoofilter_engine(filter);

	ckf_hashes item = ckfw_hash(0, engine->seed);

	return ckfw_may_hold(filter, item) ? ckf_contains_item(engine, item) : -1;
}

/* The same of a number, which needs no batch. */
EXPORT(contains_number)
int
ckfw_contains_number(const cuckoofilter *filter, double value)
{
	return cuckoofilter_contains(filter, cuckoofilter_real(value), &ckfw_error);
}

/* The same of a Date. */
EXPORT(contains_moment)
int
ckfw_contains_moment(const cuckoofilter *filter, double milliseconds)
{
	cuckoofilter_item item = {CKF_CLASS_TIMESTAMPTZ, ckfw_moment(milliseconds), 0, NULL, 0};

	return cuckoofilter_contains(filter, item, &ckfw_error);
}

/* The same of a text, whose bytes are the first of the batch's. */
EXPORT(contains_text)
int
ckfw_contains_text(const cuckoofilter *filter, size_t size)
{
	return cuckoofilter_contains(filter, cuckoofilter_text((const char *)ckfw_batch.text, size),
								 &ckfw_error);
}

EXPORT(contains_hash)
int
ckfw_contains_hash(const cuckoofilter *filter, uint64_t hash)
{
	return ckf_contains(cuckoofilter_engine(filter), hash);
}

/* How many copies of item 0 of the batch are stored, or -1. */
EXPORT(copies)
int
ckfw_copies(const cuckoofilter *filter)
{
	const ckf_filter *engine = cuckoofilter_engine(filter);

	ckf_hashes item = ckfw_hash(0, engine->seed);

	return ckfw_may_hold(filter, item) ? (int)ckf_copies_of_item(engine, item) : -1;
}

/* n items of the batch: their answers are in the batch then. */
EXPORT(contains_batch)
int
ckfw_contains_batch(const cuckoofilter *filter, size_t n)
{
	unsigned item_classes = ckfw_hash_batch(n, cuckoofilter_engine(filter)->seed);
	size_t i;

	if (!cuckoofilter_contains_both(filter, ckfw_batch.hashes, ckfw_batch.rounded, n, item_classes,
									ckfw_batch.answers, &ckfw_error))
		return 0;
	for (i = 0; i < n; i++)
		if (!ckfw_batch.kinds[i])
			ckfw_batch.answers[i] = 0;
	return 1;
}

/* Add (1) or remove (0) one copy.  Returns 1, 0 (nothing was removed) or -1. */
static int
ckfw_change_by(cuckoofilter *filter, int add, ckf_hashes item, unsigned item_class)
{
	uint64_t before = cuckoofilter_count(filter);
	bool ok = add ? cuckoofilter_add_hashes(filter, &item.hash, 1, item_class, &ckfw_error)
				  : cuckoofilter_remove_both(filter, &item.hash, &item.rounded, 1, item_class,
											 &ckfw_error);

	return ok ? add || cuckoofilter_count(filter) != before : -1;
}

/* A copy of item 0 of the batch. */
EXPORT(change)
int
ckfw_change(cuckoofilter *filter, int add)
{
	ckf_hashes item = ckfw_hash(0, cuckoofilter_engine(filter)->seed);

	return ckfw_change_by(filter, add, item, ckfw_class(0, item));
}

/* A copy of a hash of the caller's. */
EXPORT(change_hash)
int
ckfw_change_hash(cuckoofilter *filter, int add, uint64_t hash)
{
	return ckfw_change_by(filter, add, (ckf_hashes){hash, hash}, CKF_ITEM_HASH);
}

/* ------------------------------------------------------------ many items */

/* The hashes of many items, for a change that happens as a whole or not at all. */
typedef struct ckfw_list
{
	uint64_t *hashes; /* n in a room for so many, then the older ones in as much room */
	size_t n, room;
	uint64_t seed;
	unsigned item_classes;
} ckfw_list;

EXPORT(list_new)
ckfw_list *
ckfw_list_new(const cuckoofilter *filter)
{
	ckfw_list *list = malloc(sizeof *list);

	if (list)
		*list = (ckfw_list){.seed = cuckoofilter_engine(filter)->seed};
	return list;
}

/* Append n items of the batch; 0: there is no memory. */
EXPORT(list_add)
int
ckfw_list_add(ckfw_list *list, size_t n)
{
	unsigned item_classes;

	if (list->room - list->n < n)
	{
		size_t room = list->room < SIZE_MAX / 64 ? list->room * 2 + CKFW_ITEMS : 0;
		uint64_t *hashes = room ? malloc(room * 2 * sizeof *hashes) : NULL;

		if (!hashes)
			return 0;
		if (list->n > 0)
		{
			memcpy(hashes, list->hashes, list->n * sizeof *hashes);
			memcpy(hashes + room, list->hashes + list->room, list->n * sizeof *hashes);
		}
		free(list->hashes);
		list->hashes = hashes;
		list->room = room;
	}
	n = ckfw_hash_items(n, list->seed, &item_classes);
	memcpy(list->hashes + list->n, ckfw_batch.hashes, n * sizeof *list->hashes);
	memcpy(list->hashes + list->room + list->n, ckfw_batch.rounded, n * sizeof *list->hashes);
	list->n += n;
	list->item_classes |= item_classes;
	return 1;
}

/* Add or remove the items of a list. */
EXPORT(list_change)
int
ckfw_list_change(const ckfw_list *list, cuckoofilter *filter, int add)
{
	return add ? cuckoofilter_add_hashes(filter, list->hashes, list->n, list->item_classes,
										 &ckfw_error)
			   : cuckoofilter_remove_both(filter, list->hashes, list->hashes + list->room, list->n,
										  list->item_classes, &ckfw_error);
}

EXPORT(list_free)
void
ckfw_list_free(ckfw_list *list)
{
	free(list->hashes);
	free(list);
}

EXPORT(build_add)
int
ckfw_build_add(cuckoofilter_builder *builder, size_t n)
{
	unsigned item_classes;

	n = ckfw_hash_items(n, cuckoofilter_build_seed(builder), &item_classes);
	return cuckoofilter_build_add_hashes(builder, ckfw_batch.hashes, n, item_classes, &ckfw_error);
}

/* The overlap (0), the Jaccard index (1) or the overlap's standard error (2) of two filters.  -1:
 * an error.  -2: both are empty. */
EXPORT(compare)
double
ckfw_compare(const cuckoofilter *a, const cuckoofilter *b, int what)
{
	ckf_comparison comparison;

	if (!cuckoofilter_compare(a, b, &comparison, &ckfw_error))
		return -1;
	if (what == 1 && comparison.empty)
		return -2;
	return what == 1 ? comparison.jaccard : what == 2 ? comparison.error : comparison.overlap;
}
