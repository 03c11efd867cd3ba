/*
 * collect.c - the running state of an aggregate: an open-addressing set of
 * hashes in order.
 *
 * A hash's home is floor(hash * homes / 2^64), and a probe goes right from
 * there, so the words can be kept ascending from end to end: an insert moves
 * the rest of its run by one.  To walk the set is to walk it sorted.  A small
 * set has one home, which makes it a sorted array.  Word 0 is free.
 *
 * A set that would grow too large turns into a wide-tag table, plain, of w = 64
 * (job.c), which costs about 6 bytes an item instead of 10 to 20.
 */
#include "internal.h"

#define CKF_SMALL_STATE 57 /* words, up to which there is one home */
#define CKF_STATE_TAIL 32  /* words behind the last home */

static uint64_t ckf_homes(uint64_t words)
{
	return words <= CKF_SMALL_STATE ? 1 : words - CKF_STATE_TAIL;
}

static uint64_t ckf_state_limit(uint64_t words)
{
	return words <= CKF_SMALL_STATE ? words : ckf_homes(words) / 16 * 13;
}

size_t ckf_collect_grown(size_t size)
{
	/* 124, 252, 508 .. with PostgreSQL's 4 bytes before: just under a power
	 * of two, which is what its allocator, and most, hand out */
	return CKF_HEADER_SIZE + 8 * (2 * ((size - CKF_HEADER_SIZE) / 8) + 7);
}

/* The first word from the hash's home on that is free or not below it. */
static uint64_t ckf_state_find(const ckf_filter *t, uint64_t words, uint64_t hash)
{
	uint64_t at = ckf_mulhi(hash, (uint32_t)ckf_homes(words));
	uint64_t word;

	while (at < words && (word = ckf_word(t, at)) != 0 && word < hash)
		at++;
	return at;
}

unsigned ckf_collect_copies(const ckf_filter *t, uint64_t hash)
{
	uint64_t words = ckf_body_words(t);
	uint64_t at;
	unsigned n = 0;

	hash |= hash == 0;
	for (at = ckf_state_find(t, words, hash); at < words && ckf_word(t, at) == hash; at++)
		if (++n == 2U * t->b)
			break;
	return n;
}

ckf_status ckf_collect_add(ckf_filter *t, uint64_t hash)
{
	uint64_t words = ckf_body_words(t);
	uint64_t at, end;
	uint8_t *p;

	hash |= hash == 0;
	at = ckf_state_find(t, words, hash);
	if (at < words && ckf_word(t, at) == hash &&
		(ckf_stores_once(t) || ckf_collect_copies(t, hash) == 2U * t->b))
		return CKF_OK;
	if (t->count >= ckf_state_limit(words))
		return CKF_ROOM;
	for (end = at; end < words && ckf_word(t, end) != 0; end++)
		;
	if (end == words)
		return CKF_ROOM;
	p = ckf_body(t) + 8 * at;
	memmove(p + 8, p, (size_t)(8 * (end - at)));
	ckf_store64(p, hash);
	ckf_set_count(t, t->count + 1);
	return CKF_OK;
}

bool ckf_collect_append(ckf_filter *t, uint64_t hash, uint64_t *next)
{
	uint64_t words = ckf_body_words(t);
	uint64_t home = ckf_mulhi(hash, (uint32_t)ckf_homes(words));
	uint64_t at = *next > home ? *next : home;

	if (at >= words)
		return false;
	ckf_store64(ckf_body(t) + 8 * at, hash);
	*next = at + 1;
	return true;
}
