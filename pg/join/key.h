/*
 * key.h - join keys to hashes.
 */
#ifndef CKFP_JOIN_KEY_H
#define CKFP_JOIN_KEY_H

#include "join.h"

#include "item/item.h"

#pragma GCC visibility push(hidden)

typedef enum ckfp_key_way
{
	CKFP_KEY_INT2,
	CKFP_KEY_INT4,
	CKFP_KEY_INT8,
	CKFP_KEY_ITEM,    /* as an item of a filter is hashed */
	CKFP_KEY_FUNCTION /* by the join's own hash function */
} ckfp_key_way;

/* How one side of a key column is hashed. */
typedef struct ckfp_key
{
	ckfp_key_way way;
	ckfp_hasher hasher;
	FmgrInfo function;
	Oid collation;
} ckfp_key;

/* Do both sides of a key column have the hash of items? */
bool ckfp_key_is_item(const ckfp_join_column *column);

/* Both sides of a key column, so that what the join calls equal hashes equal.
 * Memory comes from `context`. */
void ckfp_key_prepare(const ckfp_join_column *column, ckfp_key *build, ckfp_key *probe,
					  MemoryContext context);

/* Hashes of this way may leave memory behind. */
static inline bool
ckfp_key_allocates(const ckfp_key *key)
{
	return key->way >= CKFP_KEY_ITEM;
}

/* The hash of a value. */
static inline uint64
ckfp_key_hash(ckfp_key *key, Datum value)
{
	switch (key->way)
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

/* The hash of a key of several columns, one more at a time. */
static inline uint64
ckfp_key_combine(uint64 hash, uint64 next)
{
	return hash * UINT64CONST(0x9e3779b97f4a7c15) + next;
}

#pragma GCC visibility pop

#endif
