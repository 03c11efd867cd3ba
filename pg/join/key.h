/*
 * key.h - join keys to hashes.
 */
#ifndef CKFP_JOIN_KEY_H
#define CKFP_JOIN_KEY_H

#include "join.h"

#include "item/item.h"

#pragma GCC visibility push(hidden)

typedef enum ckfp_key_method
{
	CKFP_KEY_INT2,
	CKFP_KEY_INT4,
	CKFP_KEY_INT8,
	CKFP_KEY_ITEM,    /* as items of a filter are hashed */
	CKFP_KEY_FUNCTION /* by the hash function of the join */
} ckfp_key_method;

/* How one side of a key column is hashed. */
typedef struct ckfp_key
{
	ckfp_key_method method;
	ckfp_hasher hasher;
	FmgrInfo function;
	Oid collation;
} ckfp_key;

/* Are both sides of a key column hashed as items? */
bool ckfp_key_is_item(const ckfp_join_column *column);

/* Prepare both sides of a key column, so that values that the join calls equal hash equal.
 * Memory comes from `context`. */
void ckfp_key_prepare(const ckfp_join_column *column, ckfp_key *build, ckfp_key *probe,
					  MemoryContext context);

/* Can hashing a key allocate memory? */
static inline bool
ckfp_key_allocates(const ckfp_key *key)
{
	return key->method >= CKFP_KEY_ITEM;
}

/* The hash of a value. */
static inline uint64
ckfp_key_hash(ckfp_key *key, Datum value)
{
	switch (key->method)
	{
		case CKFP_KEY_INT2:
			return ckf_hash_integer(DatumGetInt16(value), 0);
		case CKFP_KEY_INT4:
			return ckf_hash_integer(DatumGetInt32(value), 0);
		case CKFP_KEY_INT8:
			return ckf_hash_integer(DatumGetInt64(value), 0);
		case CKFP_KEY_ITEM:
			return ckfp_hash_item(&key->hasher, value, 0);
		case CKFP_KEY_FUNCTION:
			break;
	}
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

#pragma GCC visibility pop

#endif
