/*
 * hashing.h - the hash of a word, inline: what XXH3 computes of the seed alone then
 * stays in registers while a loop hashes many integers.  Included by
 * cuckoofilter.h.
 */
#ifndef CKF_HASHING_H
#define CKF_HASHING_H

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8.0 or later is needed: XXH3 changed before"
#endif

static inline uint64_t
ckf_hash_word(ckf_class cls, uint64_t word, uint64_t seed)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return XXH3_64bits_withSeed(&word, sizeof word, seed + (uint64_t)cls);
}

static inline uint64_t
ckf_hash_integer(int64_t value, uint64_t seed)
{
	return ckf_hash_word(CKF_CLASS_INTEGER, (uint64_t)value, seed);
}

#endif
