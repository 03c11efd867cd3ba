/*
 * collect.c - the running state of an aggregate: an open-addressing set of
 * hashes in order.
 *
 * A hash's home is floor(hash * homes / 2^64), and a probe goes right from
 * there, so the words can be kept ascending from end to end: an insert moves
 * the rest of its run by one.  To walk the set is to walk it sorted.  A small
 * set has one home, which makes it a sorted array.  Word 0 is free.
 *
 * Adds to a set that is larger than a processor's cache wait in a queue, the
 * body's last words, while their homes are fetched.  ckf_filter.m counts them.
 *
 * A set that would grow too large turns into a wide-tag table, plain, of w = 64
 * (job.c), which costs about 6 bytes an item instead of 10 to 20.
 */
#include "internal.h"

#define CKF_SMALL_STATE 57 /* words, up to which there is one home */
#define CKF_STATE_TAIL 32  /* words behind the last home */

/* Words that a probe passes at the most.  Runs of good hashes stay far below
 * (at 10^8 items, about 900); hashes that crowd, because they come in order or
 * were chosen so, turn the set into a table, which spreads them. */
#define CKF_LONGEST_RUN 8192

/* Where homes are: all words of a small set but none of a large set's tail and
 * queue. */
static uint64_t
ckf_homes(uint64_t words)
{
	return words <= CKF_SMALL_STATE ? 1 : words - CKF_STATE_TAIL;
}

static uint64_t
ckf_state_limit(uint64_t words)
{
	return words <= CKF_SMALL_STATE ? words : ckf_homes(words) / 16 * 13;
}

uint64_t
ckf_collect_words(const ckf_filter *t)
{
	uint64_t words = ckf_body_words(t);

	return words < CKF_QUEUED_STATE ? words : words - CKF_QUEUE;
}

size_t
ckf_collect_grown(size_t size)
{
	/* 124, 252, 508 .. with PostgreSQL's 4 bytes before: just under a power
	 * of two, which is what its allocator, and most, hand out */
	return CKF_HEADER_SIZE + 8 * (2 * ((size - CKF_HEADER_SIZE) / 8) + 7);
}

/* The first word from the hash's home on that is free or not below it. */
static uint64_t
ckf_state_find(const ckf_filter *t, uint64_t words, uint64_t hash)
{
	uint64_t at = ckf_mulhi(hash, (uint32_t)ckf_homes(words));
	uint64_t word;

	while (at < words && (word = ckf_word(t, at)) != 0 && word < hash)
		at++;
	return at;
}

unsigned
ckf_collect_copies(const ckf_filter *t, uint64_t hash)
{
	uint64_t words = ckf_collect_words(t);
	uint64_t at;
	unsigned n = 0;
	uint32_t i;

	hash |= hash == 0;
	for (at = ckf_state_find(t, words, hash); at < words && ckf_word(t, at) == hash; at++)
		n++;
	for (i = 0; i < t->m; i++)
		n += ckf_word(t, words + i) == hash;
	return n > 0 && ckf_stores_once(t) ? 1 : n < 2U * t->b ? n : 2U * t->b;
}

static bool
ckf_is_saturated(const ckf_filter *t, uint64_t words, uint64_t hash, uint64_t at)
{
	unsigned n = 0;

	while (n < 2U * t->b && at < words && ckf_word(t, at) == hash)
	{
		n++;
		at++;
	}
	return n == 2U * t->b;
}

bool
ckf_collect_is_crowded(const ckf_filter *t)
{
	return t->f != 0;
}

/* A run is too long: ask for growth, which finds this mark. */
static ckf_status
ckf_state_crowded(ckf_filter *t)
{
	t->f = 1;
	t->bytes[CKF_AT_F] = 1;
	return CKF_ROOM;
}

/* Put a hash into its place among `words` words. */
static ckf_status
ckf_state_insert(ckf_filter *t, uint64_t words, uint64_t hash)
{
	uint64_t at = ckf_mulhi(hash, (uint32_t)ckf_homes(words));
	uint64_t stop = words - at > CKF_LONGEST_RUN ? at + CKF_LONGEST_RUN : words;
	uint64_t word = 0;
	uint64_t end;
	uint8_t *p;

	while (at < stop && (word = ckf_word(t, at)) != 0 && word < hash)
		at++;
	if (at < stop && word == hash && (ckf_stores_once(t) || ckf_is_saturated(t, words, hash, at)))
		return CKF_OK;
	if (t->count >= ckf_state_limit(words))
		return CKF_ROOM;
	for (end = at; end < stop && ckf_word(t, end) != 0; end++)
		;
	if (end == stop)
		return stop < words ? ckf_state_crowded(t) : CKF_ROOM;
	p = ckf_body(t) + 8 * at;
	memmove(p + 8, p, (size_t)(8 * (end - at)));
	ckf_store64(p, hash);
	ckf_set_count(t, t->count + 1);
	return CKF_OK;
}

bool
ckf_collect_has_room(const ckf_filter *t, uint64_t more)
{
	return t->count + more <= ckf_state_limit(ckf_collect_words(t));
}

static void
ckf_set_queued(ckf_filter *t, uint32_t queued)
{
	t->m = queued;
	t->bytes[CKF_AT_M] = (uint8_t)queued;
}

/* Empty the queue; what finds no room stays in it. */
static ckf_status
ckf_state_flush(ckf_filter *t, uint64_t words)
{
	while (t->m > 0)
	{
		uint8_t *last = ckf_body(t) + 8 * (words + t->m - 1);
		ckf_status status = ckf_state_insert(t, words, ckf_load64(last));

		if (status != CKF_OK)
			return status;
		ckf_store64(last, 0);
		ckf_set_queued(t, t->m - 1);
	}
	return CKF_OK;
}

ckf_status
ckf_collect_add(ckf_filter *t, uint64_t hash)
{
	uint64_t words = ckf_collect_words(t);

	hash |= hash == 0;
	if (words == ckf_body_words(t))
		return ckf_state_insert(t, words, hash);
	if (t->m == CKF_QUEUE)
	{
		ckf_status status = ckf_state_flush(t, words);

		if (status != CKF_OK)
			return status;
	}
	__builtin_prefetch(ckf_body(t) + 8 * ckf_mulhi(hash, (uint32_t)ckf_homes(words)));
	ckf_store64(ckf_body(t) + 8 * (words + t->m), hash);
	ckf_set_queued(t, t->m + 1);
	return CKF_OK;
}

unsigned
ckf_collect_queued(const ckf_filter *t, uint64_t *hashes)
{
	uint64_t words = ckf_collect_words(t);
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < t->m; i++)
		hashes[i] = ckf_word(t, words + i);
	ckf_sort(hashes, NULL, t->m, 0, 64);
	for (i = 0; i < t->m; i++)
	{
		uint64_t at = ckf_state_find(t, words, hashes[i]);

		if (ckf_stores_once(t) &&
			((at < words && ckf_word(t, at) == hashes[i]) || (n > 0 && hashes[n - 1] == hashes[i])))
			continue;
		hashes[n++] = hashes[i];
	}
	return n;
}

bool
ckf_collect_append(ckf_filter *t, uint64_t hash, uint64_t *next)
{
	uint64_t words = ckf_collect_words(t);
	uint64_t home = ckf_mulhi(hash, (uint32_t)ckf_homes(words));
	uint64_t at = *next > home ? *next : home;

	if (at >= words)
		return false;
	ckf_store64(ckf_body(t) + 8 * at, hash);
	*next = at + 1;
	return true;
}
