/*
 * build.c - the filter of many items, and collectors in memory of malloc.
 */
#include "internal.h"

#include <stdlib.h>

/* ------------------------------------------------------------- collectors */

static void
ckfl_free_spent(ckf_collector *collector)
{
	void *block;

	while ((block = ckf_collect_spent(collector)) != NULL)
		free(block);
}

bool
ckfl_collect_room(ckf_collector *collector, cuckoofilter_error *error)
{
	ckf_status status;

	while ((status = ckf_collect_step(collector)) == CKF_MORE || status == CKF_ROOM)
	{
		ckfl_free_spent(collector);
		if (status == CKF_ROOM)
		{
			void *block = ckfl_allocate(collector->block_size, error);

			if (!block)
				return false;
			ckf_collect_give(collector, block, collector->block_size);
		}
		else if (ckfl_interrupted(error))
			return false;
	}
	ckfl_free_spent(collector);
	if (status != CKF_OK)
		ckfl_fail(error, status, (ckfl_subject){0});
	return status == CKF_OK;
}

bool
ckfl_collect(ckf_collector *collector, const uint64_t *hashes, size_t n, unsigned item_classes,
			 cuckoofilter_error *error)
{
	size_t i;

	for (i = 0; i < n; i++)
		while (!ckf_collect(collector, hashes[i], item_classes))
			if (!ckfl_collect_room(collector, error))
				return false;
	return true;
}

bool
ckfl_collect_settle(ckf_collector *collector, cuckoofilter_error *error)
{
	ckf_collect_settle(collector);
	return ckfl_collect_room(collector, error);
}

void
ckfl_collect_end(ckf_collector *collector)
{
	ckf_collect_end(collector);
	ckfl_free_spent(collector);
}

/* --------------------------------------------------------------- builders */

struct cuckoofilter_builder
{
	ckf_collector collector;
};

cuckoofilter_builder *
cuckoofilter_build(double fpr, int64_t capacity, const char *options, cuckoofilter_error *error)
{
	uint8_t state[CKF_HEADER_SIZE];
	cuckoofilter_builder *builder;
	ckf_filter filter;
	ckf_params params;
	ckf_status status;

	if (!ckfl_params(&params, capacity, fpr, options, error))
		return NULL;
	status = ckf_create_state(&params, state);
	if (status == CKF_OK)
		status = ckf_open(&filter, state, sizeof state, CKF_STATE);
	if (status != CKF_OK)
	{
		ckfl_fail(error, status, (ckfl_subject){.params = &params});
		return NULL;
	}
	builder = ckfl_allocate(sizeof *builder, error);
	if (builder)
		ckf_collect_start(&builder->collector, &filter, 1);
	return builder;
}

bool
cuckoofilter_build_add(cuckoofilter_builder *builder, cuckoofilter_item item,
					   cuckoofilter_error *error)
{
	uint64_t hash = cuckoofilter_hash(item, builder->collector.filter.seed);

	return ckfl_collect(&builder->collector, &hash, 1, ckf_item_class_of(item.item_class), error);
}

bool
cuckoofilter_build_add_hashes(cuckoofilter_builder *builder, const uint64_t *hashes, size_t n,
							  unsigned item_classes, cuckoofilter_error *error)
{
	return ckfl_collect(&builder->collector, hashes, n, item_classes, error);
}

uint64_t
cuckoofilter_build_seed(const cuckoofilter_builder *builder)
{
	return builder->collector.filter.seed;
}

cuckoofilter *
cuckoofilter_build_end(cuckoofilter_builder *builder, cuckoofilter_error *error)
{
	cuckoofilter *filter;

	if (!ckfl_collect_settle(&builder->collector, error))
		return NULL;
	filter = ckfl_allocate(sizeof *filter, error);
	if (filter &&
		!ckfl_rebuild(CKF_FINISH, &builder->collector.filter, NULL, &filter->filter, error))
	{
		free(filter);
		filter = NULL;
	}
	return filter;
}

void
cuckoofilter_build_free(cuckoofilter_builder *builder)
{
	if (!builder)
		return;
	ckfl_collect_end(&builder->collector);
	free(builder);
}
