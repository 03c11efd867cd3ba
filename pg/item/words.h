/*
 * words.h - the sequence of words by which a container is hashed (FORMAT.md, section 6, class 7).
 */
#ifndef CKFP_WORDS_H
#define CKFP_WORDS_H

#include "host.h"

typedef struct ckfp_words
{
	uint64 *words;
	uint64 *rounded; /* the same with older hashes, if one of the parts has another one; or NULL */
	size_t n, max;
	uint64 seed;
	uint64 buffer[32]; /* used if no more words are expected */
} ckfp_words;

/* Begin a sequence of at most `max` words. The first word is the shape. */
static inline void
ckfp_words_begin(ckfp_words *words, ckf_shape shape, size_t max, uint64 seed)
{
	words->words = max <= lengthof(words->buffer)
					   ? words->buffer
					   : MemoryContextAllocHuge(CurrentMemoryContext, max * sizeof(uint64));
	words->words[0] = shape;
	words->rounded = NULL;
	words->n = 1;
	words->max = max;
	words->seed = seed;
}

/* Append the hashes of a part. */
static inline void
ckfp_words_put_element(ckfp_words *words, ckf_hashes part)
{
	if (unlikely(ckf_is_decimal(part) && words->rounded == NULL))
	{
		words->rounded = MemoryContextAllocHuge(CurrentMemoryContext, words->max * sizeof(uint64));
		memcpy(words->rounded, words->words, words->n * sizeof(uint64));
	}
	if (unlikely(words->rounded != NULL))
		words->rounded[words->n] = part.rounded;
	words->words[words->n++] = part.hash;
}

/* Append a word. */
static inline void
ckfp_words_put(ckfp_words *words, uint64 word)
{
	ckfp_words_put_element(words, (ckf_hashes){word, word});
}

static inline void
ckfp_words_put_null(ckfp_words *words)
{
	ckfp_words_put(words, ckf_hash_words(NULL, 0, words->seed));
}

/* The hashes of all words. */
static inline ckf_hashes
ckfp_words_end(ckfp_words *words)
{
	ckf_hashes hashes;

	hashes.hash = hashes.rounded = ckf_hash_words(words->words, words->n, words->seed);
	if (words->words != words->buffer)
		pfree(words->words);
	if (unlikely(words->rounded != NULL))
	{
		hashes.rounded = ckf_hash_words(words->rounded, words->n, words->seed);
		pfree(words->rounded);
	}
	return hashes;
}

/* The hashes of a container with one part. */
static inline ckf_hashes
ckfp_words_of_one(ckf_shape shape, ckf_hashes part, uint64 seed)
{
	ckf_hashes hashes;

	hashes.hash = hashes.rounded = ckf_hash_words((uint64[]){shape, part.hash}, 2, seed);
	if (ckf_is_decimal(part))
		hashes.rounded = ckf_hash_words((uint64[]){shape, part.rounded}, 2, seed);
	return hashes;
}

#endif
