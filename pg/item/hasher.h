/*
 * hasher.h - how to hash items of one type. All files of this folder share it.
 */
#ifndef CKFP_HASHER_H
#define CKFP_HASHER_H

#include "host.h"

#pragma GCC visibility push(hidden)

/* How a Datum becomes a hash. */
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

#pragma GCC visibility pop

#endif
