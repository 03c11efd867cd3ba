/*
 * change.c - questions, additions and removals, by items and by hashes.
 */
#include "internal.h"

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
	ckfl_host host = ckfl_host_of(error);

	return ckf_host_add(&host.host, &filter->filter, hash, item_class);
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

/* Change a filter by each hash of a list; if that fails, the filter stays as it is. */
static bool
ckfl_change(cuckoofilter *filter, ckf_goal goal, const ckf_list *list, cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);
	ckf_filter changed;

	if (!ckfl_may_hold(&filter->filter, list->item_classes, error))
		return false;
	if (list->count == 1)
		return goal == CKF_ADD_MANY
				   ? ckfl_add_one(filter, list->hashes[0], list->item_classes, error)
				   : ckfl_remove_one(filter, list->hashes[0], error) >= 0;
	if (!ckf_host_change(&host.host, goal, &filter->filter, list, &changed))
		return false;
	ckf_host_free(&host.host, &filter->filter);
	filter->filter = changed;
	return true;
}

bool
cuckoofilter_add_hashes(cuckoofilter *filter, const uint64_t *hashes, size_t n,
						unsigned item_classes, cuckoofilter_error *error)
{
	ckf_list list = {hashes, n, item_classes};

	return n == 0 || ckfl_change(filter, CKF_ADD_MANY, &list, error);
}

bool
cuckoofilter_remove_hashes(cuckoofilter *filter, const uint64_t *hashes, size_t n,
						   unsigned item_classes, cuckoofilter_error *error)
{
	ckf_list list = {hashes, n, item_classes};

	return n == 0 || ckfl_change(filter, CKF_REMOVE_MANY, &list, error);
}
