/*
 * change.c - lookups, additions and removals, by items, pairs and hashes.
 */
#include "internal.h"

/* An item or a pair, hashed under the seed of the filter that is read or changed. */
typedef struct ckfl_hashed
{
	ckf_hashes hashes;
	unsigned item_class; /* ckf_item_class */
} ckfl_hashed;

static ckfl_hashed
ckfl_item(const cuckoofilter *filter, cuckoofilter_item item)
{
	ckf_hashes hashes = cuckoofilter_hashes(item, filter->filter.seed);

	return (ckfl_hashed){hashes, ckfl_item_class(item, hashes)};
}

static ckfl_hashed
ckfl_pair(const cuckoofilter *filter, cuckoofilter_item item, cuckoofilter_item value)
{
	uint64_t seed = filter->filter.seed;
	ckf_hashes pair =
		ckf_hashes_of_pair(cuckoofilter_hashes(item, seed), cuckoofilter_hashes(value, seed), seed);

	return (ckfl_hashed){pair, CKF_ITEM_OTHER | ckf_decimal_class(pair)};
}

/* -------------------------------------------------------------- lookups */

bool
cuckoofilter_contains_both(const cuckoofilter *filter, const uint64_t *hashes,
						   const uint64_t *rounded, size_t n, unsigned item_classes, uint8_t *out,
						   cuckoofilter_error *error)
{
	size_t i;

	if (!ckfl_may_hold(&filter->filter, item_classes, error))
		return false;
	ckf_contains_many(&filter->filter, hashes, n, out);
	for (i = 0; rounded && (item_classes & CKF_ITEM_DECIMAL) && i < n; i++)
		if (!out[i] && hashes[i] != rounded[i])
			out[i] = ckf_contains_rounded(&filter->filter, rounded[i]);
	return true;
}

bool
cuckoofilter_contains_hashes(const cuckoofilter *filter, const uint64_t *hashes, size_t n,
							 unsigned item_classes, uint8_t *out, cuckoofilter_error *error)
{
	return cuckoofilter_contains_both(filter, hashes, NULL, n, item_classes, out, error);
}

static int
ckfl_contains(const cuckoofilter *filter, ckfl_hashed hashed, cuckoofilter_error *error)
{
	return ckfl_may_hold(&filter->filter, hashed.item_class, error)
			   ? ckf_contains_item(&filter->filter, hashed.hashes)
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
			   ? (int)ckf_copies_of_item(&filter->filter, hashed.hashes)
			   : -1;
}

/* ---------------------------------------------------------------- changes */

/* Add one hash in place. */
static bool
ckfl_add(cuckoofilter *filter, ckfl_hashed added, cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);

	return ckfl_may_hold(&filter->filter, added.item_class, error) &&
		   ckf_host_add(&host.host, &filter->filter, added.hashes.hash, added.item_class);
}

/* Remove one hash in place: 1, 0 or -1. */
static int
ckfl_remove(cuckoofilter *filter, ckfl_hashed removed, cuckoofilter_error *error)
{
	bool found = false;
	ckf_status status;

	if (!ckfl_may_hold(&filter->filter, removed.item_class, error))
		return -1;
	status = ckf_remove_item(&filter->filter, removed.hashes, &found);
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
ckfl_change(cuckoofilter *filter, ckf_operation operation, const ckf_list *list,
			cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);
	ckf_filter changed;

	if (list->count == 1)
	{
		ckfl_hashed one = {{list->hashes[0], list->rounded ? list->rounded[0] : list->hashes[0]},
						   list->item_classes};

		return operation == CKF_ADD_MANY ? ckfl_add(filter, one, error)
										 : ckfl_remove(filter, one, error) >= 0;
	}
	if (!ckfl_may_hold(&filter->filter, list->item_classes, error))
		return false;
	if (!ckf_host_change(&host.host, operation, &filter->filter, list, &changed))
		return false;
	ckf_host_free(&host.host, &filter->filter);
	filter->filter = changed;
	return true;
}

bool
cuckoofilter_add_hashes(cuckoofilter *filter, const uint64_t *hashes, size_t n,
						unsigned item_classes, cuckoofilter_error *error)
{
	ckf_list list = {hashes, NULL, n, item_classes};

	return n == 0 || ckfl_change(filter, CKF_ADD_MANY, &list, error);
}

bool
cuckoofilter_remove_both(cuckoofilter *filter, const uint64_t *hashes, const uint64_t *rounded,
						 size_t n, unsigned item_classes, cuckoofilter_error *error)
{
	ckf_list list = {hashes, rounded, n, item_classes};

	return n == 0 || ckfl_change(filter, CKF_REMOVE_MANY, &list, error);
}

bool
cuckoofilter_remove_hashes(cuckoofilter *filter, const uint64_t *hashes, size_t n,
						   unsigned item_classes, cuckoofilter_error *error)
{
	return cuckoofilter_remove_both(filter, hashes, NULL, n, item_classes, error);
}
