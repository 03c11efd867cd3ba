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
#include "filter/operations.h"
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
ckf_sorted_lookup_start(const ckf_filter *t, ckf_lookup *lookup)
{
	lookup->hash = ckf_sorted_word(t, lookup->hash);
	return ckf_search_start(t, lookup);
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

const ckf_operations ckf_sorted_operations = {
	.contains = ckf_sorted_contains,
	.copies = ckf_sorted_copies,
	.lookup_start = ckf_sorted_lookup_start,
	.lookup_step = ckf_search_step,
	.add = ckf_sorted_add,
	.remove = ckf_sorted_remove,
	.check = ckf_sorted_check,
	.source = &ckf_sorted_source,
	.sink = &ckf_sorted_sink,
};
