/*
 * cuckoofilter.h - the functions of a cuckoo filter that is stored as one value.
 *
 * This is the API of the engine behind the PostgreSQL and SQLite extensions (the
 * hosts).  The engine works on 64-bit hashes and bytes.  The hosts provide SQL
 * values, memory and messages.
 *
 * Every function here keeps these rules:
 *   - The caller owns all memory.  The engine allocates nothing and has no state
 *     of its own.  It keeps no pointer after a call, except that a ckf_filter
 *     points to the bytes on which it was opened.  A change that needs more room
 *     returns CKF_ROOM and leaves everything unchanged.
 *   - Bytes may have any alignment.
 *   - A failed call changes nothing.
 *   - Results are deterministic: the same input gives the same bytes on every
 *     machine.
 *   - Calls on different filters, and read-only calls on one filter, may run
 *     at the same time.
 *
 * core/FORMAT.md describes the bytes and the algorithms.  "Paper" is Fan, Andersen,
 * Kaminsky, Mitzenmacher: Cuckoo Filter, CoNEXT 2014.
 */
#ifndef CUCKOOFILTER_H
#define CUCKOOFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shared library exports the functions of this header.  Other builds hide them. */
#ifdef CKF_LIBRARY
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
#define CKF_BEGIN                                                                                  \
	extern "C"                                                                                     \
	{
#define CKF_END }
#else
#define CKF_BEGIN
#define CKF_END
#endif

CKF_BEGIN

#define CKF_VERSION "1.8.0"

/* The version that is written.  Version 1 is read, too; a change rewrites it as this one.  Filters
 * with numbers that only their exact value tells apart have version 3 (ckf_number_form). */
#define CKF_FORMAT_VERSION 2
#define CKF_FORMAT_DECIMALS 3
#define CKF_HASH_VERSION 1

/* Bytes of the header.  An empty filter is a header only. */
#define CKF_HEADER_SIZE 48

/* Ranges of the parameters.  capacity / fpr is at most 2^CKF_MAX_PREFIX. */
#define CKF_MAX_CAPACITY ((int64_t)1 << 40)
#define CKF_MAX_PREFIX 56
#define CKF_DEFAULT_FPR 0.01

/* The result of a call.  The list is complete: a host translates each status in one place. */
typedef enum ckf_status
{
	CKF_OK = 0,
	CKF_MORE,         /* the operation needs more steps */
	CKF_ROOM,         /* the change needs a larger buffer */
	CKF_FEED,         /* the operation needs the next chunk (cuckoofilter_chunk.h) */
	CKF_BAD_BYTES,    /* these bytes are not a filter */
	CKF_BAD_VERSION,  /* a filter of an unknown format or hash version */
	CKF_UNFINISHED,   /* an aggregate's state that a version before 1.4 wrote */
	CKF_BAD_CAPACITY, /* outside 1 .. CKF_MAX_CAPACITY */
	CKF_BAD_FPR,      /* not inside (0, 1), or NaN */
	CKF_BAD_TARGET,   /* capacity / fpr above 2^CKF_MAX_PREFIX */
	CKF_BAD_OPTION,   /* options text: unknown name, value or syntax */
	CKF_OPTION_TWICE, /* options text: two options of one name */
	CKF_SEED_DIFFERS, /* the filters to merge or compare have different seeds */
	CKF_OLD_ITEMS,    /* one of the filters to compare has CKF_ITEM_OLD, the other one
					   * CKF_ITEM_OTHER: version 1 hashed these items differently */
	CKF_UNLIKE_SIZES, /* one of the filters to compare is too coarse: the standard error of
					   * the overlap exceeds the items of the smaller filter */
	CKF_IS_SET,       /* a removal from a set */
	CKF_PRECISION     /* the prefix has too few bits: too many items for the filter's
					   * capacity and target rate */
} ckf_status;

typedef enum ckf_encoding
{
	CKF_HASHES = 0,
	CKF_SEMI_SORTED = 1,
	CKF_PLAIN = 2,
	CKF_PREFIXES = 4 /* only the state of union_agg and sum_agg has it; 3 was a state before 1.4 */
} ckf_encoding;

/* ---------------------------------------------------------------- hashing */

/*
 * Canonical hash of a value: XXH3_64bits_withSeed(bytes, seed + class).
 * Values that are equal in SQL have equal hashes.  The engine encodes values of
 * classes 1 to 4; the host encodes the others.
 */
typedef enum ckf_class
{
	CKF_CLASS_INTEGER = 1,
	CKF_CLASS_REAL = 2,
	CKF_CLASS_TEXT = 3,
	CKF_CLASS_BYTES = 4,
	CKF_CLASS_TIMESTAMP = 5,   /* int64 microseconds since 2000-01-01 00:00, no zone */
	CKF_CLASS_TIMESTAMPTZ = 6, /* int64 microseconds since 2000-01-01 00:00 UTC */
	CKF_CLASS_OTHER = 7,       /* words: the hashes of the members of a composite value
								* (ckf_shape), or the hash that the type defines */
	CKF_CLASS_DECIMAL = 8      /* numbers of neither class 1 nor 2, by ckf_hash_decimal */
} ckf_class;

/* The first word of a composite value of class 7.  FORMAT.md, section 6, describes
 * the words that follow. */
typedef enum ckf_shape
{
	CKF_SHAPE_ARRAY = 1,
	CKF_SHAPE_RECORD = 2,
	CKF_SHAPE_RANGE = 3,
	CKF_SHAPE_MULTIRANGE = 4,
	CKF_SHAPE_JSON = 5, /* a JSON document that is a scalar */
	CKF_SHAPE_JSON_ARRAY = 6,
	CKF_SHAPE_JSON_OBJECT = 7,
	CKF_SHAPE_JSON_BOOLEAN = 8,
	CKF_SHAPE_FOLDED = 9 /* case-insensitive text */
} ckf_shape;

/*
 * The classes of a filter's items, as bits of ckf_filter.item_classes.  With them a host
 * detects a lookup of the wrong type.  Adding an item sets its bit; removing items clears
 * no bit until the filter is empty.
 */
typedef enum ckf_item_class
{
	CKF_ITEM_NUMBER = 1, /* an integer or a real: a numeric column has both */
	CKF_ITEM_TEXT = 2,
	CKF_ITEM_BYTES = 4,
	CKF_ITEM_TIMESTAMP = 8,
	CKF_ITEM_TIMESTAMPTZ = 16,
	CKF_ITEM_OTHER = 32,
	CKF_ITEM_HASH = 64, /* a hash that the caller computed, of any class */
	CKF_ITEM_OLD = 128, /* items from version 1 of the format, which did not store their
						 * classes and hashed CKF_CLASS_OTHER differently; only
						 * together with CKF_ITEM_HASH */
	/* besides CKF_ITEM_NUMBER or CKF_ITEM_OTHER, of an item that is added: it is or holds a
	 * number of CKF_CLASS_DECIMAL.  A filter has it as CKF_FORM_EXACT. */
	CKF_ITEM_DECIMAL = 256
} ckf_item_class;

/*
 * How a filter holds numbers of CKF_CLASS_DECIMAL, and values with such numbers in them, as bits of
 * ckf_filter.number_forms.  Versions before 1.7.1 hashed them as the nearest double.
 */
typedef enum ckf_number_form
{
	CKF_FORM_EXACT = 1,   /* by their exact value */
	CKF_FORM_ROUNDED = 2, /* perhaps by the nearest double: numbers, values of other types or
						   * hashes came from a filter of version 1 or 2 */
	CKF_FORM_ANY = 4      /* unknown, after an intersection of both, or with CKF_ITEM_HASH: each
						   * may be in */
} ckf_number_form;

/* The item class of a hash class. */
static inline unsigned
ckf_item_class_of(ckf_class cls)
{
	if (cls == CKF_CLASS_DECIMAL)
		return CKF_ITEM_NUMBER | CKF_ITEM_DECIMAL;
	return cls <= CKF_CLASS_REAL ? (unsigned)CKF_ITEM_NUMBER : 1U << (cls - CKF_CLASS_REAL);
}

/* The hash of an item, and the one that versions before 1.7.1 gave it.  They differ for numbers of
 * CKF_CLASS_DECIMAL, and values with such numbers in them. */
typedef struct ckf_hashes
{
	uint64_t hash, rounded;
} ckf_hashes;

/* Whether an item is or holds a number of CKF_CLASS_DECIMAL. */
static inline bool
ckf_is_decimal(ckf_hashes item)
{
	return item.hash != item.rounded;
}

/* CKF_ITEM_DECIMAL if it is or does, else 0. */
unsigned ckf_decimal_class(ckf_hashes item);

/* Hash of an integer (class 1).  Inline, in value/hashing.h. */
static inline uint64_t ckf_hash_integer(int64_t value, uint64_t seed);

/* Hash of a double.  An integer in the range of int64 has class 1 (-0.0 is 0), any
 * other value class 2.  All NaN have one hash. */
uint64_t ckf_hash_real(double value, uint64_t seed);

/*
 * Hash of a number in decimal digits: a sign or none, digits with a point or none among them, and
 * perhaps e with an exponent.  "1.50" and "15e-1" are equal.  An integer of 64 bits has class 1.  A
 * number that is a double, or that is the shortest text of its nearest double, is hashed as this
 * double; any other number has CKF_CLASS_DECIMAL.
 * false: the text is no such number.
 */
bool ckf_hash_decimal(const char *text, size_t size, uint64_t seed, ckf_hashes *hashes);

/* The same of an integer that may be larger than an int64. */
ckf_hashes ckf_hash_unsigned(uint64_t value, uint64_t seed);

/* Hash of `size` bytes under a class.  Bytes of CKF_CLASS_TEXT are UTF-8. */
uint64_t ckf_hash_bytes(ckf_class cls, const void *bytes, size_t size, uint64_t seed);

/* Hash of an int64 under a class (5, 6, 7): its 8 bytes, little-endian.
 * Inline, in value/hashing.h. */
static inline uint64_t ckf_hash_word(ckf_class cls, uint64_t word, uint64_t seed);

/* Hash of `n` words under class 7, each as 8 bytes, little-endian.  The call converts
 * `words` to this byte order in place.  The hash of no words stands for a NULL element. */
uint64_t ckf_hash_words(uint64_t *words, size_t n, uint64_t seed);

/* Hash of a record (item, value), from the hashes of both under the same seed.  Its item
 * class is CKF_ITEM_OTHER. */
uint64_t ckf_hash_pair(uint64_t item, uint64_t value, uint64_t seed);
ckf_hashes ckf_hashes_of_pair(ckf_hashes item, ckf_hashes value, uint64_t seed);

/* The number of the part, 0 .. parts - 1, that an item belongs to if a filter is kept in parts;
 * hash is the item's hash with seed 0, parts is 1 or more.  It comes from the last bits of the
 * hash, since a filter stores the first: items of one part must not share them. */
uint32_t ckf_part(uint64_t hash, uint32_t parts);

/* ------------------------------------------------------------- parameters */

/* 2^53.  Up to it, each integer is a double of its own, so a double that a program passes for an
 * integer is the one that was meant; a larger one may have been rounded. */
#define CKF_EXACT 9007199254740992.0

/* The parameters of a new filter. */
typedef struct ckf_params
{
	int64_t capacity;    /* the filter keeps fpr up to so many distinct items; 0, for
						  * ckf_create_state only: the number of distinct items */
	double fpr;          /* target false positive rate, inside (0, 1) */
	uint64_t seed;       /* the seed of the items' hashes; the filter only stores it */
	bool set;            /* a set stores one copy of an item and refuses removals */
	bool plain;          /* layout: plain; else semi-sorted if b = 4 */
	bool decimals;       /* for ckf_create_state only: see there */
	uint8_t bucket_size; /* b: 2, 4 or 8 slots */
} ckf_params;

/* Capacity 0, fpr CKF_DEFAULT_FPR, seed 0, deletable, semi-sorted, b = 4. */
void ckf_params_default(ckf_params *params);

/*
 * Parse an options text, "name=value, name=value", and change the parameters that it
 * names.  Blanks around names and values are skipped.  The text may be empty.  No name
 * may be repeated.
 *   kind = deletable | set
 *   bucket_size = 2 | 4 | 8
 *   layout = semi_sorted | plain       semi_sorted needs bucket_size 4
 *   seed = <64-bit integer, signed or unsigned>
 * CKF_BAD_OPTION, CKF_OPTION_TWICE: *bad and *bad_size give the invalid part of the text.
 */
ckf_status ckf_params_parse(ckf_params *params, const char *text, size_t size, const char **bad,
							size_t *bad_size);

/* ---------------------------------------------------------------- filters */

/* Constants to compute rho from a bucket and a tag.  Internal to the engine. */
typedef struct ckf_inverse
{
	uint64_t quotient, remainder; /* of 2^W / m */
	uint64_t reciprocal;          /* ceil(2^47 / m); 0 until the struct is filled */
	uint64_t golden_inverse;      /* C * this = 1 mod 2^64 */
	uint64_t rho_mask;            /* 2^W - 1 */
} ckf_inverse;

/*
 * An opened filter: its bytes, and the geometry read from them.  It is plain data
 * on the caller's stack.  The members after `capacity` are internal to the engine.  They
 * are stored so that no call computes them again.  `methods` is a pointer, so another
 * process cannot use the struct.
 */
typedef struct ckf_filter
{
	uint8_t *bytes; /* the filter's bytes: ckf_move changes it */
	uint8_t *body;  /* what follows the header: sorted hashes or buckets */
	size_t size;    /* bytes of the filter; ckf_add and ckf_remove change it */
	size_t room;    /* bytes of the buffer; ckf_open sets it to size, and a caller
					 * with a larger buffer may raise it */
	uint64_t count; /* copies stored */
	uint64_t seed;
	double fpr;
	int64_t capacity;
	uint8_t encoding; /* ckf_encoding */
	uint8_t flags;
	uint8_t b, f, w, g, c; /* slots of a bucket; bits of tag, prefix, segment number; c */
	uint8_t item_classes;  /* bits of ckf_item_class; 0 if there are no items */
	uint8_t format;        /* format version of the bytes; of a rebuild's inputs and target:
							* CKF_FORMAT_DECIMALS if numbers are exact unless number_forms
							* says otherwise */
	uint8_t rho_bits;      /* W = w - g: bits of rho */
	uint8_t load_slots;    /* slots that one load reads: b, or a part of it */
	uint8_t prefix_shift;  /* 64 - w */
	uint8_t rho_shift;     /* 64 - W */
	bool deduplicated;     /* a prefix has at most one copy */
	uint8_t number_forms;  /* bits of ckf_number_form */
	uint32_t m;            /* buckets in a segment's half */
	uint32_t bucket_bits;  /* bits of a bucket */
	uint32_t bucket_step;  /* a bucket, in the unit of bucket offsets: bits or bytes */
	uint64_t half_bits;    /* bits of a half: m buckets */
	uint64_t half_step;    /* a half, in the unit of bucket offsets */
	uint64_t segment_step; /* two halves, in the unit of bucket offsets */
	uint64_t tag_mask;     /* 2^f - 1 */
	uint64_t low_mask;     /* 2^c - 1 */
	uint64_t golden;       /* C */
	uint64_t lanes;        /* the lowest bit of each slot */
	uint64_t tops;         /* the highest bit of each slot */
	uint64_t nibble_mask;  /* semi-sorted: the bits of a lane that store the tag's low nibble */
	uint64_t upper_mask;   /* semi-sorted: the bits that store its upper bits */
	uint64_t max_count;    /* number of copies at which the rate reaches its limit */
	uint64_t full_count;   /* from this number of copies, an add that would kick asks for growth */
	ckf_inverse inverse;   /* filled by the first kick */
	/* lookups and changes of the encoding (filter/methods.h) */
	const struct ckf_methods *methods;
} ckf_filter;

/* The filter's bytes have been copied to another address. */
static inline void
ckf_move(ckf_filter *filter, void *bytes)
{
	filter->bytes = (uint8_t *)bytes;
	filter->body = filter->bytes + CKF_HEADER_SIZE;
}

/* Where the bytes come from, which decides what ckf_open validates. */
typedef enum ckf_trust
{
	CKF_FOREIGN, /* from a user: every field and every slot, without a stop: a large filter takes
				  * long.  CKF_STORED, then ckf_check_step, does the same in steps */
	CKF_STORED,  /* from the database: every field.  Only the header is read, so it may be
				  * all that the caller has, and the cost does not depend on the size */
	CKF_STATE    /* an aggregate's state: validates as CKF_STORED does; ckf_add of a hash
				  * that the filter has already changes nothing */
} ckf_trust;

/* Write a new empty filter, CKF_HEADER_SIZE bytes, at dst.
 * CKF_BAD_CAPACITY, CKF_BAD_FPR, CKF_BAD_TARGET, CKF_BAD_OPTION (the layout does not
 * support the bucket size). */
ckf_status ckf_create(const ckf_params *params, void *dst);

/*
 * Write the state of an aggregate over items, an ordinary empty filter.  If params->capacity is 0,
 * the state's capacity is 1.  params->decimals: items may have CKF_ITEM_DECIMAL, in this state or
 * in another one that it is combined with.  Its version is then CKF_FORMAT_DECIMALS, which says
 * that its other numbers are no rounded ones either; a collector needs no such mark.
 */
ckf_status ckf_create_state(const ckf_params *params, void *dst);

/*
 * The size in bytes of the filter that an aggregate builds from params->capacity distinct
 * items.  The number is exact if the first table that is built can place all items, which
 * nearly always succeeds.  The second table is 2 % larger, or 10 % for few items.  Rates
 * above 0.05 have such short tags that several tables may fail; the filter may then be
 * 50 % larger.
 * CKF_BAD_CAPACITY, CKF_BAD_FPR, CKF_BAD_OPTION.
 */
ckf_status ckf_planned_bytes(const ckf_params *params, uint64_t *bytes);

/*
 * Validate `size` bytes and open them.  No other function makes a ckf_filter from bytes,
 * except ckf_open_like.  The bytes must stay at their address while the filter is used.
 * Only ckf_add, ckf_remove and ckf_merge_few write to them.
 * CKF_BAD_BYTES, CKF_BAD_VERSION, CKF_UNFINISHED (CKF_FOREIGN gives CKF_BAD_BYTES instead).
 */
ckf_status ckf_open(ckf_filter *filter, const void *bytes, size_t size, ckf_trust trust);

/*
 * Open the state of another group, much faster than ckf_open.  *filter is open on sorted hashes.
 * The caller has verified that the new bytes have the same header, except for the count.
 * CKF_BAD_BYTES: the count does not match the size, or *filter is not in sorted hashes.  *filter
 * is unchanged then, and ckf_open reports what the bytes are.
 */
ckf_status ckf_open_like(ckf_filter *filter, const void *bytes, size_t size);

/*
 * Validate every slot, in steps of a few milliseconds, so that a host can check for
 * interrupts between them.  Set *check to zero before the first step.
 * CKF_OK; CKF_MORE: call again; CKF_BAD_BYTES.
 */
typedef struct ckf_check
{
	uint64_t next;  /* the position where the next step begins */
	uint64_t count; /* copies found so far */
} ckf_check;

ckf_status ckf_check_step(const ckf_filter *filter, ckf_check *check);

/*
 * Whether the filter may contain items of this class.  It is true for an empty filter,
 * and for a filter with CKF_ITEM_HASH.  It is false for CKF_ITEM_OTHER if the filter has
 * CKF_ITEM_OLD: version 1 hashed such items differently, so a lookup would miss them.
 * It is true for CKF_ITEM_HASH.
 */
static inline bool
ckf_may_hold(const ckf_filter *filter, unsigned item_class)
{
	unsigned classes = filter->item_classes;

	if ((classes & CKF_ITEM_OLD) && (item_class & CKF_ITEM_OTHER))
		return false;
	return classes == 0 || (classes & (item_class | CKF_ITEM_HASH));
}

/* Whether the filter may contain the hash.  false is certain; true is wrong with
 * probability ckf_fpr.  (Paper, Algorithm 2.) */
bool ckf_contains(const ckf_filter *filter, uint64_t hash);

/*
 * Whether the filter may contain an item whose hash is not there, but which ckf_is_decimal: by its
 * rounded hash, in a filter of older versions, or since the filter does not know.
 */
bool ckf_contains_rounded(const ckf_filter *filter, uint64_t rounded);

/* Whether the filter may contain an item. */
bool ckf_contains_item(const ckf_filter *filter, ckf_hashes item);

/* The number of copies of an item: those of both hashes, at most 2 b.  ANY counts as one. */
unsigned ckf_copies_of_item(const ckf_filter *filter, ckf_hashes item);

/* Look up n hashes; memory is prefetched.  out[i] becomes 1 or 0; out may be NULL.
 * Returns the number of ones. */
size_t ckf_contains_many(const ckf_filter *filter, const uint64_t *hashes, size_t n, uint8_t *out);

/* The number of copies that are stored of the hash's prefix: 0 .. 2 b. */
unsigned ckf_copies(const ckf_filter *filter, uint64_t hash);

/*
 * A lookup in a filter of which the host has read only the header.  The host opens the
 * header by ckf_open with CKF_STORED and the size of the whole filter.  Each step of the
 * lookup names the bytes that it needs next, and the host reads them.
 *
 *     status = ckf_lookup_start(&lookup, header, hash, false);
 *     while (status == CKF_MORE)
 *     {
 *         bytes = lookup.size bytes of the filter, from lookup.from on
 *         status = ckf_lookup_step(&lookup, header, bytes, lookup.size);
 *     }
 *     if (status == CKF_OK)    lookup.copies is the answer
 *
 * A table takes at most two steps, one for each bucket of the hash.  Sorted hashes are
 * searched by interpolation: usually in two steps, at most in a few dozen.  A lookup
 * keeps no pointer, so many lookups can be in progress and be stepped in any order.
 * PostgreSQL uses it, since it can read a part of a stored value.  SQLite passes whole
 * arguments to functions and does not need it.
 */
typedef struct ckf_lookup_cursor
{
	uint64_t from;   /* CKF_MORE: offset in the filter of the first byte that is needed */
	uint32_t size;   /* CKF_MORE: number of bytes, 1 .. CKF_LOOKUP_BYTES, inside the filter */
	uint32_t copies; /* CKF_OK: copies stored; without all_copies: 0, or at least 1 */
	/* internal to the engine: */
	uint64_t hash;
	uint64_t low, high;    /* sorted hashes: bounds of the index of the first hash >= `hash` */
	uint64_t below, above; /* sorted hashes: the hashes beside these bounds */
	uint8_t steps;         /* steps made */
	bool all_copies;
	bool counting; /* sorted hashes: the first copy is found */
} ckf_lookup_cursor;

typedef ckf_lookup_cursor ckf_lookup; /* its name before 1.8.0, for programs */

#define CKF_LOOKUP_BYTES 2048

/* Begin a lookup.  all_copies: count the copies, as ckf_copies does; else answer as
 * ckf_contains does, which may need fewer bytes.  CKF_MORE, CKF_OK. */
ckf_status ckf_lookup_start(ckf_lookup_cursor *lookup, const ckf_filter *header, uint64_t hash,
							bool all_copies);

/* Continue with the bytes that the last step asked for.  CKF_MORE, CKF_OK,
 * CKF_BAD_BYTES (size is too small). */
ckf_status ckf_lookup_step(ckf_lookup_cursor *lookup, const ckf_filter *header, const void *bytes,
						   size_t size);

/*
 * Store one copy in place.  The bytes, filter->size and filter->count change.  Nothing is
 * stored if a set has the prefix already, or if there are 2 b copies of it (saturated).
 * item_classes, at least one bit, is recorded in every case.  (Paper, Algorithm 1;
 * sections 3 and 4.)
 * CKF_ROOM: run a CKF_GROW rebuild and add to its result.
 * CKF_PRECISION: the prefix of this filter has too few bits for more items.
 */
ckf_status ckf_add(ckf_filter *filter, uint64_t hash, unsigned item_classes);

/*
 * Remove one copy in place.  *found becomes true if a copy was removed.  Saturated copies
 * (2 b of them) are not removed.  Only items that were added may be removed; another
 * removal may delete the copy of an item with the same prefix.  A filter in hashes gets
 * shorter: use filter->size afterwards.  (Paper, Algorithm 3.)
 * CKF_IS_SET.
 */
ckf_status ckf_remove(ckf_filter *filter, uint64_t hash, bool *found);

/* The same of an item.  Nothing is removed if it may be in by its rounded hash: this stands for any
 * number of items, as saturated copies do. */
ckf_status ckf_remove_item(ckf_filter *filter, ckf_hashes item, bool *found);

/* The number of copies that are stored. */
uint64_t ckf_items(const ckf_filter *filter);

/* The false positive rate that is expected at the present number of items.  High rates of a
 * deletable filter are an upper bound: its items share prefixes, so at 0.5 the actual rate is 0.39
 * (FORMAT.md, section 5). */
double ckf_fpr(const ckf_filter *filter);

/* The result of ckf_get_info. */
typedef struct ckf_info
{
	uint64_t count; /* copies stored */
	int64_t capacity;
	double target_fpr;
	double fpr;
	uint64_t bytes;
	double bits_per_item; /* 8 * bytes / count; 0 if count is 0 */
	double load_factor;   /* occupied slots / slots; 1 if there is no table */
	const char *encoding; /* hashes | table | prefixes */
	const char *layout;   /* semi_sorted | plain: the layout of the present or later table */
	const char *kind;     /* deletable | set */
	int bucket_size;
	int fingerprint_bits; /* f; 0 if there is no table */
	int prefix_bits;      /* w; 64 in hashes */
	uint64_t segments;    /* 2^g; 0 if there is no table */
	uint64_t seed;
	int format_version;          /* of the bytes */
	const char *item_classes[8]; /* names of the item classes CKF_ITEM_NUMBER .. CKF_ITEM_HASH
								  * that the filter has, then NULL; a filter of version 1
								  * has hash */
	uint64_t items_left; /* how many distinct items can be added until the capacity is reached, up
						  * to which the target rate holds: capacity less count, never below 0 */
	uint64_t items_to_limit; /* how many distinct items can be added one by one until the rate
							  * reaches its limit and adding fails.  At least so many can, but in
							  * one of 1,000 filters: more if items share prefixes in a set, or if
							  * fingerprints or buckets are small.  In hashes it counts for the
							  * later table */
} ckf_info;

void ckf_get_info(const ckf_filter *filter, ckf_info *info);

/* ------------------------------------------------- rebuild: move and merge items */

/*
 * A rebuild reads the items of one or more filters in ascending order and builds another
 * filter from them.  Every operation that moves or merges items is a rebuild.  It works in
 * steps of a few milliseconds, so that a host can check for interrupts between them:
 *
 *     ckf_buffers buffers = {0};
 *     ckf_rebuild *rebuild = malloc(CKF_REBUILD_SIZE(2));
 *     status = ckf_rebuild_start(rebuild, operation, &a, &b);
 *     if (status == CKF_OK)
 *         while ((status = ckf_rebuild_step(rebuild, &buffers)) != CKF_OK)
 *             if (status == CKF_ROOM)      replace each buffer that is too small
 *             else if (status == CKF_MORE) check for interrupts
 *             else                         fail with status
 *
 * At CKF_OK buffers.dst holds the result, buffers.dst_size bytes.  The buffer may be
 * larger: after growth, a filter in hashes uses the rest as filter->room.
 * The inputs and their bytes must not change until the end.  An input may be the filter
 * of a collector (see below).
 */
typedef enum ckf_operation
{
	CKF_GROW,         /* a, with room for about 50 % more items */
	CKF_COMPACT,      /* a, in the fewest bytes */
	CKF_UNION,        /* the union of a and b, a set */
	CKF_SUM,          /* the sum of a and b: copies add up; deletable if both are */
	CKF_INTERSECT,    /* the intersection of a and b, a set; if b is NULL: a as a set */
	CKF_COMPARE,      /* builds nothing; ckf_rebuild_comparison returns the overlap */
	CKF_ADD_MANY,     /* a, and one more copy of each hash in b, a collector's filter */
	CKF_REMOVE_MANY,  /* a, without one copy of each hash in b, a collector's filter; hashes
					   * that a does not have are ignored */
	CKF_FINISH,       /* the result of an aggregate over items; a is its state: a filter, or
					   * a collector's filter */
	CKF_FINISH_FED,   /* the same from chunks; only ckf_export_start uses it */
	CKF_MERGE_UNION,  /* the union of any number of filters, as the state of an aggregate:
					   * whole hashes stay hashes, whatever their number; a table may be
					   * fuller than its rate allows; if no table can be filled, it is a
					   * list of prefixes.  So it is never refused for CKF_PRECISION */
	CKF_MERGE_SUM,    /* the sum of any number of filters, in the same way */
	CKF_FINISH_UNION, /* the result of union_agg, from any number of filters */
	CKF_FINISH_SUM,   /* the result of sum_agg, from any number of filters */
	CKF_DUPLICATE     /* a as it is */
} ckf_operation;

typedef ckf_operation ckf_goal; /* its name before 1.8.0, for programs */

/* A rebuild in progress: CKF_REBUILD_SIZE(inputs) bytes from an allocator, aligned to 8. */
typedef struct ckf_rebuild ckf_rebuild;
#define CKF_MOST_INPUTS 16
#define CKF_REBUILD_SIZE(inputs) (1536 + 512 * (inputs))

/*
 * The host's memory for a rebuild.  At CKF_ROOM the host replaces each buffer that is
 * smaller than requested by a new one; contents need not be copied.  A buffer that is
 * large enough keeps its address and contents.
 */
typedef struct ckf_buffers
{
	void *dst; /* becomes the result */
	size_t dst_room;
	void *scratch; /* aligned to 8 bytes */
	size_t scratch_room;
	size_t dst_size;     /* CKF_ROOM: bytes that dst needs.  CKF_OK: bytes of the result;
						  * 0 after CKF_COMPARE */
	size_t scratch_size; /* CKF_ROOM: bytes that scratch needs */
} ckf_buffers;

/* Begin a rebuild.  b is NULL if the operation takes one filter.
 * CKF_OK, CKF_SEED_DIFFERS (never with an empty input), CKF_OLD_ITEMS (CKF_INTERSECT
 * and CKF_COMPARE), CKF_IS_SET (CKF_REMOVE_MANY), CKF_PRECISION. */
ckf_status ckf_rebuild_start(ckf_rebuild *rebuild, ckf_operation operation, const ckf_filter *a,
							 const ckf_filter *b);

/* Begin a rebuild of 1 .. CKF_MOST_INPUTS filters, for CKF_MERGE_* and CKF_FINISH_*.  The
 * array `in` is not used after the call; the filters are. */
ckf_status ckf_rebuild_start_many(ckf_rebuild *rebuild, ckf_operation operation,
								  const ckf_filter *const *in, unsigned inputs);

/* Do one step.  CKF_OK, CKF_MORE, CKF_ROOM, CKF_PRECISION, CKF_BAD_BYTES (damaged input). */
ckf_status ckf_rebuild_step(ckf_rebuild *rebuild, ckf_buffers *buffers);

/* Why a rebuild returned CKF_PRECISION. */
typedef enum ckf_cause
{
	CKF_FULL,          /* the filter cannot grow further with its capacity and rate */
	CKF_COARSE,        /* a merge: the precision of an input is too low for all items */
	CKF_CROWDED,       /* no table can place the copies of some items */
	CKF_CROWDED_HASHES /* a set, which stores one copy: no table can place the prefixes */
} ckf_cause;

typedef struct ckf_refusal
{
	ckf_cause cause;
	uint64_t items;   /* copies that the result would have; COARSE: copies in the two inputs;
					   * FULL, if there is a second input: copies in the first */
	double fpr;       /* the rate that the result would have; FULL, if there is a second input:
					   * the rate of the first */
	uint64_t more;    /* FULL: copies in the second input, or items of the batch, if there are
					   * several; else 0 */
	double limit;     /* the rate at which growth stops */
	int input;        /* COARSE: the coarse input, 0 or 1; -1: the aggregate has merged it */
	int64_t capacity; /* COARSE: the items up to which its precision keeps the target rate */
} ckf_refusal;

/* The rebuild is growth amid a batch of `more` items that are added one by one: its refusal is that
 * of the batch.  before: the filter without them, which must still exist then. */
void ckf_rebuild_of_batch(ckf_rebuild *rebuild, const ckf_filter *before, uint64_t more);

/* Describe a CKF_PRECISION of a rebuild's start or step.  The inputs must still exist. */
void ckf_rebuild_refusal(const ckf_rebuild *rebuild, ckf_refusal *refusal);

/* The overlap of two filters, in distinct items.  It is exact if both filters are in
 * hashes.  If one is a table, it is an estimate: the expected number of chance matches is
 * subtracted (FORMAT.md, section 8). */
typedef struct ckf_comparison
{
	double overlap;   /* distinct items in both: 0 .. those of the smaller filter; at most the
					   * count of each deletable filter */
	double jaccard;   /* overlap / distinct items of the union: 0 .. 1; 0 if both are empty */
	double error;     /* the standard error of the overlap; 0 if exact */
	bool empty;       /* both filters are empty */
	int coarse;       /* CKF_UNLIKE_SIZES: the input that is too coarse, 0 or 1 */
	int64_t capacity; /* CKF_UNLIKE_SIZES: the capacity that both filters need */
} ckf_comparison;

/* The result of CKF_COMPARE, after its last step.  The inputs must still exist.  CKF_OK;
 * CKF_UNLIKE_SIZES: the overlap is unknown, overlap and jaccard are 0, and error is that of filters
 * which share nothing. */
ckf_status ckf_rebuild_comparison(const ckf_rebuild *rebuild, ckf_comparison *comparison);

/* Whether adding or removing n items one by one costs less than a rebuild of the filter. */
bool ckf_few(const ckf_filter *filter, uint64_t n);

/* ------------------------------------------------------ collecting hashes */

/*
 * A collector takes hashes in any order and gives them to a rebuild in ascending order.
 * It serves large aggregates and batches of adds and removals.  It stores hashes in blocks
 * of the host's memory.  A full block is sorted and becomes a run; runs of similar size are
 * merged.  If one copy of a hash is kept, sorting and merging drop duplicates, and the runs
 * have at most about twice as many hashes as there are distinct ones.
 *
 *     ckf_collector collector;                 must not be moved
 *     ckf_collect_start(&collector, &filter, 1);
 *     for each hash
 *         while (!ckf_collect(&collector, hash, item_class))
 *             make room, see below
 *     ckf_collect_settle(&collector);
 *     make room, see below
 *     ckf_rebuild_start(rebuild, CKF_FINISH, &collector.filter, NULL) ..
 *
 * To make room:
 *
 *     while ((status = ckf_collect_step(&collector)) != CKF_OK)
 *         if (status == CKF_ROOM)
 *             ckf_collect_give(&collector, malloc(collector.block_size), collector.block_size);
 *         else if (status == CKF_MORE)
 *             check for interrupts
 *     while ((block = ckf_collect_spent(&collector)) != NULL)
 *         free(block);
 *
 * At the end, ckf_collect_end releases all blocks to ckf_collect_spent.
 */
typedef struct ckf_collector
{
	ckf_filter filter;    /* the parameters of the filter that these hashes become; an input
						   * of a rebuild after the collector has settled */
	uint64_t *next, *end; /* the free part of the block that is being filled */
	size_t block_size;    /* CKF_ROOM: bytes of the requested block */
	uint64_t inside[96];  /* internal to the engine (collect/block.h) */
} ckf_collector;

/*
 * Begin with no hashes.  The collector's filter gets the parameters of `filter`, but not its
 * items.  `most`, 1 .. 16, is the number of copies that are kept of equal hashes.  If it is
 * above 1, a few more may be kept.
 */
void ckf_collect_start(ckf_collector *collector, const ckf_filter *filter, unsigned most);

/* Take the hash of an item of this class.  false: make room, then call again. */
static inline bool
ckf_collect(ckf_collector *collector, uint64_t hash, unsigned item_class)
{
	if (collector->next == collector->end)
		return false;
	*collector->next++ = hash | (hash == 0);
	collector->filter.item_classes |= (uint8_t)item_class;
	collector->filter.number_forms |= (uint8_t)(item_class >> 8); /* CKF_ITEM_DECIMAL */
	return true;
}

/*
 * Take the items of a filter in hashes.  The collector's parameters become those of a sum of
 * both.  Make room before the call; make room after it, too, and keep the bytes of the filter
 * until that is done.
 * CKF_OK, CKF_SEED_DIFFERS.
 */
ckf_status ckf_collect_filter(ckf_collector *collector, const ckf_filter *in);

/* Sort all hashes into one run: the calls of ckf_collect_step that follow do it.  The next
 * ckf_collect ends this state. */
void ckf_collect_settle(ckf_collector *collector);

/* Do one step to make room.  CKF_OK: there is room.  CKF_MORE: call again.  CKF_ROOM: give a
 * block.  CKF_BAD_BYTES: the filter of ckf_collect_filter is damaged. */
ckf_status ckf_collect_step(ckf_collector *collector);

/* Give the collector a block of at least block_size bytes, aligned to 8. */
void ckf_collect_give(ckf_collector *collector, void *block, size_t bytes);

/* Take back a block that the collector no longer needs; NULL: there is none. */
void *ckf_collect_spent(ckf_collector *collector);

/* The sorted hashes of a settled collector, from number `from` on.  *n becomes the number of
 * hashes that follow each other in memory there; 0 after the last hash. */
const uint64_t *ckf_collected(const ckf_collector *collector, uint64_t from, size_t *n);

/* End the collector: ckf_collect_spent then returns all its blocks. */
void ckf_collect_end(ckf_collector *collector);

/* Sort n hashes in an array.  scratch has the same size.  Returns the array that has the
 * result: hashes or scratch. */
uint64_t *ckf_sort_hashes(uint64_t *hashes, uint64_t *scratch, size_t n);

/* ------------------------------------------------------------- aggregates */

/*
 * The state of an aggregate is an ordinary filter.  For an aggregate over items it is a filter
 * in distinct hashes, in a buffer with spare room: open it with CKF_STATE, and add hashes by
 * ckf_add.  A large state becomes a collector.  The state of union_agg and sum_agg is a merger, or
 * one filter that CKF_MERGE_* has built.
 */

/*
 * Merge a small filter into another one in place, if both are in hashes and filter->room
 * suffices.  operation is CKF_MERGE_UNION, CKF_MERGE_SUM, or CKF_FINISH for an aggregate over
 * items.  CKF_ROOM: nothing has changed, use a rebuild.  CKF_SEED_DIFFERS.
 */
ckf_status ckf_merge_few(ckf_filter *filter, const ckf_filter *in, ckf_operation operation);

/*
 * A merger takes filters one by one.  Eight of similar size are merged into one, so an item is
 * merged once for each time that its filter has become eight times as large; where filters overlap
 * so much that the result does not grow, once for every seven filters.  Up to seven filters of
 * similar size wait.  The merger decides what is merged; the host runs the rebuilds and owns the
 * memory of the filters.
 *
 *     ckf_merger_start(&merger, CKF_MERGE_UNION);
 *     for each filter
 *         status = ckf_merger_take(&merger, &filter), and serve it, see below
 *     n = ckf_merger_parts(&merger, parts);
 *     ckf_rebuild_start_many(rebuild, CKF_FINISH_UNION, parts, n) ..
 *     ckf_merger_end(&merger), and free what ckf_merger_spent returns
 *
 * To serve a status:
 *
 *     while (status == CKF_MORE)
 *     {
 *         run a rebuild of merger.in, merger.inputs filters, with the operation merger.task;
 *             let dst have at least merger.room bytes
 *         open its result by CKF_STORED, and set its room
 *         status = ckf_merger_give(&merger, &result);
 *         while ((bytes = ckf_merger_spent(&merger)) != NULL)
 *             free(bytes);
 *     }
 *
 * These rebuilds are not refused for CKF_PRECISION.  So the result, and whether there is one, is
 * that of one rebuild of all filters, in any order.
 */
typedef struct ckf_merger
{
	ckf_operation operation;          /* CKF_MERGE_UNION or CKF_MERGE_SUM */
	ckf_filter part[CKF_MOST_INPUTS]; /* in the host's memory */
	unsigned parts;
	/* CKF_MORE: the rebuild that the host runs */
	ckf_operation task;
	const ckf_filter *in[CKF_MOST_INPUTS];
	unsigned inputs;
	size_t room;
	uint64_t inside[CKF_MOST_INPUTS + 2]; /* internal to the engine (rebuild/merger.c) */
} ckf_merger;

/* Begin without filters.  operation is CKF_MERGE_UNION or CKF_MERGE_SUM. */
void ckf_merger_start(ckf_merger *merger, ckf_operation operation);

/* Take a filter that has all of its bytes (not that of a collector).  It must not change until its
 * status is served.
 * CKF_OK, CKF_MORE, CKF_SEED_DIFFERS (from merger->in[0]). */
ckf_status ckf_merger_take(ckf_merger *merger, const ckf_filter *in);

/* Merge all filters into one, which is then merger->part[0].  CKF_OK, CKF_MORE. */
ckf_status ckf_merger_merge_all(ckf_merger *merger);

/* Give the result of the rebuild that CKF_MORE asked for; the merger keeps its bytes.
 * CKF_OK, CKF_MORE. */
ckf_status ckf_merger_give(ckf_merger *merger, const ckf_filter *result);

/* Take back the bytes of a filter that the merger no longer needs; NULL: there are none. */
uint8_t *ckf_merger_spent(ckf_merger *merger);

/* List all filters, CKF_MOST_INPUTS at most, as the inputs of a rebuild.  Returns their number. */
unsigned ckf_merger_parts(const ckf_merger *merger, const ckf_filter **parts);

/* End the merger: ckf_merger_spent then returns the bytes of all its filters. */
void ckf_merger_end(ckf_merger *merger);

#include "value/hashing.h"

CKF_END

#ifdef CKF_LIBRARY
#pragma GCC visibility pop
#endif

#endif
