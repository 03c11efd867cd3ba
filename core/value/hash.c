/*
 * hash.c - canonical hashes of values (FORMAT.md, section 6).
 */
#include "cuckoofilter.h"

#include <string.h>

/* 2^63.  A double that is an integer fits int64 from -2^63 on, and below 2^63. */
#define CKF_TWO_63 9223372036854775808.0

#define CKF_ONE_NAN UINT64_C(0x7FF8000000000000)

uint64_t
ckf_hash_bytes(ckf_class cls, const void *bytes, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, size, seed + (uint64_t)cls);
}

uint64_t
ckf_hash_real(double value, uint64_t seed)
{
	uint64_t bits;

	if (value >= -CKF_TWO_63 && value < CKF_TWO_63 && (double)(int64_t)value == value)
		return ckf_hash_integer((int64_t)value, seed);
	if (value != value)
		bits = CKF_ONE_NAN;
	else
		memcpy(&bits, &value, sizeof bits);
	return ckf_hash_word(CKF_CLASS_REAL, bits, seed);
}

uint64_t
ckf_hash_words(uint64_t *words, size_t n, uint64_t seed)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (size_t i = 0; i < n; i++)
		words[i] = __builtin_bswap64(words[i]);
#endif
	return ckf_hash_bytes(CKF_CLASS_OTHER, words, n * sizeof *words, seed);
}

uint64_t
ckf_hash_pair(uint64_t item, uint64_t value, uint64_t seed)
{
	uint64_t words[] = {CKF_SHAPE_RECORD, 2, item, value};

	return ckf_hash_words(words, 4, seed);
}

unsigned
ckf_decimal_class(ckf_hashes item)
{
	return ckf_is_decimal(item) ? (unsigned)CKF_ITEM_DECIMAL : 0;
}

ckf_hashes
ckf_hashes_of_pair(ckf_hashes item, ckf_hashes value, uint64_t seed)
{
	ckf_hashes pair;

	pair.hash = pair.rounded = ckf_hash_pair(item.hash, value.hash, seed);
	if (ckf_is_decimal(item) || ckf_is_decimal(value))
		pair.rounded = ckf_hash_pair(item.rounded, value.rounded, seed);
	return pair;
}

uint32_t
ckf_part(uint64_t hash, uint32_t parts)
{
	return (uint32_t)hash % parts;
}
