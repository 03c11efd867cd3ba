/*
 * sorted_hashes.c - a sorted array of words: the 64-bit hashes of a small filter, or prefixes of w
 * bits, each aligned to the left of a word.
 *
 * Prefixes are the state of union_agg and sum_agg if no table can be filled with the items so far,
 * but perhaps with those of all inputs: a later input may lower c or w, or make the result a set.
 * So the array has room for any prefixes, and loses nothing.  A rebuild makes a table of it, or is
 * refused.
 *
 * No word is 0, so that other code can use 0 for "no hash": hash 0 is stored as 1.  This changes no
 * answer of a table, since both have the same prefix at every w.
 */
#include "filter/geometry.h"
#include "filter/header.h"
#include "filter/methods.h"
#include "scan/scan.h"
#include "scan/sink.h"
#include "thresholds.h"

/* The word that stands for a hash. */
CKF_INLINE uint64_t
ckf_sorted_word(const ckf_filter *t, uint64_t hash)
{
	return ckf_cut_item(hash | (hash == 0), t->w, t->low_mask);
}

/* Index of the first word that is not below `word`. */
static size_t
ckf_sorted_find(const ckf_filter *t, uint64_t word)
{
	return ckf_words_below(t->body, (size_t)t->count, word);
}

/* The copies of a word, of which the first one is at this index: 0 .. 2 b. */
static unsigned
ckf_sorted_count(const ckf_filter *t, size_t at, uint64_t word)
{
	unsigned n = 0;

	for (; n < 2U * t->b && at < t->count && ckf_word(t, at) == word; at++)
		n++;
	return n;
}

static bool
ckf_sorted_contains(const ckf_filter *t, uint64_t hash)
{
	uint64_t word = ckf_sorted_word(t, hash);
	size_t at = ckf_sorted_find(t, word);

	return at < t->count && ckf_word(t, at) == word;
}

static unsigned
ckf_sorted_copies(const ckf_filter *t, uint64_t hash)
{
	uint64_t word = ckf_sorted_word(t, hash);

	return ckf_sorted_count(t, ckf_sorted_find(t, word), word);
}

static ckf_status
ckf_sorted_add(ckf_filter *t, uint64_t hash)
{
	uint64_t word = ckf_sorted_word(t, hash);
	size_t first = ckf_sorted_find(t, word);
	unsigned copies = ckf_sorted_count(t, first, word);
	uint8_t *at = t->body + 8 * first;

	if (copies > 0 && (copies == 2U * t->b || t->deduplicated))
		return CKF_OK;
	if (t->encoding == CKF_PREFIXES)
		return CKF_ROOM; /* growth builds a table, or is refused */
	/*
	 * CKF_ROOM leads to growth.  From CKF_MAX_HASHES hashes on, growth builds a table, so
	 * it is requested even if there is room for one more hash.  But some hashes cannot
	 * become a table: too many share two buckets, or no table keeps the rate.  Growth
	 * returns these with room for 50 % more hashes (ckf_spare_hashes).  So if there is
	 * still room for 1/8 of the hashes (one byte for each), a table was tried recently.
	 * It is tried again when there are 1/3 more hashes.  (Hosts leave less spare room
	 * than 1/8, so their spare room is not mistaken for this.)
	 */
	if (t->room - t->size < (t->count < CKF_MAX_HASHES ? 8 : t->count))
		return CKF_ROOM;
	memmove(at + 8, at, (size_t)(t->bytes + t->size - at));
	ckf_store64(at, word);
	t->size += 8;
	ckf_set_count(t, t->count + 1);
	return CKF_OK;
}

static ckf_status
ckf_sorted_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	uint64_t word = ckf_sorted_word(t, hash);
	size_t first = ckf_sorted_find(t, word);
	unsigned copies = ckf_sorted_count(t, first, word);
	uint8_t *at = t->body + 8 * first;

	*found = copies > 0 && copies < 2U * t->b;
	if (!*found)
		return CKF_OK;
	memmove(at, at + 8, (size_t)(t->bytes + t->size - at - 8));
	t->size -= 8;
	ckf_set_count(t, t->count - 1);
	return CKF_OK;
}

/* Validate the body: the words are sorted, each stands for a hash, and none has more than 2 b
 * copies. */
static ckf_status
ckf_sorted_check(const ckf_filter *t, ckf_check *check)
{
	uint64_t most = t->flags & CKF_FLAG_SET ? 1 : 2 * (uint64_t)t->b;
	uint64_t stop = t->count - check->next > CKF_STEP ? check->next + CKF_STEP : t->count;
	uint64_t i;

	for (i = check->next; i < stop; i++)
	{
		uint64_t word = ckf_word(t, i);

		if (word != ckf_sorted_word(t, word) || (i > 0 && word < ckf_word(t, i - 1)) ||
			(i >= most && word == ckf_word(t, i - most)))
			return CKF_BAD_BYTES;
	}
	check->next = stop;
	return stop < t->count ? CKF_MORE : CKF_OK;
}

/* -------------------------------------------------- a lookup by steps */

/*
 * The index of the first word >= the wanted one is in low .. high.  Good hashes are spread
 * evenly, so interpolation estimates the index from the hash.  Each step reads a window of
 * words around the estimate.  If they are not spread evenly, estimates can be wrong; so
 * after a few steps the search continues as a binary search.  Then the copies are counted.
 */
#define CKF_LOOKUP_HASHES (CKF_LOOKUP_BYTES / 8)

/* Steps of interpolation before the binary search. */
#define CKF_GUESSES 4

static ckf_status
ckf_need_words(ckf_lookup_cursor *lookup, uint64_t first, uint64_t n)
{
	lookup->from = CKF_HEADER_SIZE + 8 * first;
	lookup->size = (uint32_t)(8 * n);
	return CKF_MORE;
}

/* Estimate the distance of the hash from `low`, by interpolation. */
static uint64_t
ckf_guess(const ckf_lookup_cursor *lookup)
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
ckf_need_window(ckf_lookup_cursor *lookup)
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
ckf_need_copies(const ckf_filter *t, ckf_lookup_cursor *lookup, uint64_t first)
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
ckf_count_copies(const ckf_filter *t, ckf_lookup_cursor *lookup, const uint8_t *words,
				 uint64_t first, uint64_t n)
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

static ckf_status
ckf_sorted_lookup_start(const ckf_filter *t, ckf_lookup_cursor *lookup)
{
	lookup->hash = ckf_sorted_word(t, lookup->hash);
	lookup->high = t->count;
	lookup->above = UINT64_MAX;
	return t->count > 0 ? ckf_need_window(lookup) : CKF_OK;
}

static ckf_status
ckf_sorted_lookup_step(const ckf_filter *t, ckf_lookup_cursor *lookup, const uint8_t *bytes)
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

/* --------------------------------------------------------- for a rebuild */

/* Read the next words.  Damaged ones may be 0, which is skipped: it is no hash. */
static bool
ckf_load_words(ckf_scan *s)
{
	uint64_t next = s->next;
	uint64_t end = s->end - next < CKF_STEP ? s->end : next + CKF_STEP;
	const uint8_t *body = s->in->body;
	uint64_t *memory = s->memory;
	size_t have = 0;

	while (next < end && have < CKF_BLOCK)
	{
		uint64_t word = ckf_load64(body + 8 * next++);

		memory[have] = word;
		have += word != 0;
	}
	*s->work += next - s->next;
	s->next = next;
	s->have = have;
	s->at = 0;
	return have > 0 || next < s->end;
}

static void
ckf_sorted_scan(const ckf_filter *t, ckf_scan *s)
{
	memset(s, 0, sizeof *s);
	s->load = ckf_load_words;
	s->in = t;
	s->end = t->count;
	s->words = t->count < CKF_BLOCK ? t->count : CKF_BLOCK;
}

static const ckf_source ckf_sorted_source = {.scan = ckf_sorted_scan};

static uint64_t
ckf_sorted_bytes(const ckf_filter *t, uint64_t copies)
{
	(void)t;
	return copies < SIZE_MAX / 16 ? CKF_HEADER_SIZE + 8 * copies : 0;
}

static bool
ckf_sorted_put(ckf_build *build, const uint64_t *items, size_t n)
{
	const ckf_filter *t = build->t;
	uint64_t room = (t->room - CKF_HEADER_SIZE) / 8;
	size_t i;

	if (room - build->stored < n)
		return false;
	for (i = 0; i < n; i++)
		ckf_store64(t->body + 8 * (build->stored + i), items[i]);
	build->stored += n;
	return true;
}

static const ckf_sink ckf_sorted_sink = {.size = ckf_sorted_bytes, .put = ckf_sorted_put};

const ckf_methods ckf_sorted_methods = {
	.contains = ckf_sorted_contains,
	.copies = ckf_sorted_copies,
	.lookup_start = ckf_sorted_lookup_start,
	.lookup_step = ckf_sorted_lookup_step,
	.add = ckf_sorted_add,
	.remove = ckf_sorted_remove,
	.check = ckf_sorted_check,
	.source = &ckf_sorted_source,
	.sink = &ckf_sorted_sink,
};
