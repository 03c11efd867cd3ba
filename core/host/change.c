/*
 * change.c - add and remove hashes, one by one or through a collector, in memory of the host.
 */
#include "cuckoofilter_host.h"

/* -------------------------------------------------------------- one by one */

/* Items that are added one by one, and the filter before them; NULL: not as a batch. */
typedef struct ckf_batch
{
	const ckf_filter *before;
	uint64_t more;
} ckf_batch;

static bool
ckf_grow(ckf_host *host, ckf_batch batch, ckf_filter *owned)
{
	const ckf_filter *in = owned;
	ckf_task task = {
		.operation = CKF_GROW, .in = &in, .inputs = 1, .before = batch.before, .more = batch.more};
	ckf_filter result;

	if (!ckf_host_run(host, &task, &result))
		return false;
	ckf_host_free(host, owned);
	*owned = result;
	return true;
}

static bool
ckf_add_of_batch(ckf_host *host, ckf_batch batch, ckf_filter *owned, uint64_t hash,
				 unsigned item_classes)
{
	ckf_status status;

	while ((status = ckf_add(owned, hash, item_classes)) == CKF_ROOM)
		if (!ckf_grow(host, batch, owned))
			return false;
	if (status != CKF_OK)
		host->report(host, status, (ckf_about){.filter = owned});
	return status == CKF_OK;
}

bool
ckf_host_add(ckf_host *host, ckf_filter *owned, uint64_t hash, unsigned item_classes)
{
	return ckf_add_of_batch(host, (ckf_batch){NULL, 0}, owned, hash, item_classes);
}

/* The hashes of item i of a list. */
static ckf_hashes
ckf_listed(const ckf_list *list, size_t i)
{
	return (ckf_hashes){list->hashes[i], list->rounded ? list->rounded[i] : list->hashes[i]};
}

static bool
ckf_host_remove(ckf_host *host, ckf_filter *owned, ckf_hashes item)
{
	bool found;
	ckf_status status = ckf_remove_item(owned, item, &found);

	if (status != CKF_OK)
		host->report(host, status, (ckf_about){.filter = owned});
	return status == CKF_OK;
}

static bool
ckf_change_each(ckf_host *host, ckf_operation operation, ckf_batch batch, ckf_filter *owned,
				const ckf_list *list)
{
	bool ok = true;
	size_t i;

	/* each change moves half of the sorted hashes on average, so check for interrupts at each
	 * one */
	for (i = 0; ok && i < list->count; i++)
		ok = (operation == CKF_ADD_MANY
				  ? ckf_add_of_batch(host, batch, owned, list->hashes[i], list->item_classes)
				  : ckf_host_remove(host, owned, ckf_listed(list, i))) &&
			 !host->stops(host);
	if (!ok)
		ckf_host_free(host, owned);
	return ok;
}

bool
ckf_host_change_each(ckf_host *host, ckf_operation operation, ckf_filter *owned,
					 const ckf_list *list)
{
	return ckf_change_each(host, operation, (ckf_batch){NULL, 0}, owned, list);
}

/* ------------------------------------------------------------- collectors */

static void
ckf_free_spent(ckf_host *host, ckf_collector *collector)
{
	void *block;

	while ((block = ckf_collect_spent(collector)) != NULL)
		host->renew(host, block, 0, NULL);
}

bool
ckf_host_make_room(ckf_host *host, ckf_collector *collector)
{
	ckf_status status;

	while ((status = ckf_collect_step(collector)) == CKF_MORE || status == CKF_ROOM)
	{
		ckf_free_spent(host, collector);
		if (status == CKF_ROOM)
		{
			void *block = host->renew(host, NULL, collector->block_size, NULL);

			if (!block)
				return false;
			ckf_collect_give(collector, block, collector->block_size);
		}
		if (host->stops(host))
			return false;
	}
	ckf_free_spent(host, collector);
	if (status != CKF_OK)
		host->report(host, status, (ckf_about){0});
	return status == CKF_OK;
}

bool
ckf_host_collect_filter(ckf_host *host, ckf_collector *collector, const ckf_filter *in)
{
	ckf_status status;

	if (!ckf_host_make_room(host, collector))
		return false;
	status = ckf_collect_filter(collector, in);
	if (status != CKF_OK)
		host->report(host, status, (ckf_about){.filter = &collector->filter, .other = in});
	return status == CKF_OK && ckf_host_make_room(host, collector);
}

bool
ckf_host_settle(ckf_host *host, ckf_collector *collector)
{
	ckf_collect_settle(collector);
	return ckf_host_make_room(host, collector);
}

void
ckf_host_collect_end(ckf_host *host, ckf_collector *collector)
{
	ckf_collect_end(collector);
	ckf_free_spent(host, collector);
}

/* ------------------------------------------------------------------- many */

/* Whether to change a filter by n items one by one: this costs less than a rebuild, which can be
 * refused before an item is added. */
static bool
ckf_one_by_one(const ckf_filter *filter, ckf_operation operation, uint64_t n)
{
	return ckf_few(filter, n) &&
		   (operation != CKF_ADD_MANY || n == 1 || filter->count + n <= filter->max_count);
}

bool
ckf_host_add_collected(ckf_host *host, const ckf_filter *filter, const ckf_collector *collector,
					   uint64_t items, ckf_filter *result)
{
	const ckf_filter *collected = &collector->filter;
	bool decimals = (collected->number_forms & CKF_FORM_EXACT) != 0;
	ckf_list list = {.item_classes =
						 collected->item_classes | (decimals ? (unsigned)CKF_ITEM_DECIMAL : 0)};
	uint64_t at = 0;

	if (!ckf_one_by_one(filter, CKF_ADD_MANY, items))
		return ckf_host_build(host, CKF_ADD_MANY, filter, &collector->filter, result);
	if (!ckf_host_copy(host, filter, (size_t)collector->filter.count, result))
		return false;
	for (; (list.hashes = ckf_collected(collector, at, &list.count)) != NULL; at += list.count)
		if (!ckf_change_each(host, CKF_ADD_MANY, (ckf_batch){filter, items}, result, &list))
			return false;
	return true;
}

/* Whether a removal leaves an item in (ckf_remove_item). */
static bool
ckf_keeps(const ckf_filter *filter, ckf_hashes item)
{
	return ckf_is_decimal(item) && ckf_contains_rounded(filter, item.rounded);
}

bool
ckf_host_change(ckf_host *host, ckf_operation operation, const ckf_filter *filter,
				const ckf_list *list, ckf_filter *result)
{
	ckf_collector collector;
	bool ok = true;
	size_t i;

	if (ckf_one_by_one(filter, operation, list->count))
		return ckf_host_copy(host, filter, operation == CKF_ADD_MANY ? list->count : 0, result) &&
			   ckf_change_each(host, operation, (ckf_batch){filter, list->count}, result, list);
	ckf_collect_start(&collector, filter, CKF_MOST_COPIES);
	for (i = 0; ok && i < list->count; i++)
		ok = (operation == CKF_REMOVE_MANY && ckf_keeps(filter, ckf_listed(list, i))) ||
			 ckf_host_collect(host, &collector, list->hashes[i], list->item_classes);
	ok = ok && ckf_host_settle(host, &collector) &&
		 ckf_host_build(host, operation, filter, &collector.filter, result);
	ckf_host_collect_end(host, &collector);
	return ok;
}
