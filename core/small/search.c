/*
 * search.c - a lookup in sorted hashes of which the host has read only the header.
 *
 * The index of the first hash >= the wanted one is in low .. high.  Good hashes are spread
 * evenly, so interpolation estimates the index from the hash.  Each step reads a window of
 * hashes around the estimate.  If hashes are not spread evenly, estimates can be wrong; so
 * after a few steps the search continues as a binary search.  Then the copies are counted.
 */
#include "filter/header.h"
#include "filter/operations.h"

#define CKF_QUESTION_HASHES (CKF_QUESTION_BYTES / 8)

/* Steps of interpolation before the binary search. */
#define CKF_GUESSES 4

static ckf_status
ckf_need_words(ckf_question *question, uint64_t first, uint64_t n)
{
	question->from = CKF_HEADER_SIZE + 8 * first;
	question->size = (uint32_t)(8 * n);
	return CKF_MORE;
}

/* Estimate the distance of the hash from `low`, by interpolation. */
static uint64_t
ckf_guess(const ckf_question *question)
{
	uint64_t n = question->high - question->low;
	uint64_t span = question->above - question->below;
	uint64_t part = question->hash - question->below;

	/* the second condition: damaged bytes may be out of order */
	if (question->steps >= CKF_GUESSES || question->hash < question->below || part > span ||
		n > UINT32_MAX)
		return n / 2;
	for (; span >= UINT32_MAX; span >>= 1)
		part >>= 1;
	return n * part / (span + 1);
}

/* Ask for a window of the remaining range, which is not empty. */
static ckf_status
ckf_need_window(ckf_question *question)
{
	uint64_t left = question->high - question->low;
	uint64_t n = left < CKF_QUESTION_HASHES ? left : CKF_QUESTION_HASHES;
	uint64_t before = ckf_guess(question);

	before = before > n / 2 ? before - n / 2 : 0;
	if (before > left - n)
		before = left - n;
	return ckf_need_words(question, question->low + before, n);
}

/* Ask for words that may be more copies, from an index on. */
static ckf_status
ckf_need_copies(const ckf_filter *t, ckf_question *question, uint64_t first)
{
	uint64_t most = 2U * t->b - question->copies;
	uint64_t left = t->count - first;

	question->counting = true;
	if (most == 0 || left == 0 || (question->copies > 0 && !question->all_copies))
		return CKF_OK;
	return ckf_need_words(question, first, left < most ? left : most);
}

/* Count the copies at the beginning of n words.  If all are copies, ask for more words. */
static ckf_status
ckf_count_copies(const ckf_filter *t, ckf_question *question, const uint8_t *words, uint64_t first,
				 uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n && question->copies < 2U * t->b; i++)
	{
		if (ckf_load64(words + 8 * i) != question->hash)
			return CKF_OK;
		question->copies++;
	}
	return ckf_need_copies(t, question, first + i);
}

ckf_status
ckf_search_start(const ckf_filter *t, ckf_question *question)
{
	question->high = t->count;
	question->above = UINT64_MAX;
	return t->count > 0 ? ckf_need_window(question) : CKF_OK;
}

ckf_status
ckf_search_step(const ckf_filter *t, ckf_question *question, const uint8_t *bytes)
{
	uint64_t first = (question->from - CKF_HEADER_SIZE) / 8; /* as ckf_need_words asked */
	uint64_t n = question->size / 8;
	uint64_t below;

	if (question->counting)
		return ckf_count_copies(t, question, bytes, first, n);
	question->steps++;
	below = ckf_words_below(bytes, (size_t)n, question->hash);
	if (below == 0 && first > question->low)
	{
		question->high = first;
		question->above = ckf_load64(bytes);
	}
	else if (below < n)
		return ckf_count_copies(t, question, bytes + 8 * below, first + below, n - below);
	else
	{
		question->low = first + n;
		question->below = ckf_load64(bytes + 8 * (n - 1));
	}
	if (question->low < question->high)
		return ckf_need_window(question);
	if (question->above != question->hash) /* the hash at `high` is another one */
		return CKF_OK;
	return ckf_need_copies(t, question, question->low);
}
