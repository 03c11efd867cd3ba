/*
 * change.c - questions, additions and removals, by items and by hashes.
 */
#include "internal.h"

#include <stdlib.h>

/* Copies of a hash that a batch keeps: as many as a filter can store. */
#define CKFL_MOST_COPIES 16

static unsigned
ckfl_class(cuckoofilter_item item)
{
	return ckf_item_class_of(item.item_class);
}

/* -------------------------------------------------------------- questions */

bool
cuckoofilter_contains_hashes(const cuckoofilter *filter, const uint64_t *hashes, size_t n,
							 unsigned item_classes, uint8_t *out, cuckoofilter_error *error)
{
	if (!ckfl_may_hold(&filter->filter, item_classes, error))
		return false;
	ckf_contains_many(&filter->filter, hashes, n, out);
	return true;
}

int
cuckoofilter_contains(const cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error)
{
	if (!ckfl_may_hold(&filter->filter, ckfl_class(item), error))
		return -1;
	return ckf_contains(&filter->filter, cuckoofilter_hash(item, filter->filter.seed));
}

int
cuckoofilter_copies(const cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error)
{
	if (!ckfl_may_hold(&filter->filter, ckfl_class(item), error))
		return -1;
	return (int)ckf_copies(&filter->filter, cuckoofilter_hash(item, filter->filter.seed));
}

/* ---------------------------------------------------------------- changes */

/* Add one hash in place. */
static bool
ckfl_add_one(cuckoofilter *filter, uint64_t hash, unsigned item_class, cuckoofilter_error *error)
{
	ckf_status status;

	while ((status = ckf_add(&filter->filter, hash, item_class)) == CKF_ROOM)
		if (!ckfl_rebuild_into(filter, CKF_GROW, NULL, error))
			return false;
	if (status != CKF_OK)
		ckfl_fail(error, status, (ckfl_subject){.filter = &filter->filter});
	return status == CKF_OK;
}

/* Remove one hash in place: 1, 0 or -1. */
static int
ckfl_remove_one(cuckoofilter *filter, uint64_t hash, cuckoofilter_error *error)
{
	bool found = false;
	ckf_status status = ckf_remove(&filter->filter, hash, &found);

	if (status == CKF_OK)
		return found;
	ckfl_fail(error, status, (ckfl_subject){0});
	return -1;
}

bool
cuckoofilter_add(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error)
{
	return ckfl_may_hold(&filter->filter, ckfl_class(item), error) &&
		   ckfl_add_one(filter, cuckoofilter_hash(item, filter->filter.seed), ckfl_class(item),
						error);
}

int
cuckoofilter_remove(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error)
{
	if (!ckfl_may_hold(&filter->filter, ckfl_class(item), error))
		return -1;
	return ckfl_remove_one(filter, cuckoofilter_hash(item, filter->filter.seed), error);
}

/* A change by many hashes. */
typedef struct ckfl_batch
{
	const uint64_t *hashes;
	size_t n;
	unsigned item_classes;
	bool remove;
} ckfl_batch;

/* Change a filter in place by the hash of this number. */
static bool
ckfl_change_one(cuckoofilter *filter, const ckfl_batch *batch, size_t i, cuckoofilter_error *error)
{
	return batch->remove ? ckfl_remove_one(filter, batch->hashes[i], error) >= 0
						 : ckfl_add_one(filter, batch->hashes[i], batch->item_classes, error);
}

/* Change a filter hash by hash, in a copy, so that a failure changes nothing. */
static bool
ckfl_change_few(cuckoofilter *filter, const ckfl_batch *batch, cuckoofilter_error *error)
{
	cuckoofilter *copy = cuckoofilter_copy(filter, error);
	bool ok = copy != NULL;
	size_t i;

	for (i = 0; ok && i < batch->n; i++)
		ok = ckfl_change_one(copy, batch, i, error) && !ckfl_interrupted(error);
	if (ok)
	{
		ckf_filter changed = copy->filter;

		copy->filter = filter->filter;
		filter->filter = changed;
	}
	cuckoofilter_free(copy);
	return ok;
}

/* Change a filter by a rebuild. */
static bool
ckfl_change_many(cuckoofilter *filter, const ckfl_batch *batch, cuckoofilter_error *error)
{
	ckf_collector *collector = ckfl_allocate(sizeof *collector, error);
	bool ok;

	if (!collector)
		return false;
	ckf_collect_start(collector, &filter->filter, CKFL_MOST_COPIES);
	ok = ckfl_collect(collector, batch->hashes, batch->n, batch->item_classes, error) &&
		 ckfl_collect_settle(collector, error) &&
		 ckfl_rebuild_into(filter, batch->remove ? CKF_REMOVE_MANY : CKF_ADD_MANY,
						   &collector->filter, error);
	ckfl_collect_end(collector);
	free(collector);
	return ok;
}

static bool
ckfl_change(cuckoofilter *filter, const ckfl_batch *batch, cuckoofilter_error *error)
{
	if (!ckfl_may_hold(&filter->filter, batch->item_classes, error))
		return false;
	if (batch->n == 1)
		return ckfl_change_one(filter, batch, 0, error);
	return ckf_few(&filter->filter, batch->n) ? ckfl_change_few(filter, batch, error)
											  : ckfl_change_many(filter, batch, error);
}

bool
cuckoofilter_add_hashes(cuckoofilter *filter, const uint64_t *hashes, size_t n,
						unsigned item_classes, cuckoofilter_error *error)
{
	ckfl_batch batch = {hashes, n, item_classes, false};

	return n == 0 || ckfl_change(filter, &batch, error);
}

bool
cuckoofilter_remove_hashes(cuckoofilter *filter, const uint64_t *hashes, size_t n,
						   unsigned item_classes, cuckoofilter_error *error)
{
	ckfl_batch batch = {hashes, n, item_classes, true};

	return n == 0 || ckfl_change(filter, &batch, error);
}
