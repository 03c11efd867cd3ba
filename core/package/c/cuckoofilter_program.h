/*
 * cuckoofilter_program.h - cuckoo filters for programs, in the memory of the C library.
 *
 * This is the part of libcuckoofilter that most programs need.  It builds on the engine
 * (cuckoofilter.h), which works on hashes and buffers of the caller.  A program that has an
 * allocator of its own, or that looks up items in a mapped file, calls the engine directly.
 *
 *     cuckoofilter_error error = {0};
 *     cuckoofilter *filter = cuckoofilter_open(bytes, size, &error);
 *     if (filter == NULL)
 *         fprintf(stderr, "%s\n", error.message);
 *     else if (cuckoofilter_contains(filter, cuckoofilter_integer(42), &error) == 1)
 *         puts("probably");
 *     cuckoofilter_free(filter);
 *
 * The functions have the names that they have in SQL, and keep these rules:
 *   - The same items give the same bytes as in PostgreSQL and SQLite.
 *   - A failed call changes nothing.  It returns NULL, false or -1, as its comment says, and
 *     fills *error, if error is not NULL.  A call that succeeds does not touch *error.
 *   - Calls on different filters, and calls with a `const cuckoofilter *` on one filter, may run
 *     at the same time.
 *   - A function that takes `cuckoofilter *` and changes it invalidates the pointer of
 *     cuckoofilter_data.
 */
#ifndef CUCKOOFILTER_PROGRAM_H
#define CUCKOOFILTER_PROGRAM_H

#include "cuckoofilter.h"

/* The library exports what is declared here, and in cuckoofilter.h, and nothing else. */
#ifdef CKF_LIBRARY
#pragma GCC visibility push(default)
#endif

CKF_BEGIN

/* A filter in memory of the library. */
typedef struct cuckoofilter cuckoofilter;

/* ----------------------------------------------------------------- errors */

/* Why a call failed.  Beside each code is PostgreSQL's SQLSTATE of the same error. */
typedef enum cuckoofilter_code
{
	CUCKOOFILTER_OK = 0,
	CUCKOOFILTER_NO_MEMORY,     /* 53200 */
	CUCKOOFILTER_INTERRUPTED,   /* 57014: error->interrupted returned true */
	CUCKOOFILTER_BAD_PARAMETER, /* 22023: capacity, rate or options; filters of unlike seeds */
	CUCKOOFILTER_BAD_BYTES,     /* 22P03: the bytes are not a filter */
	CUCKOOFILTER_UNLIKE_ITEM,   /* 42804: the filter has no item of this class */
	CUCKOOFILTER_BAD_STATE,     /* 55000: a removal from a set; a filter of an old format */
	CUCKOOFILTER_LIMIT          /* 54000: the precision of the filter is used up */
} cuckoofilter_code;

/*
 * An error, with PostgreSQL's sentences.  Set it to zero before the first call.
 *
 * interrupted and data are for the caller to set: a call that takes long calls interrupted(data)
 * every few milliseconds, and fails with CUCKOOFILTER_INTERRUPTED if it returns true.
 */
typedef struct cuckoofilter_error
{
	bool (*interrupted)(void *data); /* NULL: never */
	void *data;
	cuckoofilter_code code;
	char message[320]; /* UTF-8, one sentence; a text that does not fit is cut */
	char detail[256];  /* more about it, or "" */
	char hint[256];    /* what to do about it, or "" */
} cuckoofilter_error;

/* The SQLSTATE of a code, such as "22023"; "00000" for CUCKOOFILTER_OK. */
const char *cuckoofilter_sqlstate(cuckoofilter_code code);

/* ------------------------------------------------------------------ items */

/*
 * An item: a value, in the class under which both databases hash it.  The functions below make
 * one.  `bytes` is not copied and must live as long as the item.
 */
typedef struct cuckoofilter_item
{
	ckf_class item_class; /* CKF_CLASS_INTEGER .. CKF_CLASS_TIMESTAMPTZ, CKF_CLASS_DECIMAL */
	int64_t word;         /* an integer; microseconds since 2000-01-01 */
	double real;          /* CKF_CLASS_REAL */
	const void *bytes;    /* CKF_CLASS_TEXT, CKF_CLASS_BYTES; digits of CKF_CLASS_DECIMAL */
	size_t size;
} cuckoofilter_item;

/* An integer: smallint, integer, bigint, oid; a boolean is 0 or 1. */
static inline cuckoofilter_item
cuckoofilter_integer(int64_t value)
{
	cuckoofilter_item item = {CKF_CLASS_INTEGER, value, 0, NULL, 0};

	return item;
}

/* A real.  One without a fraction is the integer, as in SQL: 5.0 = 5. */
static inline cuckoofilter_item
cuckoofilter_real(double value)
{
	cuckoofilter_item item = {CKF_CLASS_REAL, 0, value, NULL, 0};

	return item;
}

/*
 * A number in `size` decimal digits, with a sign, a point and an exponent, or without: PostgreSQL's
 * numeric, of any length.  "5.0" is the integer, and "0.1" the real 0.1.  Another text, such as
 * "NaN", is the real NaN: pass such numbers by cuckoofilter_real.
 */
static inline cuckoofilter_item
cuckoofilter_decimal(const char *digits, size_t size)
{
	cuckoofilter_item item = {CKF_CLASS_DECIMAL, 0, 0, digits, size};

	return item;
}

/* A text of `size` bytes of UTF-8, without a terminating zero. */
static inline cuckoofilter_item
cuckoofilter_text(const char *utf8, size_t size)
{
	cuckoofilter_item item = {CKF_CLASS_TEXT, 0, 0, utf8, size};

	return item;
}

/* Bytes: bytea, BLOB. */
static inline cuckoofilter_item
cuckoofilter_bytes(const void *bytes, size_t size)
{
	cuckoofilter_item item = {CKF_CLASS_BYTES, 0, 0, bytes, size};

	return item;
}

/* A UUID: its 16 bytes, in the order in which they are written. */
static inline cuckoofilter_item
cuckoofilter_uuid(const void *uuid)
{
	return cuckoofilter_bytes(uuid, 16);
}

/* Microseconds between 1970-01-01 and 2000-01-01, from which PostgreSQL counts. */
#define CUCKOOFILTER_EPOCH INT64_C(946684800000000)

/* A timestamp without time zone, in microseconds since 1970-01-01 00:00.  INT64_MIN and
 * INT64_MAX are -infinity and infinity. */
static inline cuckoofilter_item
cuckoofilter_timestamp(int64_t unix_microseconds)
{
	cuckoofilter_item item = {CKF_CLASS_TIMESTAMP, unix_microseconds, 0, NULL, 0};

	if (unix_microseconds != INT64_MIN && unix_microseconds != INT64_MAX)
		item.word = (int64_t)((uint64_t)unix_microseconds - (uint64_t)CUCKOOFILTER_EPOCH);
	return item;
}

/* A timestamp with time zone, in microseconds since 1970-01-01 00:00 UTC. */
static inline cuckoofilter_item
cuckoofilter_timestamptz(int64_t unix_microseconds)
{
	cuckoofilter_item item = cuckoofilter_timestamp(unix_microseconds);

	item.item_class = CKF_CLASS_TIMESTAMPTZ;
	return item;
}

/* A date, in days since 1970-01-01: the timestamp of its midnight. */
static inline cuckoofilter_item
cuckoofilter_date(int32_t unix_days)
{
	return cuckoofilter_timestamp(unix_days * INT64_C(86400000000));
}

/* The hash of an item under a seed: cuckoofilter_hash of SQL.  cuckoofilter_hashes also gives the
 * one of versions before 1.7.1. */
uint64_t cuckoofilter_hash(cuckoofilter_item item, uint64_t seed);
ckf_hashes cuckoofilter_hashes(cuckoofilter_item item, uint64_t seed);

/*
 * The hash of a pair: an item with a value, such as the partition that has its rows.  Item and
 * value together are one item, ROW(item, value) in SQL, so the pair (5, 'a') says nothing about 5
 * alone.  Its item class is CKF_ITEM_OTHER.
 */
uint64_t cuckoofilter_hash_pair(cuckoofilter_item item, cuckoofilter_item value, uint64_t seed);

/*
 * The part, 0 .. parts - 1, of an item in a filter that is kept in parts: cuckoofilter_part of SQL.
 * parts is 1 .. 2147483647.  -1: CUCKOOFILTER_BAD_PARAMETER.
 */
int32_t cuckoofilter_part(cuckoofilter_item item, int64_t parts, cuckoofilter_error *error);

/* ---------------------------------------------------------------- filters */

/* The version of the library, "1.5.1". */
const char *cuckoofilter_version(void);

/*
 * An empty filter.  Its false positive rate stays at or under fpr, inside (0, 1), up to
 * `capacity` distinct items, 1 .. CKF_MAX_CAPACITY.  It grows past the capacity, and its rate
 * rises in proportion.  options is a text as ckf_params_parse reads it, such as "kind=set,
 * seed=7", or NULL. The caller frees the filter by cuckoofilter_free. NULL:
 * CUCKOOFILTER_BAD_PARAMETER, CUCKOOFILTER_NO_MEMORY.
 */
cuckoofilter *cuckoofilter_create(int64_t capacity, double fpr, const char *options,
								  cuckoofilter_error *error);

/*
 * The filter in `size` bytes that any version of cuckoofilter has written.  The bytes are
 * copied and validated, every slot of them, and may come from anybody. NULL:
 * CUCKOOFILTER_BAD_BYTES, CUCKOOFILTER_INTERRUPTED, CUCKOOFILTER_NO_MEMORY.
 */
cuckoofilter *cuckoofilter_open(const void *bytes, size_t size, cuckoofilter_error *error);

/* A copy.  NULL: CUCKOOFILTER_NO_MEMORY. */
cuckoofilter *cuckoofilter_copy(const cuckoofilter *filter, cuckoofilter_error *error);

/* Free a filter.  NULL is allowed. */
void cuckoofilter_free(cuckoofilter *filter);

/* The bytes of a filter, to be stored or sent, and their number.  The pointer is valid until
 * the filter is changed or freed. */
const void *cuckoofilter_data(const cuckoofilter *filter, size_t *size);

/* The opened filter, for functions of the engine that take a const ckf_filter. */
const ckf_filter *cuckoofilter_engine(const cuckoofilter *filter);

/* The number of copies that are stored, the false positive rate to expect now, and everything
 * that cuckoofilter_info of SQL shows. */
uint64_t cuckoofilter_count(const cuckoofilter *filter);
double cuckoofilter_fpr(const cuckoofilter *filter);
void cuckoofilter_info(const cuckoofilter *filter, ckf_info *info);

/* -------------------------------------------------- lookups and changes */

/*
 * Whether the filter contains an item: 1 probably, 0 certainly not, -1 an error.
 * A lookup about an item of a class that a filter has never seen, such as a text where it has
 * numbers, is CUCKOOFILTER_UNLIKE_ITEM, and so are additions and removals of such an item.  An
 * empty filter, and one with hashes of the caller's own, takes every class.
 */
int cuckoofilter_contains(const cuckoofilter *filter, cuckoofilter_item item,
						  cuckoofilter_error *error);

/* Add one copy of an item.
 * false: CUCKOOFILTER_UNLIKE_ITEM, CUCKOOFILTER_LIMIT, CUCKOOFILTER_INTERRUPTED,
 * CUCKOOFILTER_NO_MEMORY. */
bool cuckoofilter_add(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error);

/* Remove one copy of an item: 1 if one was removed; 0 if there is none, or as many as can be
 * counted (2 x bucket size), which stay; -1 is an error.  Remove only what was added. -1:
 * CUCKOOFILTER_UNLIKE_ITEM, CUCKOOFILTER_BAD_STATE (the filter is a set). */
int cuckoofilter_remove(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error);

/* How many copies of an item are stored, 0 .. 2 x bucket size; -1: CUCKOOFILTER_UNLIKE_ITEM. */
int cuckoofilter_copies(const cuckoofilter *filter, cuckoofilter_item item,
						cuckoofilter_error *error);

/* The same for a pair (cuckoofilter_hash_pair): cuckoofilter_contains_pair, _add_pair and
 * _remove_pair of SQL. */
int cuckoofilter_contains_pair(const cuckoofilter *filter, cuckoofilter_item item,
							   cuckoofilter_item value, cuckoofilter_error *error);
bool cuckoofilter_add_pair(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_item value,
						   cuckoofilter_error *error);
int cuckoofilter_remove_pair(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_item value,
							 cuckoofilter_error *error);

/*
 * The same for n hashes that cuckoofilter_hash or the functions of cuckoofilter.h made under
 * the filter's seed.  item_classes has the bits of ckf_item_class for the classes among the items,
 * or CKF_ITEM_HASH for hashes of a function of the caller's own, of which no lookup is
 * refused.
 *
 * contains_hashes sets out[i] to 1 or 0; it fails with CUCKOOFILTER_UNLIKE_ITEM.  Calls that
 * change many items at once are much faster than a loop over single ones.
 */
bool cuckoofilter_contains_hashes(const cuckoofilter *filter, const uint64_t *hashes, size_t n,
								  unsigned item_classes, uint8_t *out, cuckoofilter_error *error);
bool cuckoofilter_add_hashes(cuckoofilter *filter, const uint64_t *hashes, size_t n,
							 unsigned item_classes, cuckoofilter_error *error);
bool cuckoofilter_remove_hashes(cuckoofilter *filter, const uint64_t *hashes, size_t n,
								unsigned item_classes, cuckoofilter_error *error);

/*
 * The same for n items by both hashes, of which rounded[i] differs from hashes[i] for numbers of
 * CKF_CLASS_DECIMAL: a filter of an older version may hold these numbers by the nearest double.
 * Lookups find them, and removals leave them in.  item_classes has CKF_ITEM_DECIMAL then.
 */
bool cuckoofilter_contains_both(const cuckoofilter *filter, const uint64_t *hashes,
								const uint64_t *rounded, size_t n, unsigned item_classes,
								uint8_t *out, cuckoofilter_error *error);
bool cuckoofilter_remove_both(cuckoofilter *filter, const uint64_t *hashes, const uint64_t *rounded,
							  size_t n, unsigned item_classes, cuckoofilter_error *error);

/* ---------------------------------------------------- two filters, and more */

/*
 * A new filter of two.  The union and the intersection are sets.  cuckoofilter_sum adds up the
 * copies, for filters that have no item in common; it is deletable if both are.
 * NULL: CUCKOOFILTER_BAD_PARAMETER (the seeds differ), CUCKOOFILTER_LIMIT,
 * CUCKOOFILTER_BAD_STATE, CUCKOOFILTER_INTERRUPTED, CUCKOOFILTER_NO_MEMORY.
 */
cuckoofilter *cuckoofilter_union(const cuckoofilter *a, const cuckoofilter *b,
								 cuckoofilter_error *error);
cuckoofilter *cuckoofilter_sum(const cuckoofilter *a, const cuckoofilter *b,
							   cuckoofilter_error *error);
cuckoofilter *cuckoofilter_intersect(const cuckoofilter *a, const cuckoofilter *b,
									 cuckoofilter_error *error);

/*
 * A new filter of n filters, in one call and in the time of a few: cuckoofilter_union_agg and
 * cuckoofilter_sum_agg of SQL.  The result is the same in any order.  It is an empty filter with
 * default parameters if n is 0.  NULL: as above.
 */
cuckoofilter *cuckoofilter_union_many(const cuckoofilter *const *filters, size_t n,
									  cuckoofilter_error *error);
cuckoofilter *cuckoofilter_sum_many(const cuckoofilter *const *filters, size_t n,
									cuckoofilter_error *error);

/* The same items in the fewest bytes.  false: as above. */
bool cuckoofilter_compact(cuckoofilter *filter, cuckoofilter_error *error);

/* How many distinct items two filters share, about (ckf_comparison).  false: as above, and
 * CUCKOOFILTER_BAD_PARAMETER if one filter is too coarse. */
bool cuckoofilter_compare(const cuckoofilter *a, const cuckoofilter *b, ckf_comparison *comparison,
						  cuckoofilter_error *error);

/* ------------------------------------------------------ a filter of items */

/*
 * Build the filter of many items: cuckoofilter_agg of SQL.  Equal items count once, and the
 * filter is sized to them, or to capacity, if that is larger (0: to the items).  The order of
 * the items does not change the bytes.  An item takes 8 to 16 bytes of memory while it waits.
 *
 *     cuckoofilter_builder *builder = cuckoofilter_build(0.01, 0, NULL, &error);
 *     for each value
 *         ok = ok && cuckoofilter_build_add(builder, cuckoofilter_integer(value), &error);
 *     filter = ok ? cuckoofilter_build_end(builder, &error) : NULL;
 *     cuckoofilter_build_free(builder);
 */
typedef struct cuckoofilter_builder cuckoofilter_builder;

/* Begin.  NULL: CUCKOOFILTER_BAD_PARAMETER, CUCKOOFILTER_NO_MEMORY. */
cuckoofilter_builder *cuckoofilter_build(double fpr, int64_t capacity, const char *options,
										 cuckoofilter_error *error);

/* Add an item, a pair, or n hashes under the seed of the options.
 * false: CUCKOOFILTER_INTERRUPTED, CUCKOOFILTER_NO_MEMORY.  The builder can only be freed then.
 */
bool cuckoofilter_build_add(cuckoofilter_builder *builder, cuckoofilter_item item,
							cuckoofilter_error *error);
bool cuckoofilter_build_add_pair(cuckoofilter_builder *builder, cuckoofilter_item item,
								 cuckoofilter_item value, cuckoofilter_error *error);
bool cuckoofilter_build_add_hashes(cuckoofilter_builder *builder, const uint64_t *hashes, size_t n,
								   unsigned item_classes, cuckoofilter_error *error);

/* The seed of the options, under which the hashes of build_add_hashes are made. */
uint64_t cuckoofilter_build_seed(const cuckoofilter_builder *builder);

/* The filter of the items so far; more may be added afterwards.
 * NULL: CUCKOOFILTER_BAD_PARAMETER, CUCKOOFILTER_LIMIT, CUCKOOFILTER_INTERRUPTED,
 * CUCKOOFILTER_NO_MEMORY. */
cuckoofilter *cuckoofilter_build_end(cuckoofilter_builder *builder, cuckoofilter_error *error);

/* Free a builder.  NULL is allowed. */
void cuckoofilter_build_free(cuckoofilter_builder *builder);

CKF_END

#ifdef CKF_LIBRARY
#pragma GCC visibility pop
#endif

#endif
