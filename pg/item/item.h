/*
 * item.h - SQL values to hashes. Only ckfp_hasher_prepare, ckfp_hash_item and
 * ckfp_require_deterministic are for others than the files of this folder.
 */
#ifndef CKFP_ITEM_H
#define CKFP_ITEM_H

#include "host.h"

#include "utils/date.h"

/* How a Datum becomes a hash. The order counts: numbers, text, bytes, timestamps, containers,
 * others (ckfp_item_class). */
typedef enum ckfp_kind
{
	CKFP_INT2 = 1,
	CKFP_INT4,
	CKFP_INT8,
	CKFP_BOOL,
	CKFP_OID,
	CKFP_FLOAT4,
	CKFP_FLOAT8,
	CKFP_NUMERIC,
	CKFP_TEXT,
	CKFP_BPCHAR,
	CKFP_NAME,
	CKFP_CHAR,
	CKFP_UNTYPED,
	CKFP_ENUM,
	CKFP_BYTEA,
	CKFP_UUID,
	CKFP_DATE,
	CKFP_TIMESTAMP,
	CKFP_TIMESTAMPTZ,
	CKFP_ARRAY,
	CKFP_RECORD,
	CKFP_RANGE,
	CKFP_MULTIRANGE,
	CKFP_JSONB,
	CKFP_CITEXT,
	CKFP_OTHER
} ckfp_kind;

struct ckfp_label;
struct ckfp_container;

/* How to hash items of one type. All zeros before the first ckfp_hasher_prepare. */
typedef struct ckfp_hasher
{
	Oid type;
	ckfp_kind kind;
	uint8 item_class; /* the ckf_item_class of these items */
	Oid collation;
	bool own_equality;                /* the collation of the text calls different bytes equal */
	FmgrInfo *function;               /* CKFP_OTHER: the type's extended hash */
	struct ckfp_label *labels;        /* CKFP_ENUM: hashes of recently used labels */
	uint64 label_changes;             /* the value of ckfp_label_changes for `labels` */
	struct ckfp_container *container; /* arrays, records, ranges: the description of the type */
	MemoryContext inner;              /* of the container; NULL before the first one */
	MemoryContext context;
} ckfp_hasher;

/* Prepare *hasher for items of a type under a collation. Memory that it needs comes from
 * `context`. This is cheap if it is prepared for them already. */
void ckfp_hasher_prepare(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context);

/* The hashes of an item. */
ckf_hashes ckfp_hash_item(ckfp_hasher *hasher, Datum item, uint64 seed);

/* The hashes of an item of which there is no older one. */
static inline ckf_hashes
ckfp_hashes_of(uint64 hash)
{
	return (ckf_hashes){hash, hash};
}

/* ------------------------------------------------------------------------------- container.c */

/* The kind of a container type; 0 for any other type. */
ckfp_kind ckfp_kind_of_container(Oid type);

/* How to hash the parts of a container, which are items of any type: ckfp_hasher_prepare and
 * ckfp_hash_item. hash.c, which calls container.c, passes them, so that container.c does not depend
 * on hash.c. */
typedef struct ckfp_element_methods
{
	void (*prepare)(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context);
	ckf_hashes (*hash)(ckfp_hasher *hasher, Datum item, uint64 seed);
} ckfp_element_methods;

/* Create the description of a container type for a hasher. Its memory comes from `context`. */
struct ckfp_container *ckfp_new_container(ckfp_kind kind, Oid type, Oid collation,
										  const ckfp_element_methods *parts, MemoryContext context);

/* The hash of a container. */
ckf_hashes ckfp_hash_container(const ckfp_hasher *hasher, Datum item, uint64 seed);

/* ------------------------------------------------------------------------------------ json.c */

/* The hash of a jsonb. */
ckf_hashes ckfp_hash_json(Datum item, uint64 seed);

/* ----------------------------------------------------------------------------------- label.c */

/* The hash of an enum value, which is the hash of its label as text. */
uint64 ckfp_hash_enum(ckfp_hasher *hasher, Oid oid, uint64 seed);

/* ---------------------------------------------------------------------------------- number.c */

/* The hash of a numeric: as an integer if it is one that fits in int64, else as the nearest
 * double. */
ckf_hashes ckfp_hash_numeric(Datum item, uint64 seed);

/* The hash of a date, which is the hash of its midnight as a timestamp. For a date outside the
 * range of timestamps the midnight wraps around; no other date has the wrapped value. */
uint64 ckfp_hash_date(DateADT date, uint64 seed);

/* --------------------------------------------------------------------------------- strings.c */

/* Raise an error if a collation, of text in a row or a pair, is nondeterministic. Such a column has
 * the collation of the expression that is there when the query is executed, which can be another
 * one than that of the query; all deterministic collations have the same hashes. */
void ckfp_require_deterministic(Oid collation);

/* The hash of a string under the collation of the hasher: of its bytes in UTF-8, unless the
 * collation is nondeterministic. */
uint64 ckfp_hash_string(const ckfp_hasher *hasher, const char *bytes, int size, uint64 seed);

/* The hash of a text, varchar, char(n) or bytea. */
uint64 ckfp_hash_varlena(const ckfp_hasher *hasher, Datum item, uint64 seed);

/* The hash of a citext. Two citexts are equal if their lowercase forms under the default
 * collation of the database are equal. */
uint64 ckfp_hash_citext(Datum item, uint64 seed);

/* The hash of a "char": the hash of the text that it casts to. */
uint64 ckfp_hash_char(Datum item, uint64 seed);

/* ------------------------------------------------------------------------------------ utf8.c */

/* The hash of a string, which is the hash of its bytes in UTF-8. If UTF-8 lacks one of its
 * characters, it is the hash of its bytes in the database encoding. */
uint64 ckfp_hash_text(const char *bytes, int size, uint64 seed);

#endif
