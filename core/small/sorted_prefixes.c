/*
 * sorted_prefixes.c - a sorted array of prefixes of w bits, each aligned to the left of a word.
 *
 * It is the state of union_agg and sum_agg if no table can be filled with the items so far, but
 * perhaps with those of all inputs: a later input may lower c or w, or make the result a set.  So
 * it has room for any prefixes, and loses nothing.  A rebuild makes a table of it, or is refused.
 *
 * A prefix is a word that is not 0, like a hash, and most operations are those of sorted hashes.
 */
#include "filter/geometry.h"
#include "filter/header.h"
#include "filter/operations.h"
#include "small/search.h"
#include "small/sorted_hashes.h"

static uint64_t
ckf_prefix_of(const ckf_filter *t, uint64_t hash)
{
	return ckf_cut(hash, t->w, t->low_mask);
}

static bool
ckf_sorted_prefixes_contains(const ckf_filter *t, uint64_t hash)
{
	return ckf_sorted_hashes_operations.contains(t, ckf_prefix_of(t, hash));
}

static unsigned
ckf_sorted_prefixes_copies(const ckf_filter *t, uint64_t hash)
{
	return ckf_sorted_hashes_operations.copies(t, ckf_prefix_of(t, hash));
}

static ckf_status
ckf_sorted_prefixes_question_start(const ckf_filter *t, ckf_question *question)
{
	question->hash = ckf_prefix_of(t, question->hash);
	return ckf_search_start(t, question);
}

/* A copy that must be stored asks for growth, which builds a table or is refused. */
static ckf_status
ckf_sorted_prefixes_add(ckf_filter *t, uint64_t hash)
{
	unsigned copies = ckf_sorted_prefixes_copies(t, hash);

	return copies > 0 && (copies == 2U * t->b || t->deduplicated) ? CKF_OK : CKF_ROOM;
}

static ckf_status
ckf_sorted_prefixes_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	return ckf_sorted_hashes_operations.remove(t, ckf_prefix_of(t, hash), found);
}

/* Validate the body: as that of sorted hashes, and each word is a prefix of w bits. */
static ckf_status
ckf_sorted_prefixes_check(const ckf_filter *t, ckf_check *check)
{
	uint64_t first = check->next;
	ckf_status status = ckf_sorted_hashes_operations.check(t, check);
	uint64_t i;

	for (i = first; i < check->next && status != CKF_BAD_BYTES; i++)
		if (ckf_word(t, i) != ckf_prefix_of(t, ckf_word(t, i)))
			status = CKF_BAD_BYTES;
	return status;
}

const ckf_operations ckf_sorted_prefixes_operations = {
	.contains = ckf_sorted_prefixes_contains,
	.copies = ckf_sorted_prefixes_copies,
	.question_start = ckf_sorted_prefixes_question_start,
	.question_step = ckf_search_step,
	.add = ckf_sorted_prefixes_add,
	.remove = ckf_sorted_prefixes_remove,
	.check = ckf_sorted_prefixes_check,
	.source = &ckf_sorted_hashes_source,
	.sink = &ckf_sorted_hashes_sink,
};
