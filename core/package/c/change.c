/*
 * change.c - lookups, additions and removals, by items, pairs and hashes.
 */
#include "internal.h"

/* An item or a pair, hashed under the seed of the filter that is read or changed. */
typedef struct ckfl_hashed
{
	uint64_t hash;
	unsigned item_class; /* ckf_item_class */
} ckfl_hashed;

static ckfl_hashed
ckfl_item(const cuckoofilter *filter, cuckoofilter_item item)
{
	return (ckfl_hashed){cuckoofilter_hash(item, filter->filter.seed),
						 ckf_item_class_of(item.item_class)};
}

static ckfl_hashed
ckfl_pair(const cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_item value)
{
	return (ckfl_hashed){cuckoofilter_hash_pair(item, value, filter->filter.seed), CKF_ITEM_OTHER};
}

/* -------------------------------------------------------------- lookups */

bool
cuckoofilter_contains_hashes(const cuckoofilter *filter, const uint64_t *hashes, size_t n,
							 unsigned item_classes, uint8_t *out, cuckoofilter_error *error)
{
	if (!ckfl_may_hold(&filter->filter, item_classes, error))
		return false;
	ckf_contains_many(&filter->filter, hashes, n, out);
	return true;
}

static int
ckfl_contains(const cuckoofilter *filter, ckfl_hashed hashed, cuckoofilter_error *error)
{
	return ckfl_may_hold(&filter->filter, hashed.item_class, error)
			   ? ckf_contains(&filter->filter, hashed.hash)
			   : -1;
}

int
cuckoofilter_contains(const cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error)
{
	return ckfl_contains(filter, ckfl_item(filter, item), error);
}

int
cuckoofilter_contains_pair(const cuckoofilter *filter, cuckoofilter_item item,
						   cuckoofilter_item value, cuckoofilter_error *error)
{
	return ckfl_contains(filter, ckfl_pair(filter, item, value), error);
}

int
cuckoofilter_copies(const cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error)
{
	ckfl_hashed hashed = ckfl_item(filter, item);

	return ckfl_may_hold(&filter->filter, hashed.item_class, error)
			   ? (int)ckf_copies(&filter->filter, hashed.hash)
			   : -1;
}

/* ---------------------------------------------------------------- changes */

/* Add one hash in place. */
static bool
ckfl_add(cuckoofilter *filter, ckfl_hashed added, cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);

	return ckfl_may_hold(&filter->filter, added.item_class, error) &&
		   ckf_host_add(&host.host, &filter->filter, added.hash, added.item_class);
}

/* Remove one hash in place: 1, 0 or -1. */
static int
ckfl_remove(cuckoofilter *filter, ckfl_hashed removed, cuckoofilter_error *error)
{
	bool found = false;
	ckf_status status;

	if (!ckfl_may_hold(&filter->filter, removed.item_class, error))
		return -1;
	status = ckf_remove(&filter->filter, removed.hash, &found);
	if (status == CKF_OK)
		return found;
	ckfl_fail(error, status, (ckf_about){0});
	return -1;
}

bool
cuckoofilter_add(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error)
{
	return ckfl_add(filter, ckfl_item(filter, item), error);
}

bool
cuckoofilter_add_pair(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_item value,
					  cuckoofilter_error *error)
{
	return ckfl_add(filter, ckfl_pair(filter, item, value), error);
}

int
cuckoofilter_remove(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_error *error)
{
	return ckfl_remove(filter, ckfl_item(filter, item), error);
}

int
cuckoofilter_remove_pair(cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_item value,
						 cuckoofilter_error *error)
{
	return ckfl_remove(filter, ckfl_pair(filter, item, value), error);
}

/* Change a filter by each hash of a list; if that fails, the filter stays as it is. */
static bool
ckfl_change(cuckoofilter *filter, ckf_goal goal, const ckf_list *list, cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);
	ckf_filter changed;

	if (list->count == 1)
	{
		ckfl_hashed one = {list->hashes[0], list->item_classes};

		return goal == CKF_ADD_MANY ? ckfl_add(filter, one, error)
									: ckfl_remove(filter, one, error) >= 0;
	}
	if (!ckfl_may_hold(&filter->filter, list->item_classes, error))
		return false;
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
