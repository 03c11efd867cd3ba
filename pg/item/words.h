/*
 * words.h - the words that are hashed of a value that consists of others
 * (FORMAT.md, section 6, class 7).
 */
#ifndef CKFP_WORDS_H
#define CKFP_WORDS_H

#include "host.h"

#pragma GCC visibility push(hidden)

typedef struct ckfp_words
{
	uint64 *words;
	size_t n;
	uint64 seed;
	uint64 few[32]; /* where no more than these are to come */
} ckfp_words;

/* Begin a value of `most` words, the first of which is its shape. */
static inline void
ckfp_words_begin(ckfp_words *words, ckf_shape shape, size_t most, uint64 seed)
{
	words->words = most <= lengthof(words->few) ? words->few : palloc(most * sizeof(uint64));
	words->words[0] = shape;
	words->n = 1;
	words->seed = seed;
}

static inline void
ckfp_words_put(ckfp_words *words, uint64 word)
{
	words->words[words->n++] = word;
}

static inline void
ckfp_words_put_null(ckfp_words *words)
{
	ckfp_words_put(words, ckf_hash_words(NULL, 0, words->seed));
}

/* The hash of all words. */
static inline uint64
ckfp_words_end(ckfp_words *words)
{
	uint64 hash = ckf_hash_words(words->words, words->n, words->seed);

	if (words->words != words->few)
		pfree(words->words);
	return hash;
}

#pragma GCC visibility pop

#endif
