/*
 * cuckoofilter.h - a cuckoo filter that is its bytes.
 *
 * The engine behind the PostgreSQL and SQLite extensions, and all that they
 * may include of it.  It knows 64-bit hashes and bytes; SQL values, memory
 * and messages are the host's.
 *
 * Contracts that hold for every function here:
 *   - The caller owns all memory.  The engine allocates nothing, keeps no
 *     pointer past a call (a ckf_filter keeps one to the bytes it was opened
 *     on) and has no state of its own.  Where a change needs more room it
 *     says CKF_ROOM and leaves everything as it was.
 *   - Bytes may lie at any alignment.
 *   - A failed call changes nothing.
 *   - Everything is deterministic: same bytes in, same bytes out, on every
 *     machine.
 *   - Calls on different filters, and read-only calls on one filter, may run
 *     at the same time.
 *
 * core/FORMAT.md has the bytes and the algorithm.  "Paper" is Fan, Andersen,
 * Kaminsky, Mitzenmacher: Cuckoo Filter, CoNEXT 2014.
 */
#ifndef CUCKOOFILTER_H
#define CUCKOOFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CKF_VERSION "1.4.0"

/* Bytes of version 1 are read, too; what changes them writes this one. */
#define CKF_FORMAT_VERSION 2
#define CKF_HASH_VERSION 1

/* Bytes of the header, and so of an empty filter. */
#define CKF_HEADER_SIZE 48

/* Parameters' ranges; capacity / fpr must not pass 2^CKF_MAX_PREFIX. */
#define CKF_MAX_CAPACITY ((int64_t)1 << 40)
#define CKF_MAX_PREFIX 56
#define CKF_DEFAULT_FPR 0.01

/* What a call came to.  Closed: a host words each one once. */
typedef enum ckf_status
{
	CKF_OK = 0,
	CKF_MORE,         /* a rebuild or a check has more steps to go */
	CKF_ROOM,         /* the change needs a larger buffer */
	CKF_FEED,         /* the next chunk is asked for (cuckoofilter_chunk.h) */
	CKF_BAD_BYTES,    /* these bytes are not a filter */
	CKF_BAD_VERSION,  /* a filter of a format or hash version unknown here */
	CKF_UNFINISHED,   /* the state of an aggregate in the form of versions before 1.4 */
	CKF_BAD_CAPACITY, /* outside 1 .. CKF_MAX_CAPACITY */
	CKF_BAD_FPR,      /* not inside (0, 1), or NaN */
	CKF_BAD_TARGET,   /* capacity / fpr past 2^CKF_MAX_PREFIX */
	CKF_BAD_OPTION,   /* options text: unknown name, value or form */
	CKF_SEED_DIFFERS, /* filters with different seeds, which are to be merged or compared */
	CKF_OLD_ITEMS,    /* filters that are to be compared, one with CKF_ITEM_OLD and one with
					   * CKF_ITEM_OTHER, whose hashes were others then */
	CKF_UNLIKE_SIZES, /* filters that are to be compared, one so coarse beside the other's items
					   * that the standard error of their overlap passes the smaller one's
					   * items */
	CKF_IS_SET,       /* a removal from a set */
	CKF_PRECISION     /* the prefix has no more bits to give: too many items
					   * for the filter's capacity and target rate */
} ckf_status;

typedef enum ckf_encoding
{
	CKF_HASHES = 0,
	CKF_SEMI_SORTED = 1,
	CKF_PLAIN = 2
} ckf_encoding;

/* ---------------------------------------------------------------- hashing */

/*
 * Canonical hash of a value: XXH3_64bits_withSeed(bytes, seed + class).
 * Values that are equal in SQL hash equal.  Classes 1 to 4 have functions of
 * their own; a host brings the bytes of the others.
 */
typedef enum ckf_class
{
	CKF_CLASS_INTEGER = 1,
	CKF_CLASS_REAL = 2,
	CKF_CLASS_TEXT = 3,
	CKF_CLASS_BYTES = 4,
	CKF_CLASS_TIMESTAMP = 5,   /* int64 microseconds since 2000-01-01 00:00, no zone */
	CKF_CLASS_TIMESTAMPTZ = 6, /* int64 microseconds since 2000-01-01 00:00 UTC */
	CKF_CLASS_OTHER = 7        /* words: of a value that consists of others, their
								* hashes (ckf_shape); else the type's own hash */
} ckf_class;

/* The first word of a value of class 7 that consists of others; FORMAT.md,
 * section 6, says what follows it. */
typedef enum ckf_shape
{
	CKF_SHAPE_ARRAY = 1,
	CKF_SHAPE_RECORD = 2,
	CKF_SHAPE_RANGE = 3,
	CKF_SHAPE_MULTIRANGE = 4,
	CKF_SHAPE_JSON = 5, /* a JSON document that is neither array nor object */
	CKF_SHAPE_JSON_ARRAY = 6,
	CKF_SHAPE_JSON_OBJECT = 7,
	CKF_SHAPE_JSON_BOOLEAN = 8,
	CKF_SHAPE_FOLDED = 9 /* text without regard to case */
} ckf_shape;

/*
 * Of which classes the items were that a filter has: bits of ckf_filter.item_classes,
 * so that a host can tell a question of the wrong type.  They only ever come to it;
 * all go with the last item.
 */
typedef enum ckf_item_class
{
	CKF_ITEM_NUMBER = 1, /* an integer or a real: a numeric column has both */
	CKF_ITEM_TEXT = 2,
	CKF_ITEM_BYTES = 4,
	CKF_ITEM_TIMESTAMP = 8,
	CKF_ITEM_TIMESTAMPTZ = 16,
	CKF_ITEM_OTHER = 32,
	CKF_ITEM_HASH = 64, /* a hash that the caller brought, of whatever class */
	CKF_ITEM_OLD = 128  /* items from version 1 of the format, which did not tell their
						 * classes, and whose CKF_CLASS_OTHER hashed otherwise; only
						 * together with CKF_ITEM_HASH */
} ckf_item_class;

/* The bit of a class. */
static inline unsigned
ckf_item_class_of(ckf_class cls)
{
	return cls <= CKF_CLASS_REAL ? CKF_ITEM_NUMBER : 1U << (cls - CKF_CLASS_REAL);
}

/* Hash of an integer (class 1).  Inline, in value/hashing.h. */
static inline uint64_t ckf_hash_integer(int64_t value, uint64_t seed);

/* Hash of a double: class 1 where its value is an integer in int64 (-0.0 is
 * 0), else class 2, with one NaN. */
uint64_t ckf_hash_real(double value, uint64_t seed);

/* Hash of `size` bytes under a class; for CKF_CLASS_TEXT they are UTF-8. */
uint64_t ckf_hash_bytes(ckf_class cls, const void *bytes, size_t size, uint64_t seed);

/* Hash of an int64 under a class (5, 6, 7): its 8 bytes, little-endian.
 * Inline, in value/hashing.h. */
static inline uint64_t ckf_hash_word(ckf_class cls, uint64_t word, uint64_t seed);

/* Hash of `n` words under class 7, each as 8 bytes, little-endian, which they
 * become where they are.  Of no words: what stands for a NULL element. */
uint64_t ckf_hash_words(uint64_t *words, size_t n, uint64_t seed);

/* Hash of a record of two columns, from the hashes of both under the same seed: of an
 * item with a value.  Its class is CKF_ITEM_OTHER. */
uint64_t ckf_hash_pair(uint64_t item, uint64_t value, uint64_t seed);

/* ------------------------------------------------------------- parameters */

/* What a filter is created with. */
typedef struct ckf_params
{
	int64_t capacity;    /* distinct items up to which fpr holds; 0, for
						  * ckf_create_state only: as many as come */
	double fpr;          /* target false positive rate, inside (0, 1) */
	uint64_t seed;       /* of the items' hashes; the filter only carries it */
	bool set;            /* a set stores one copy and removes nothing */
	bool plain;          /* layout: plain, else semi-sorted where b = 4 */
	uint8_t bucket_size; /* b: 2, 4 or 8 slots */
} ckf_params;

/* Capacity 0, fpr CKF_DEFAULT_FPR, seed 0, deletable, semi-sorted, b = 4. */
void ckf_params_default(ckf_params *params);

/*
 * Read an options text, "name=value, name=value" (blanks around names and
 * values are skipped, an empty text is allowed, each name comes once), over what params holds:
 *   kind = deletable | set
 *   bucket_size = 2 | 4 | 8
 *   layout = semi_sorted | plain       semi_sorted needs bucket_size 4
 *   seed = <64-bit integer, signed or unsigned>
 * CKF_BAD_OPTION: *bad and *bad_size are the part of the text at fault.
 */
ckf_status ckf_params_parse(ckf_params *params, const char *text, size_t size, const char **bad,
							size_t *bad_size);

/* ---------------------------------------------------------------- filters */

/* What it takes to get rho back from a bucket and a tag: the engine's own. */
typedef struct ckf_inverse
{
	uint64_t quotient, remainder; /* of 2^W / m */
	uint64_t reciprocal;          /* ceil(2^47 / m), and so never 0 where it is filled */
	uint64_t golden_inverse;      /* C * this = 1 mod 2^64 */
	uint64_t rho_mask;            /* 2^W - 1 */
} ckf_inverse;

/*
 * An opened filter: its bytes, and the geometry read from them.  It is plain data
 * on the caller's stack.  The members after `capacity` are the engine's own, kept
 * so that no call computes them again; `operations` makes them worthless to
 * another process.
 */
typedef struct ckf_filter
{
	uint8_t *bytes;
	size_t size;    /* bytes of the filter; changes as ckf_add works */
	size_t room;    /* bytes of the buffer; ckf_open sets it to size, a caller
					 * with a larger buffer may raise it */
	uint64_t count; /* copies stored */
	uint64_t seed;
	double fpr;
	int64_t capacity;
	uint8_t encoding; /* ckf_encoding */
	uint8_t flags;
	uint8_t b, f, w, g, c; /* slots a bucket; bits of tag, prefix, segment number; c */
	uint8_t item_classes;  /* bits of ckf_item_class; 0 where there are no items */
	uint8_t format;        /* version of the format that the bytes are in */
	uint8_t rho_bits;      /* W = w - g: bits of rho */
	uint8_t chunk;         /* slots that one load has: b, or a part of it */
	uint8_t prefix_shift;  /* 64 - w */
	uint8_t rho_shift;     /* 64 - W */
	bool once;             /* one copy of a prefix is enough */
	uint32_t m;            /* buckets in a segment's half */
	uint32_t bucket_bits;  /* bits of a bucket */
	uint32_t bucket_step;  /* a bucket, in what places count: bits or bytes */
	uint64_t half_bits;    /* bits of a half: m buckets */
	uint64_t half_step;    /* a half, in what places count */
	uint64_t segment_step; /* two halves, in what places count */
	uint64_t tag_mask;     /* 2^f - 1 */
	uint64_t low_mask;     /* 2^c - 1 */
	uint64_t golden;       /* C */
	uint64_t lanes;        /* the lowest bit of each slot */
	uint64_t tops;         /* the highest bit of each slot */
	uint64_t nibble_mask;  /* semi-sorted: where lanes have a tag's low nibble */
	uint64_t upper_mask;   /* and where they have its upper bits */
	uint64_t max_count;    /* with so many copies the rate has reached its limit */
	uint64_t full_count;   /* with so many, adds ask for growth where they would kick */
	ckf_inverse inverse;   /* filled when a kick first needs it */
	/* how items are found and changed (filter/operations.h) */
	const struct ckf_operations *operations;
} ckf_filter;

/* How much to trust the bytes that are opened. */
typedef enum ckf_trust
{
	CKF_FOREIGN, /* from outside: every field, and every slot (ckf_check_step) */
	CKF_STORED,  /* from the database: every field; cost does not grow with size, and
				  * bytes behind the header are not read: it may be all there is */
	CKF_STATE    /* the state of an aggregate over items: as CKF_STORED checks, but ckf_add
				  * of a hash that is there changes nothing */
} ckf_trust;

/* Bytes of a new empty filter: CKF_HEADER_SIZE.  Writes it at dst.
 * CKF_BAD_CAPACITY, CKF_BAD_FPR, CKF_BAD_TARGET, CKF_BAD_OPTION (bucket size
 * and layout do not fit). */
ckf_status ckf_create(const ckf_params *params, void *dst);

/* The same for the state of an aggregate over items, an empty filter like any other: where
 * params->capacity is 0, its capacity is 1. */
ckf_status ckf_create_state(const ckf_params *params, void *dst);

/*
 * How many bytes the filter will have that an aggregate makes of params->capacity distinct
 * items.  The number is right if the first table that is built holds the items, as nearly
 * every one does.  A second table is 2 % larger, and of few items 10 %.  Rates above 0.05
 * make such short tags that several tables may fail, and the filter may be half as large
 * again.
 * CKF_BAD_CAPACITY, CKF_BAD_FPR, CKF_BAD_OPTION.
 */
ckf_status ckf_planned_bytes(const ckf_params *params, uint64_t *bytes);

/*
 * Open `size` bytes, which is to validate them; the only door.  The bytes
 * must stay where they are while the filter is used, and are not written
 * unless ckf_add, ckf_remove or ckf_merge_few is called.
 * CKF_BAD_BYTES, CKF_BAD_VERSION, CKF_UNFINISHED (not with CKF_FOREIGN, to which it is
 * CKF_BAD_BYTES).
 */
ckf_status ckf_open(ckf_filter *filter, const void *bytes, size_t size, ckf_trust trust);

/*
 * The same in a fraction of the time, for the states of many groups in turn: *filter is open on
 * sorted hashes, and these bytes have the same header but for the count. The caller has compared
 * them. CKF_BAD_BYTES if the count does not fit the size or *filter is not in sorted hashes:
 * *filter is unchanged then, and ckf_open says what the bytes are.
 */
ckf_status ckf_open_like(ckf_filter *filter, const void *bytes, size_t size);

/*
 * What CKF_FOREIGN checks beyond CKF_STORED, in steps of a few milliseconds, so
 * that a host can look for interrupts.  *check is zero at the start.
 * CKF_OK, CKF_MORE: call again, CKF_BAD_BYTES.
 */
typedef struct ckf_check
{
	uint64_t next;  /* what is checked next */
	uint64_t count; /* copies found so far */
} ckf_check;

ckf_status ckf_check_step(const ckf_filter *filter, ckf_check *check);

/*
 * May an item of this class be in, by what the filter knows of its items?  The empty
 * filter, which may get any, says true; so does one with CKF_ITEM_HASH, but for
 * CKF_ITEM_OTHER beside CKF_ITEM_OLD: such an item would be denied though it is in.
 * Hashes that the caller brings may always be asked for.
 */
static inline bool
ckf_may_hold(const ckf_filter *filter, unsigned item_class)
{
	unsigned classes = filter->item_classes;

	if ((classes & CKF_ITEM_OLD) && (item_class & CKF_ITEM_OTHER))
		return false;
	return classes == 0 || (classes & (item_class | CKF_ITEM_HASH));
}

/* Is it in?  false: certainly not.  (Paper, Algorithm 2.) */
bool ckf_contains(const ckf_filter *filter, uint64_t hash);

/* The same for n hashes at once, with the memory fetched ahead: out[i] is 1
 * or 0 (out may be NULL).  Returns how many are in. */
size_t ckf_contains_many(const ckf_filter *filter, const uint64_t *hashes, size_t n, uint8_t *out);

/* Copies stored of the hash's prefix: 0 .. 2 b. */
unsigned ckf_copies(const ckf_filter *filter, uint64_t hash);

/*
 * A question to a filter that lies elsewhere, of which the host has opened only the
 * header (ckf_open with CKF_STORED and the size of the whole): the question says
 * which bytes it needs next, and answers from those.
 *
 *     status = ckf_question_start(&question, header, hash, false);
 *     while (status == CKF_MORE)
 *     {
 *         bytes = question.size bytes of the filter, from question.from on
 *         status = ckf_question_step(&question, header, bytes, question.size);
 *     }
 *     if (status == CKF_OK)    question.copies is the answer
 *
 * A table costs at most two steps, one for each bucket of the hash.  Sorted hashes
 * are searched by interpolation: two steps as a rule, if the hashes are good, and
 * a few dozen at most.  The question keeps no pointer; many of them may be under way,
 * and be stepped in any order.  It is of use to a host that can read a part of a
 * stored value, as PostgreSQL can; SQLite hands a function its argument whole.
 */
typedef struct ckf_question
{
	uint64_t from;   /* CKF_MORE: first of the bytes that are needed, the header's first being 0 */
	uint32_t size;   /* and how many: 1 .. CKF_QUESTION_BYTES, none of them outside the filter */
	uint32_t copies; /* CKF_OK: copies stored; without all_copies 0, or at least 1 */
	/* the engine's own: */
	uint64_t hash;
	uint64_t low, high;    /* of sorted hashes: between which the first one >= hash is, */
	uint64_t below, above; /* and what those beside them are */
	uint8_t steps;         /* taken */
	bool all_copies;
	bool counting; /* of sorted hashes: the first one is found */
} ckf_question;

#define CKF_QUESTION_BYTES 2048

/* Begin to ask: for all copies, as ckf_copies, or only whether there is one, as
 * ckf_contains, which may need fewer bytes.  CKF_MORE, CKF_OK. */
ckf_status ckf_question_start(ckf_question *question, const ckf_filter *header, uint64_t hash,
							  bool all_copies);

/* Go on with the bytes that were needed.  CKF_MORE, CKF_OK, CKF_BAD_BYTES (fewer
 * bytes came than that). */
ckf_status ckf_question_step(ckf_question *question, const ckf_filter *header, const void *bytes,
							 size_t size);

/*
 * Store one copy, in place; filter->size, ->count and the bytes change.  A
 * set that has it already, and a group of 2 b copies (saturated), stay as
 * they are.  (Paper, Algorithm 1; sections 3 and 4.)  item_classes, one bit at
 * least, is remembered in any of these cases.
 * CKF_ROOM: run a CKF_GROW rebuild and add to its result.
 * CKF_PRECISION: the filter is as full as its prefix allows.
 */
ckf_status ckf_add(ckf_filter *filter, uint64_t hash, unsigned item_classes);

/*
 * Take one copy away, in place; *found tells whether there was one (false for
 * a saturated group too, which stays).  Only what was added may be removed.
 * A filter in hashes gets shorter: mind filter->size.  (Paper, Algorithm 3.)
 * CKF_IS_SET.
 */
ckf_status ckf_remove(ckf_filter *filter, uint64_t hash, bool *found);

/* Copies stored. */
uint64_t ckf_items(const ckf_filter *filter);

/* The false positive rate to expect now. */
double ckf_fpr(const ckf_filter *filter);

/* What ckf_info tells. */
typedef struct ckf_info
{
	uint64_t count; /* copies stored */
	int64_t capacity;
	double target_fpr;
	double fpr;
	uint64_t bytes;
	double bits_per_item; /* 8 * bytes / count; 0 where count is 0 */
	double load_factor;   /* occupied slots / slots; 1 where there is no table */
	const char *encoding; /* hashes | table */
	const char *layout;   /* semi_sorted | plain: of the table it is or will be */
	const char *kind;     /* deletable | set */
	int bucket_size;
	int fingerprint_bits; /* f; 0 where there is no table */
	int prefix_bits;      /* w; 64 in hashes */
	uint64_t segments;    /* 2^g; 0 where there is no table */
	uint64_t seed;
	int format_version;          /* of the bytes */
	const char *item_classes[8]; /* names of CKF_ITEM_NUMBER .. CKF_ITEM_HASH, without those
								  * that never came, NULL behind the last; an old filter
								  * has hash */
} ckf_info;

void ckf_get_info(const ckf_filter *filter, ckf_info *info);

/* ------------------------------------------ rebuild: items move and merge */

/*
 * Everything that moves or merges items is one operation: read one or more filters in
 * ascending order, and build another filter of their items.  It works in steps of a few
 * milliseconds, so that a host can look for interrupts:
 *
 *     ckf_buffers buffers = {0};
 *     ckf_rebuild *rebuild = malloc(CKF_REBUILD_SIZE(2));
 *     status = ckf_rebuild_start(rebuild, goal, &a, &b);
 *     if (status == CKF_OK)
 *         while ((status = ckf_rebuild_step(rebuild, &buffers)) != CKF_OK)
 *             if (status == CKF_ROOM)      replace each buffer that is too small
 *             else if (status == CKF_MORE) look for interrupts
 *             else                         fail with status
 *
 * At CKF_OK buffers.dst holds the result, buffers.dst_size bytes.  (There may be
 * more room behind it, as growth leaves it behind hashes: for filter->room.)
 * The inputs and their bytes must stay as they are until the end.  An input may be
 * the filter of a collector (see below).
 */
typedef enum ckf_goal
{
	CKF_GROW,         /* a with room for about half as many items more */
	CKF_COMPACT,      /* a in the fewest bytes */
	CKF_UNION,        /* a and b as a set */
	CKF_SUM,          /* a and b, copies added up; deletable if both are */
	CKF_INTERSECT,    /* a set of what a and b have in common; b is NULL where a is the
					   * only filter (or so far): a as a set */
	CKF_COMPARE,      /* builds nothing: ckf_rebuild_comparison tells what a and b have
					   * in common */
	CKF_ADD_MANY,     /* a and one copy more of each hash in b, a collector's filter */
	CKF_REMOVE_MANY,  /* a and a copy less of each hash in b, a collector's, that has one */
	CKF_FINISH,       /* the filter of an aggregate over items, from its state a, a filter
					   * or a collector's */
	CKF_FINISH_FED,   /* the same of chunks: for ckf_export_start alone */
	CKF_MERGE_UNION,  /* any number of filters as CKF_UNION, for an aggregate that goes on:
					   * whole hashes stay hashes, however many, and how full a table is
					   * does not matter */
	CKF_MERGE_SUM,    /* the same as CKF_SUM */
	CKF_FINISH_UNION, /* the filter of union_agg, from any number of filters */
	CKF_FINISH_SUM    /* the same of sum_agg */
} ckf_goal;

/* A rebuild under way: CKF_REBUILD_SIZE(inputs) bytes from an allocator, aligned to 8. */
typedef struct ckf_rebuild ckf_rebuild;
#define CKF_MOST_INPUTS 16
#define CKF_REBUILD_SIZE(inputs) (1536 + 512 * (inputs))

/*
 * The host's memory for a rebuild.  At CKF_ROOM the host gives a new buffer of
 * the size that is asked for in place of each that has less; the other one stays,
 * since its contents matter.
 */
typedef struct ckf_buffers
{
	void *dst; /* becomes the result */
	size_t dst_room;
	void *scratch; /* aligned to 8 bytes */
	size_t scratch_room;
	size_t dst_size;     /* CKF_ROOM: what dst must have.  CKF_OK: the result's bytes;
						  * 0 after CKF_COMPARE */
	size_t scratch_size; /* CKF_ROOM: what scratch must have */
} ckf_buffers;

/* b is NULL for goals of one filter.
 * CKF_OK, CKF_SEED_DIFFERS (never with an empty input), CKF_OLD_ITEMS (of CKF_INTERSECT
 * and CKF_COMPARE), CKF_IS_SET (of CKF_REMOVE_MANY), CKF_PRECISION. */
ckf_status ckf_rebuild_start(ckf_rebuild *rebuild, ckf_goal goal, const ckf_filter *a,
							 const ckf_filter *b);

/* The same of 1 .. CKF_MOST_INPUTS filters, for CKF_MERGE_* and CKF_FINISH_*.  `in` itself
 * need not stay. */
ckf_status ckf_rebuild_start_many(ckf_rebuild *rebuild, ckf_goal goal, const ckf_filter *const *in,
								  unsigned inputs);

/* CKF_OK, CKF_MORE, CKF_ROOM, CKF_PRECISION, CKF_BAD_BYTES (damaged input). */
ckf_status ckf_rebuild_step(ckf_rebuild *rebuild, ckf_buffers *buffers);

/* Why there is no precision left for the result of a rebuild. */
typedef enum ckf_cause
{
	CKF_FULL,          /* a filter has grown as far as its capacity and rate allow */
	CKF_COARSE,        /* a merge: an input is too coarse for the items of all */
	CKF_CROWDED,       /* copies of the same items crowd so that no table can place them */
	CKF_CROWDED_HASHES /* in a set, which has no copies: hashes do */
} ckf_cause;

typedef struct ckf_refusal
{
	ckf_cause cause;
	uint64_t items;   /* copies that the result would have; COARSE: that the two inputs have */
	double fpr;       /* the rate that it would have, */
	double limit;     /* and that at which growth stops */
	int input;        /* COARSE: which of two inputs, 0 or 1; -1: an aggregate has merged it */
	int64_t capacity; /* COARSE: up to which its precision keeps the target rate */
} ckf_refusal;

/* After CKF_PRECISION of a rebuild's start or step, while its inputs are there. */
void ckf_rebuild_refusal(const ckf_rebuild *rebuild, ckf_refusal *refusal);

/* What two filters have in common.  Estimates where one of them is a table, with the
 * matches that chance makes taken off (FORMAT.md, section 8); exact where both are hashes.
 * Items count once, however many copies there are. */
typedef struct ckf_comparison
{
	double overlap;   /* distinct items in both: from 0 to those of the smaller one; of a deletable
					   * filter, never more than it counts */
	double jaccard;   /* overlap / distinct items in any of them: 0 .. 1; 0 where both are empty */
	double error;     /* the standard error of the overlap: at most; 0 where it is exact */
	bool empty;       /* both are */
	int coarse;       /* CKF_UNLIKE_SIZES: which input is too coarse, 0 or 1, */
	int64_t capacity; /* and the capacity that both must be built with to be compared */
} ckf_comparison;

/* After CKF_OK of the last step of CKF_COMPARE, while its inputs are there.  CKF_OK;
 * CKF_UNLIKE_SIZES: overlap and jaccard are 0, for nothing is known of them. */
ckf_status ckf_rebuild_comparison(const ckf_rebuild *rebuild, ckf_comparison *comparison);

/* Are n items so few, beside those of the filter, that adding or removing each
 * by itself costs less than a rebuild? */
bool ckf_few(const ckf_filter *filter, uint64_t n);

/* ------------------------------------------------------ collecting hashes */

/*
 * A collector takes hashes in any order and hands them to a rebuild in ascending order:
 * the items of a large aggregate, or a batch that is added or removed.  It keeps them in
 * blocks of the host's memory.  A block that is full is sorted, and becomes a run; runs of
 * similar size are merged.  Where each hash counts once, repeated ones are dropped on the
 * way, so that the runs have at most about twice the distinct hashes, however often they
 * come.
 *
 *     ckf_collector collector;                 stays where it is
 *     ckf_collect_start(&collector, &filter, 1);
 *     for each hash
 *         while (!ckf_collect(&collector, hash, item_class))
 *             make room: as below
 *     ckf_collect_settle(&collector);
 *     make room: as below
 *     ckf_rebuild_start(rebuild, CKF_FINISH, &collector.filter, NULL) ..
 *
 * To make room:
 *
 *     while ((status = ckf_collect_step(&collector)) != CKF_OK)
 *         if (status == CKF_ROOM)
 *             ckf_collect_give(&collector, malloc(collector.block_size), collector.block_size);
 *         else if (status == CKF_MORE)
 *             look for interrupts
 *     while ((block = ckf_collect_spent(&collector)) != NULL)
 *         free(block);
 *
 * In the end ckf_collect_end makes all blocks spent.
 */
typedef struct ckf_block ckf_block;

/* Sorted hashes in a chain of blocks. */
typedef struct ckf_run
{
	ckf_block *first;
	uint64_t count;
} ckf_run;

#define CKF_MOST_RUNS 40

typedef struct ckf_collector
{
	ckf_filter filter;    /* what the filter promises as which these hashes may leave; an
						   * input of a rebuild, once the collector has settled */
	uint64_t *next, *end; /* the free places of the block that is filled */
	size_t block_size;    /* CKF_ROOM: bytes of the block that is asked for */
	/* the engine's own: */
	unsigned most;       /* copies of a hash that are kept */
	bool settling;       /* until all is one run */
	ckf_block *block;    /* that is filled, or NULL */
	ckf_block *spare[2]; /* blocks to fill next, or NULL */
	ckf_block *spent;    /* the first of those that the host may free */
	ckf_run run[CKF_MOST_RUNS];
	unsigned runs;
	ckf_run merged;       /* of the last two runs, while they are merged, */
	ckf_block *last;      /* its last block, */
	size_t from[2];       /* and how far their first blocks were read */
	const ckf_filter *in; /* hashes that are taken in as a run, or NULL, */
	uint64_t taken;       /* and how many were */
} ckf_collector;

/*
 * The state of an aggregate with one hash has it twice, if its filter is deletable: the end of the
 * aggregate drops repeated hashes. So a host that copies a new state into a chunk of its exact size
 * has room for some more: in PostgreSQL 68 bytes make a chunk of 128, and 60 bytes one of 64, which
 * would be copied again at the second hash. ckf_double makes a state of one hash so, ckf_single
 * undoes it before the next hash is added.
 */
void ckf_double(ckf_filter *state);
ckf_filter *ckf_single(ckf_filter *state);

/*
 * Begin with no hashes.  The collector's filter promises what `filter`, any filter, does;
 * its items are not taken.  Of equal hashes `most` copies are kept, 1 .. 16; a few more may
 * be, if it is not 1.
 */
void ckf_collect_start(ckf_collector *collector, const ckf_filter *filter, unsigned most);

/* Take the hash of an item of this class.  false: make room, then again. */
static inline bool
ckf_collect(ckf_collector *collector, uint64_t hash, unsigned item_class)
{
	if (collector->next == collector->end)
		return false;
	*collector->next++ = hash | (hash == 0);
	collector->filter.item_classes |= (uint8_t)item_class;
	return true;
}

/*
 * Take the items of a filter in hashes, and promise what a sum of both would: make room,
 * until which its bytes must stay.  Only a collector that has room made may take one.
 * CKF_OK, CKF_SEED_DIFFERS.
 */
ckf_status ckf_collect_filter(ckf_collector *collector, const ckf_filter *in);

/* From now on to make room is to sort all hashes into one run.  The next hash ends that. */
void ckf_collect_settle(ckf_collector *collector);

/* A step of making room.  CKF_OK: it is made; CKF_MORE; CKF_ROOM: give it a block.
 * CKF_BAD_BYTES: the filter that is taken in is damaged. */
ckf_status ckf_collect_step(ckf_collector *collector);

/* Give it a block of at least block_size bytes, aligned to 8. */
void ckf_collect_give(ckf_collector *collector, void *block, size_t bytes);

/* A block that it needs no longer; NULL: there is none. */
void *ckf_collect_spent(ckf_collector *collector);

/* Of a collector that has settled: its hashes from the one with this number on, sorted; how
 * many of them stand side by side there is in *n, 0 behind the last. */
const uint64_t *ckf_collected(const ckf_collector *collector, uint64_t from, size_t *n);

/* The end: all its blocks are spent. */
void ckf_collect_end(ckf_collector *collector);

/* Sort n hashes that a host has in an array.  scratch is as large; the result is in one of the
 * two, which is returned. */
uint64_t *ckf_sort_hashes(uint64_t *hashes, uint64_t *scratch, size_t n);

/* ------------------------------------------------------------- aggregates */

/*
 * The state of a running aggregate is a filter like any other.  Over items it is a filter in
 * hashes, each once, in a buffer with some room behind it: open it with CKF_STATE, ckf_add
 * hashes to it, and where it gets large, go on with a collector.  Of union_agg and sum_agg it
 * is one filter, or a few of unlike size, of which those that are of similar size become one
 * (CKF_MERGE_*).
 */

/*
 * Merge a small filter into another one in its place, if both are in hashes and the room
 * behind the first one suffices: goal is CKF_MERGE_UNION, CKF_MERGE_SUM or CKF_FINISH, which
 * stands for an aggregate over items.  CKF_ROOM: it is not that easy, and nothing has
 * changed; CKF_SEED_DIFFERS.
 */
ckf_status ckf_merge_few(ckf_filter *filter, const ckf_filter *in, ckf_goal goal);

/* May a filter come to the parts of a merge?  CKF_OK, CKF_SEED_DIFFERS. */
ckf_status ckf_merge_check(const ckf_filter *const *parts, unsigned n, const ckf_filter *in);

/* Parts of a merge, in the order in which they came: how many of the last ones should become one
 * before another one comes, if they can?  0: none.  There must be fewer than CKF_MOST_INPUTS
 * then. */
unsigned ckf_merge_due(const ckf_filter *const *parts, unsigned n);

#include "value/hashing.h"

#endif
