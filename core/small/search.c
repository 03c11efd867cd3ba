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

#define CKF_LOOKUP_HASHES (CKF_LOOKUP_BYTES / 8)

/* Steps of interpolation before the binary search. */
#define CKF_GUESSES 4

static ckf_status
ckf_need_words(ckf_lookup *lookup, uint64_t first, uint64_t n)
{
	lookup->from = CKF_HEADER_SIZE + 8 * first;
	lookup->size = (uint32_t)(8 * n);
	return CKF_MORE;
}

/* Estimate the distance of the hash from `low`, by interpolation. */
static uint64_t
ckf_guess(const ckf_lookup *lookup)
{
	uint64_t n = lookup->high - lookup->low;
	uint64_t span = lookup->above - lookup->below;
	uint64_t part = lookup->hash - lookup->below;

	/* the second condition: damaged bytes may be out of order */
	if (lookup->steps >= CKF_GUESSES || lookup->hash < lookup->below || part > span ||
		n > UINT32_MAX)
		return n / 2;
	for (; span >= UINT32_MAX; span >>= 1)
		part >>= 1;
	return n * part / (span + 1);
}

/* Ask for a window of the remaining range, which is not empty. */
static ckf_status
ckf_need_window(ckf_lookup *lookup)
{
	uint64_t left = lookup->high - lookup->low;
	uint64_t n = left < CKF_LOOKUP_HASHES ? left : CKF_LOOKUP_HASHES;
	uint64_t before = ckf_guess(lookup);

	before = before > n / 2 ? before - n / 2 : 0;
	if (before > left - n)
		before = left - n;
	return ckf_need_words(lookup, lookup->low + before, n);
}

/* Ask for words that may be more copies, from an index on. */
static ckf_status
ckf_need_copies(const ckf_filter *t, ckf_lookup *lookup, uint64_t first)
{
	uint64_t most = 2U * t->b - lookup->copies;
	uint64_t left = t->count - first;

	lookup->counting = true;
	if (most == 0 || left == 0 || (lookup->copies > 0 && !lookup->all_copies))
		return CKF_OK;
	return ckf_need_words(lookup, first, left < most ? left : most);
}

/* Count the copies at the beginning of n words.  If all are copies, ask for more words. */
static ckf_status
ckf_count_copies(const ckf_filter *t, ckf_lookup *lookup, const uint8_t *words, uint64_t first,
				 uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n && lookup->copies < 2U * t->b; i++)
	{
		if (ckf_load64(words + 8 * i) != lookup->hash)
			return CKF_OK;
		lookup->copies++;
	}
	return ckf_need_copies(t, lookup, first + i);
}

ckf_status
ckf_search_start(const ckf_filter *t, ckf_lookup *lookup)
{
	lookup->high = t->count;
	lookup->above = UINT64_MAX;
	return t->count > 0 ? ckf_need_window(lookup) : CKF_OK;
}

ckf_status
ckf_search_step(const ckf_filter *t, ckf_lookup *lookup, const uint8_t *bytes)
{
	uint64_t first = (lookup->from - CKF_HEADER_SIZE) / 8; /* as ckf_need_words asked */
	uint64_t n = lookup->size / 8;
	uint64_t below;

	if (lookup->counting)
		return ckf_count_copies(t, lookup, bytes, first, n);
	lookup->steps++;
	below = ckf_words_below(bytes, (size_t)n, lookup->hash);
	if (below == 0 && first > lookup->low)
	{
		lookup->high = first;
		lookup->above = ckf_load64(bytes);
	}
	else if (below < n)
		return ckf_count_copies(t, lookup, bytes + 8 * below, first + below, n - below);
	else
	{
		lookup->low = first + n;
		lookup->below = ckf_load64(bytes + 8 * (n - 1));
	}
	if (lookup->low < lookup->high)
		return ckf_need_window(lookup);
	if (lookup->above != lookup->hash) /* the hash at `high` is another one */
		return CKF_OK;
	return ckf_need_copies(t, lookup, lookup->low);
}
