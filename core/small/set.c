/*
 * set.c - a small running state: an open-addressing table of hashes.
 *
 * A hash's home is floor(hash * homes / 2^64), and a probe goes right from
 * there, so the words can be kept ascending from end to end: an insert moves the
 * rest of its run by one, and to read the set is to read it sorted.  A set of
 * few words has one home, which makes it a sorted array.  Word 0 is free.
 */
#include "small/set.h"

#include "filter/header.h"
#include "filter/operations.h"
#include "rebuild/scan.h"
#include "rebuild/sink.h"

#define CKF_ONE_HOME 57 /* words, up to which there is one home */
#define CKF_SET_TAIL 32 /* words behind the last home */

static uint64_t
ckf_homes(uint64_t words)
{
	return words <= CKF_ONE_HOME ? 1 : words - CKF_SET_TAIL;
}

uint64_t
ckf_set_holds(uint64_t words)
{
	return words <= CKF_ONE_HOME ? words : ckf_homes(words) / 16 * 13;
}

/* An insert fills a free word that is no more than one behind the last one in
 * use, or the last home.  So as many as there are free words at the end never pass
 * it, as long as there are no homes among those. */
bool
ckf_set_takes(const ckf_filter *t, uint64_t more)
{
	uint64_t words = ckf_body_words(t);
	uint64_t at;

	if (t->count + more > ckf_set_holds(words) || (ckf_homes(words) > 1 && more > CKF_SET_TAIL))
		return false;
	for (at = words - more; at < words; at++)
		if (ckf_word(t, at) != 0)
			return false;
	return true;
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

/* Copies of a hash from word `at` on, where they stand side by side. */
static unsigned
ckf_count_run(const ckf_filter *t, uint64_t at, uint64_t words, uint64_t hash)
{
	unsigned n = 0;

	while (n < 2U * t->b && at + n < words && ckf_word(t, at + n) == hash)
		n++;
	return n;
}

static ckf_status
ckf_set_add(ckf_filter *t, uint64_t hash)
{
	uint64_t words = ckf_body_words(t);
	uint64_t at, end;
	unsigned copies;
	uint8_t *p;

	hash |= hash == 0;
	at = ckf_set_find(t, words, hash);
	copies = ckf_count_run(t, at, words, hash);
	if (copies > 0 && (ckf_stores_once(t) || copies == 2U * t->b))
		return CKF_OK;
	if (t->count >= ckf_set_holds(words))
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

/* --------------------------------------------------------- for a rebuild */

static uint64_t
ckf_set_items(const ckf_filter *t)
{
	return t->count;
}

static unsigned
ckf_set_scans(const ckf_filter *t, ckf_scan *scans)
{
	ckf_scan_words(scans, ckf_body(t), ckf_body_words(t));
	return 1;
}

static const ckf_source ckf_set_source = {ckf_set_items, ckf_set_scans};

static uint64_t
ckf_set_scratch(const ckf_filter *t)
{
	(void)t;
	return 0;
}

static uint64_t
ckf_set_bytes(const ckf_filter *t, uint64_t copies)
{
	(void)copies;
	return t->size;
}

static bool
ckf_set_cleared(const ckf_filter *t)
{
	(void)t;
	return true;
}

static void
ckf_set_start(ckf_build *build, uint64_t *scratch)
{
	(void)build;
	(void)scratch;
}

static bool
ckf_set_put(ckf_build *build, const uint64_t *items, size_t n)
{
	uint64_t words = ckf_body_words(build->t);
	uint32_t homes = (uint32_t)ckf_homes(words);
	uint8_t *body = ckf_body(build->t);
	uint64_t next = build->next;
	size_t i;

	for (i = 0; i < n; i++)
	{
		uint64_t home = ckf_mulhi(items[i], homes);

		if (next < home)
			next = home;
		if (next >= words)
			return false;
		ckf_store64(body + 8 * next++, items[i]);
	}
	build->stored += n;
	build->next = next;
	return true;
}

static void
ckf_set_end(ckf_build *build)
{
	(void)build;
}

static const ckf_sink ckf_set_sink = {
	.scratch = ckf_set_scratch,
	.size = ckf_set_bytes,
	.cleared = ckf_set_cleared,
	.start = ckf_set_start,
	.put = ckf_set_put,
	.end = ckf_set_end,
};

const ckf_operations ckf_set_operations = {
	.contains = ckf_contains_perhaps,
	.add = ckf_set_add,
	.source = &ckf_set_source,
	.sink = &ckf_set_sink,
};
