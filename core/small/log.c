/*
 * log.c - a large running state: a sorted part of `count` items, and behind it
 * those that came since, as they came.  A rebuild sorts the latter and merges.
 *
 * The sorted part is 8 bytes for each item or, in a state that may be cut and
 * has become large, a plain table of the least precision that was merged,
 * which costs some 2 bytes an item (encoding CKF_PLAIN, with CKF_FLAG_STATE).
 * Then comes a word that counts what was logged, then the logged items.
 */
#include "small/log.h"

#include "filter/geometry.h"
#include "filter/header.h"
#include "filter/operations.h"
#include "rebuild/scan.h"
#include "table/table_scan.h"
#include "table/table_sink.h"

static bool
ckf_log_has_table(const ckf_filter *t)
{
	return t->encoding == CKF_PLAIN;
}

/* Bytes before the word that counts. */
static uint64_t
ckf_log_at(const ckf_filter *t)
{
	if (ckf_log_has_table(t))
		return (ckf_table_size(t->g, t->m, ckf_bucket_bits(t->b, t->f, false)) + 7) / 8 * 8;
	return CKF_HEADER_SIZE + 8 * t->count;
}

uint64_t
ckf_log_size(const ckf_filter *t, uint64_t room)
{
	return ckf_log_at(t) + 8 + 8 * room;
}

static uint8_t *
ckf_log_word(const ckf_filter *t)
{
	return t->bytes + ckf_log_at(t);
}

/* Words for logged items. */
static uint64_t
ckf_log_words(const ckf_filter *t)
{
	return (t->size - ckf_log_at(t)) / 8 - 1;
}

bool
ckf_log_fits(const ckf_filter *t)
{
	if (!ckf_log_has_table(t) && t->count >= ckf_body_words(t))
		return false;
	return ckf_log_at(t) + 8 <= t->size && ckf_load64(ckf_log_word(t)) <= ckf_log_words(t);
}

/* Items behind the sorted ones, which `count` counts. */
static uint64_t
ckf_log_logged(const ckf_filter *t)
{
	return ckf_load64(ckf_log_word(t));
}

uint64_t
ckf_log_room(const ckf_filter *t)
{
	return ckf_log_words(t) - ckf_log_logged(t);
}

bool
ckf_log_may_promise(const ckf_filter *t, const ckf_filter *to)
{
	return !ckf_log_has_table(t) || (t->w == to->w && t->b == to->b);
}

static ckf_status
ckf_log_add(ckf_filter *t, uint64_t hash)
{
	uint8_t *word = ckf_log_word(t);
	uint64_t logged = ckf_load64(word);

	if (logged >= ckf_log_words(t))
		return CKF_ROOM;
	ckf_store64(word + 8 + 8 * logged, hash | (hash == 0));
	ckf_store64(word, logged + 1);
	return CKF_OK;
}

/* --------------------------------------------------------- for a rebuild */

static uint64_t
ckf_log_items(const ckf_filter *t)
{
	return t->count + ckf_log_logged(t);
}

static unsigned
ckf_log_scans(const ckf_filter *t, ckf_scan *scans)
{
	unsigned n = 0;

	if (ckf_log_has_table(t))
		ckf_scan_table(&scans[n++], t);
	else if (t->count > 0)
		ckf_scan_words(&scans[n++], ckf_body(t), t->count);
	if (ckf_log_logged(t) > 0)
		ckf_scan_unsorted(&scans[n++], ckf_log_word(t) + 8, ckf_log_logged(t), false);
	return n;
}

static const ckf_source ckf_log_source = {ckf_log_items, ckf_log_scans};

static uint64_t
ckf_log_scratch(const ckf_filter *t)
{
	return ckf_log_has_table(t) ? ckf_table_sink.scratch(t) : 0;
}

static uint64_t
ckf_log_bytes(const ckf_filter *t, uint64_t copies)
{
	(void)copies;
	return t->size;
}

static bool
ckf_log_cleared(const ckf_filter *t)
{
	return ckf_log_has_table(t);
}

static void
ckf_log_start(ckf_build *build, uint64_t *scratch)
{
	if (ckf_log_has_table(build->t))
		ckf_table_sink.start(build, scratch);
}

static bool
ckf_log_put(ckf_build *build, const uint64_t *items, size_t n)
{
	if (ckf_log_has_table(build->t))
		return ckf_table_sink.put(build, items, n);
	/* behind them comes the word that counts */
	if (!ckf_put_words(build, ckf_body(build->t), ckf_body_words(build->t) - 1, items, n))
		return false;
	build->stored = build->next;
	return true;
}

static void
ckf_log_end(ckf_build *build)
{
	ckf_filter *t = build->t;

	if (ckf_log_has_table(t))
		ckf_table_sink.end(build);
	ckf_store64(ckf_log_word(t), 0);
}

static const ckf_sink ckf_log_sink = {
	.scratch = ckf_log_scratch,
	.size = ckf_log_bytes,
	.cleared = ckf_log_cleared,
	.start = ckf_log_start,
	.put = ckf_log_put,
	.end = ckf_log_end,
};

const ckf_operations ckf_log_operations = {
	.contains = ckf_contains_perhaps,
	.add = ckf_log_add,
	.source = &ckf_log_source,
	.sink = &ckf_log_sink,
};

/* ---------------------------------------------------- appending to a log */

static uint64_t
ckf_append_scratch(const ckf_filter *t)
{
	(void)t;
	return 0;
}

static bool
ckf_append_cleared(const ckf_filter *t)
{
	(void)t;
	return false;
}

static void
ckf_append_start(ckf_build *build, uint64_t *scratch)
{
	(void)scratch;
	build->next = ckf_log_logged(build->t);
	build->stored = build->t->count;
}

static bool
ckf_append_put(ckf_build *build, const uint64_t *items, size_t n)
{
	return ckf_put_words(build, ckf_log_word(build->t) + 8, ckf_log_words(build->t), items, n);
}

static void
ckf_append_end(ckf_build *build)
{
	ckf_store64(ckf_log_word(build->t), build->next);
}

const ckf_sink ckf_log_append = {
	.scratch = ckf_append_scratch,
	.size = ckf_log_bytes,
	.cleared = ckf_append_cleared,
	.start = ckf_append_start,
	.put = ckf_append_put,
	.end = ckf_append_end,
};
