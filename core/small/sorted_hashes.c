/*
 * sorted_hashes.c - a small filter as a sorted array of the 64-bit hashes themselves.
 *
 * Hash 0 is stored as 1, so that other code can use 0 for "no hash".  This changes no answer of a
 * table, since both have the same prefix at every w.
 */
#include "small/sorted_hashes.h"

#include "filter/header.h"
#include "filter/operations.h"
#include "rebuild/scan.h"
#include "rebuild/sink.h"
#include "small/search.h"
#include "small/sorted_hashes.h"
#include "thresholds.h"

/* Index of the first hash that is not below `hash`: a binary search that does not branch on what it
 * finds. */
static size_t
ckf_sorted_hashes_find(const ckf_filter *t, uint64_t hash)
{
	const uint8_t *body = t->body;
	size_t low = 0;
	size_t n = (size_t)t->count;

	while (n > 0)
	{
		size_t half = n / 2;
		bool above = ckf_load64(body + 8 * (low + half)) < hash;

		low = above ? low + half + 1 : low;
		n = above ? n - half - 1 : half;
	}
	return low;
}

static unsigned
ckf_sorted_hashes_copies(const ckf_filter *t, uint64_t hash)
{
	size_t at;
	unsigned n = 0;

	hash |= hash == 0;
	for (at = ckf_sorted_hashes_find(t, hash); at < t->count && ckf_word(t, at) == hash; at++)
		if (++n == 2U * t->b)
			break;
	return n;
}

static ckf_status
ckf_sorted_hashes_add(ckf_filter *t, uint64_t hash)
{
	unsigned copies = ckf_sorted_hashes_copies(t, hash);
	uint8_t *at;

	hash |= hash == 0;
	if (copies > 0 && (copies == 2U * t->b || t->deduplicated))
		return CKF_OK;
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
	at = t->body + 8 * ckf_sorted_hashes_find(t, hash);
	memmove(at + 8, at, (size_t)(t->bytes + t->size - at));
	ckf_store64(at, hash);
	t->size += 8;
	ckf_set_count(t, t->count + 1);
	return CKF_OK;
}

static ckf_status
ckf_sorted_hashes_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	unsigned copies = ckf_sorted_hashes_copies(t, hash);
	uint8_t *at;

	hash |= hash == 0;
	*found = copies > 0 && copies < 2U * t->b;
	if (!*found)
		return CKF_OK;
	at = t->body + 8 * ckf_sorted_hashes_find(t, hash);
	memmove(at, at + 8, (size_t)(t->bytes + t->size - at - 8));
	t->size -= 8;
	ckf_set_count(t, t->count - 1);
	return CKF_OK;
}

static bool
ckf_sorted_hashes_contains(const ckf_filter *t, uint64_t hash)
{
	return ckf_sorted_hashes_copies(t, hash) > 0;
}

/* Validate the body: the hashes are sorted, none is 0, and none has more than 2 b copies. */
static ckf_status
ckf_sorted_hashes_check(const ckf_filter *t, ckf_check *check)
{
	uint64_t most = t->flags & CKF_FLAG_SET ? 1 : 2 * (uint64_t)t->b;
	uint64_t stop = t->count - check->next > CKF_STEP ? check->next + CKF_STEP : t->count;
	uint64_t i;

	for (i = check->next; i < stop; i++)
	{
		uint64_t hash = ckf_word(t, i);

		if (hash == 0 || (i > 0 && hash < ckf_word(t, i - 1)) ||
			(i >= most && hash == ckf_word(t, i - most)))
			return CKF_BAD_BYTES;
	}
	check->next = stop;
	return stop < t->count ? CKF_MORE : CKF_OK;
}

/* --------------------------------------------------------- for a rebuild */

static uint64_t
ckf_sorted_hashes_items(const ckf_filter *t)
{
	return t->count;
}

static void
ckf_sorted_hashes_scan(const ckf_filter *t, ckf_scan *s)
{
	ckf_scan_words(s, t->body, t->count);
}

const ckf_source ckf_sorted_hashes_source = {ckf_sorted_hashes_items, ckf_sorted_hashes_scan};

static uint64_t
ckf_sorted_hashes_scratch(const ckf_filter *t)
{
	(void)t;
	return 0;
}

static uint64_t
ckf_sorted_hashes_bytes(const ckf_filter *t, uint64_t copies)
{
	(void)t;
	return copies < SIZE_MAX / 16 ? CKF_HEADER_SIZE + 8 * copies : 0;
}

static bool
ckf_sorted_hashes_cleared(const ckf_filter *t)
{
	(void)t;
	return false;
}

static void
ckf_sorted_hashes_start(ckf_build *build, uint64_t *scratch)
{
	(void)build;
	(void)scratch;
}

static bool
ckf_sorted_hashes_put(ckf_build *build, const uint64_t *items, size_t n)
{
	if (!ckf_put_words(build, build->t->body, (build->t->room - CKF_HEADER_SIZE) / 8, items, n))
		return false;
	build->stored = build->next;
	return true;
}

static void
ckf_sorted_hashes_end(ckf_build *build)
{
	(void)build;
}

const ckf_sink ckf_sorted_hashes_sink = {
	.scratch = ckf_sorted_hashes_scratch,
	.size = ckf_sorted_hashes_bytes,
	.cleared = ckf_sorted_hashes_cleared,
	.start = ckf_sorted_hashes_start,
	.put = ckf_sorted_hashes_put,
	.end = ckf_sorted_hashes_end,
};

const ckf_operations ckf_sorted_hashes_operations = {
	.contains = ckf_sorted_hashes_contains,
	.copies = ckf_sorted_hashes_copies,
	.question_start = ckf_search_start,
	.question_step = ckf_search_step,
	.add = ckf_sorted_hashes_add,
	.remove = ckf_sorted_hashes_remove,
	.check = ckf_sorted_hashes_check,
	.source = &ckf_sorted_hashes_source,
	.sink = &ckf_sorted_hashes_sink,
};
