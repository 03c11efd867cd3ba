/*
 * key_hash.h - join keys to hashes.
 */
#ifndef CKFP_JOIN_KEY_HASH_H
#define CKFP_JOIN_KEY_HASH_H

#include "join/base/integers.h"

#include "executor/executor.h"
#include "item/item.h"

typedef enum ckfp_key_method
{
	CKFP_KEY_INT2 = sizeof(int16), /* those of integers are their lengths */
	CKFP_KEY_INT4 = sizeof(int32),
	CKFP_KEY_INT8 = sizeof(int64),
	CKFP_KEY_ITEM,    /* as items of a filter are hashed */
	CKFP_KEY_FUNCTION /* by the hash function of the join */
} ckfp_key_method;

/* How one side of a key column is hashed. */
typedef struct ckfp_key_hasher
{
	ckfp_key_method method;
	ckfp_hasher hasher;
	FmgrInfo function;
	Oid collation;
} ckfp_key_hasher;

/* A type whose built-in "=" agrees with the hash of items. */
typedef struct ckfp_item_type
{
	Oid type;
	ckfp_key_method method;
	bool string;
	const char *same; /* the types that a foreign column may have: the text of a value is the same
					   * item for this type and for those, with the same hash */
} ckfp_item_type;

/* NULL if a type is none. */
const ckfp_item_type *ckfp_item_type_of(Oid type);

/* Are both sides of a key column hashed as items? */
bool ckfp_key_is_item(const ckfp_join_column *column);

/* The length of the integers that a key column of the build side has, where equal keys are equal
 * integers; else 0. */
int16 ckfp_key_integer_length(const ckfp_join_column *column);

/* Prepare both sides of a key column, so that values that the join calls equal hash equal.
 * Memory comes from `context`. */
void ckfp_key_prepare(const ckfp_join_column *column, ckfp_key_hasher *build,
					  ckfp_key_hasher *probe, MemoryContext context);

/* Are the values integers? Then those of the other side are, too. Only hashing values that are no
 * integers may allocate memory. */
static inline bool
ckfp_key_is_integer(const ckfp_key_hasher *key)
{
	return key->method <= CKFP_KEY_INT8;
}

/* The hash of a value. */
static inline uint64
ckfp_key_hash(ckfp_key_hasher *key, Datum value)
{
	if (ckfp_key_is_integer(key))
		return ckf_hash_integer(ckfp_integer_of(value, (int16)key->method), 0);
	if (key->method == CKFP_KEY_ITEM)
		return ckfp_hash_item(&key->hasher, value, 0).hash;
	return ckf_hash_word(CKF_CLASS_OTHER,
						 DatumGetUInt32(FunctionCall1Coll(&key->function, key->collation, value)),
						 0);
}

/* Combine the hash of a key with that of its next column. */
static inline uint64
ckfp_key_combine(uint64 hash, uint64 next)
{
	return hash * UINT64CONST(0x9e3779b97f4a7c15) + next;
}

/* Where the rows of one side have the key of a filter. */
typedef struct ckfp_source
{
	int columns;
	ckfp_key_hasher *key;                  /* how each column is hashed */
	AttrNumber attribute[CKFP_JOIN_KEYS];  /* column number in the row; 0: use `expression` */
	ExprState *expression[CKFP_JOIN_KEYS]; /* computes the column if `attribute` is 0 */
} ckfp_source;

/* The key of a row, and its hash. False if one of its columns is NULL, since such a row joins no
 * other. */
static inline bool
ckfp_source_hash(const ckfp_source *source, TupleTableSlot *slot, ExprContext *econtext,
				 Datum *values, uint64 *hash)
{
	*hash = 0;
	for (int i = 0; i < source->columns; i++)
	{
		bool isnull;

		if (likely(source->attribute[i] != 0))
			values[i] = slot_getattr(slot, source->attribute[i], &isnull);
		else
			values[i] = ExecEvalExpr(source->expression[i], econtext, &isnull);
		if (isnull)
			return false;
		*hash = ckfp_key_combine(*hash, ckfp_key_hash(&source->key[i], values[i]));
	}
	return true;
}

#endif
