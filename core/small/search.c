/*
 * search.c - a question to sorted hashes of which only the header is at hand.
 *
 * The first hash that is not below the one asked for is somewhere in low .. high.
 * Good hashes are spread evenly, so that its place can be guessed from its value
 * (interpolation), and a step reads a window of hashes around that guess.  Hashes
 * that are not good lead the guesses astray: so after a few steps the middle is
 * taken, which halves what is left each time.  Copies of the hash follow it.
 */
#include "small/search.h"

#include "filter/header.h"

#define CKF_QUESTION_HASHES (CKF_QUESTION_BYTES / 8)

/* Steps that guess, before the middle is taken. */
#define CKF_GUESSES 4

static ckf_status
ckf_need_words(ckf_question *question, uint64_t first, uint64_t n)
{
	question->from = CKF_HEADER_SIZE + 8 * first;
	question->size = (uint32_t)(8 * n);
	return CKF_MORE;
}

static uint64_t
ckf_needed_first(const ckf_question *question)
{
	return (question->from - CKF_HEADER_SIZE) / 8;
}

/* How far behind `low` the hash may be, by its value between those around. */
static uint64_t
ckf_guess(const ckf_question *question)
{
	uint64_t n = question->high - question->low;
	uint64_t span = question->above - question->below;
	uint64_t part = question->hash - question->below;

	/* the second: in damaged bytes they need not be in order */
	if (question->steps >= CKF_GUESSES || question->hash < question->below || part > span ||
		n > UINT32_MAX)
		return n / 2;
	for (; span >= UINT32_MAX; span >>= 1)
		part >>= 1;
	return n * part / (span + 1);
}

/* Ask for a window of what is left; there is something left. */
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

/* Ask for what may be more copies, from a place on. */
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

/* Count copies at the head of n words; where they go on behind them, ask for more. */
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

/* Words of n that are below the hash: the first ones. */
static uint64_t
ckf_count_below(const uint8_t *words, uint64_t n, uint64_t hash)
{
	uint64_t low = 0;

	while (low < n)
	{
		uint64_t middle = low + (n - low) / 2;

		if (ckf_load64(words + 8 * middle) < hash)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

ckf_status
ckf_search_start(const ckf_filter *t, ckf_question *question)
{
	question->hash |= question->hash == 0;
	question->high = t->count;
	question->above = UINT64_MAX;
	return t->count > 0 ? ckf_need_window(question) : CKF_OK;
}

ckf_status
ckf_search_step(const ckf_filter *t, ckf_question *question, const uint8_t *bytes)
{
	uint64_t first = ckf_needed_first(question);
	uint64_t n = question->size / 8;
	uint64_t below;

	if (question->counting)
		return ckf_count_copies(t, question, bytes, first, n);
	question->steps++;
	below = ckf_count_below(bytes, n, question->hash);
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
	if (question->above != question->hash) /* it is not the one at `high` */
		return CKF_OK;
	return ckf_need_copies(t, question, question->low);
}
