/*
 * words.h - the sequence of words by which a container is hashed (FORMAT.md, section 6, class 7).
 */
#ifndef CKFP_WORDS_H
#define CKFP_WORDS_H

#include "host.h"

typedef struct ckfp_words
{
	uint64 *words;
	size_t n;
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

	if (words->words != words->buffer)
		pfree(words->words);
	return hash;
}

/* The hash of a container with one word. */
static inline uint64
ckfp_words_of_one(ckf_shape shape, uint64 word, uint64 seed)
{
	return ckf_hash_words((uint64[]){shape, word}, 2, seed);
}

#endif
