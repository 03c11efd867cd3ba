/*
 * collect.c - the running state of an aggregate, in one of two forms.
 *
 * While it fits a processor's cache it is a set: an open-addressing table of
 * hashes.  A hash's home is floor(hash * homes / 2^64), and a probe goes right
 * from there, so the words can be kept ascending from end to end: an insert
 * moves the rest of its run by one, and to walk the set is to walk it sorted.
 * A small set has one home, which makes it a sorted array.  Word 0 is free.
 *
 * A larger state is a log, because each insert into a large set would wait for
 * memory: `count` sorted hashes, and behind them the hashes that came since, as
 * they came.  A growth (job.c) sorts the latter and merges.
 *
 * A log that would grow too large turns into a wide-tag table, plain, of w = 64
 * (job.c), which costs about 6 bytes an item.
 */
#include "small/collect.h"

#include "filter/header.h"
#include "filter/operations.h"

#define CKF_SMALL_SET 57      /* words, up to which there is one home */
#define CKF_LARGEST_SET 32768 /* words, from which a state is a log */
#define CKF_SET_TAIL 32       /* words behind the last home */

bool
ckf_collect_is_log(const ckf_filter *t)
{
	return t->encoding == CKF_COLLECTING && ckf_body_words(t) >= CKF_LARGEST_SET;
}

size_t
ckf_collect_grown(size_t size)
{
	/* 124, 252, 508 .. with PostgreSQL's 4 bytes before: just under a power
	 * of two, which is what its allocator, and most, hand out */
	return CKF_HEADER_SIZE + 8 * (2 * ((size - CKF_HEADER_SIZE) / 8) + 7);
}

/* -------------------------------------------------------------------- sets */

static uint64_t
ckf_homes(uint64_t words)
{
	return words <= CKF_SMALL_SET ? 1 : words - CKF_SET_TAIL;
}

static uint64_t
ckf_set_limit(uint64_t words)
{
	return words <= CKF_SMALL_SET ? words : ckf_homes(words) / 16 * 13;
}

/* The first word from the hash's home on that is free or not below it. */
static uint64_t
ckf_set_find(const ckf_filter *t, uint64_t words, uint64_t hash)
{
	uint64_t at = ckf_mulhi(hash, (uint32_t)ckf_homes(words));
	uint64_t word;

	while (at < words && (word = ckf_word(t, at)) != 0 && word < hash)
		at++;
	return at;
}

/* Copies of a hash from word `at` to `end`, where they stand side by side. */
static unsigned
ckf_count_run(const ckf_filter *t, uint64_t at, uint64_t end, uint64_t hash)
{
	unsigned n = 0;

	while (n < 2U * t->b && at + n < end && ckf_word(t, at + n) == hash)
		n++;
	return n;
}

static ckf_status
ckf_set_add(ckf_filter *t, uint64_t words, uint64_t hash)
{
	uint64_t at = ckf_set_find(t, words, hash);
	unsigned copies = ckf_count_run(t, at, words, hash);
	uint64_t end;
	uint8_t *p;

	if (copies > 0 && (ckf_stores_once(t) || copies == 2U * t->b))
		return CKF_OK;
	if (t->count >= ckf_set_limit(words))
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

/* -------------------------------------------------------------------- logs */

/* Word 0 counts the hashes behind the sorted ones, which begin at word 1. */

uint64_t
ckf_collect_logged(const ckf_filter *t)
{
	return ckf_collect_is_log(t) ? ckf_word(t, 0) : 0;
}

static ckf_status
ckf_log_add(ckf_filter *t, uint64_t words, uint64_t hash)
{
	uint64_t logged = ckf_word(t, 0);
	uint64_t at = 1 + t->count + logged;

	if (at >= words)
		return CKF_ROOM;
	ckf_store64(ckf_body(t) + 8 * at, hash);
	ckf_store64(ckf_body(t), logged + 1);
	return CKF_OK;
}

/* -------------------------------------------------------------------- both */

static ckf_status
ckf_collect_add(ckf_filter *t, uint64_t hash)
{
	uint64_t words = ckf_body_words(t);

	hash |= hash == 0;
	return words < CKF_LARGEST_SET ? ckf_set_add(t, words, hash) : ckf_log_add(t, words, hash);
}

bool
ckf_collect_fits(const ckf_filter *t)
{
	uint64_t words = ckf_body_words(t);

	if (t->size < CKF_STATE_SIZE || t->count >= words + (words < CKF_LARGEST_SET))
		return false;
	return words < CKF_LARGEST_SET || ckf_word(t, 0) < words - t->count;
}

bool
ckf_collect_has_room(const ckf_filter *t, uint64_t more)
{
	return ckf_collect_is_log(t) || t->count + more <= ckf_set_limit(ckf_body_words(t));
}

void
ckf_collect_range(const ckf_filter *t, uint64_t *first, uint64_t *end)
{
	bool log = ckf_collect_is_log(t);

	*first = log;
	*end = log ? 1 + t->count + ckf_word(t, 0) : ckf_body_words(t);
}

static unsigned
ckf_collect_copies(const ckf_filter *t, uint64_t hash)
{
	unsigned n = 0;
	uint64_t at, end;

	hash |= hash == 0;
	ckf_collect_range(t, &at, &end);
	if (!ckf_collect_is_log(t))
		at = ckf_set_find(t, end, hash);
	for (; at < end && n < 2U * t->b; at++)
		n += ckf_word(t, at) == hash;
	return n > 0 && ckf_stores_once(t) ? 1 : n;
}

bool
ckf_collect_append(ckf_filter *t, uint64_t hash, uint64_t *next)
{
	uint64_t words = ckf_body_words(t);
	uint64_t at = *next;

	if (words >= CKF_LARGEST_SET)
		at += at == 0; /* word 0 counts the log */
	else if (at < ckf_mulhi(hash, (uint32_t)ckf_homes(words)))
		at = ckf_mulhi(hash, (uint32_t)ckf_homes(words));
	if (at >= words)
		return false;
	ckf_store64(ckf_body(t) + 8 * at, hash);
	*next = at + 1;
	return true;
}

static bool
ckf_collect_contains(const ckf_filter *t, uint64_t hash)
{
	return ckf_collect_copies(t, hash) > 0;
}

/* Nothing is removed from a state. */
const ckf_operations ckf_collect_operations = {
	.contains = ckf_collect_contains,
	.copies = ckf_collect_copies,
	.add = ckf_collect_add,
};
