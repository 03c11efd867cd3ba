/*
 * build.c - the filter of many items.
 */
#include "internal.h"

#include <stdlib.h>

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
		ckfl_fail(error, status, (ckf_about){.params = &params});
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
	ckf_hashes hashes = cuckoofilter_hashes(item, builder->collector.filter.seed);

	return cuckoofilter_build_add_hashes(builder, &hashes.hash, 1, ckfl_item_class(item, hashes),
										 error);
}

bool
cuckoofilter_build_add_pair(cuckoofilter_builder *builder, cuckoofilter_item item,
							cuckoofilter_item value, cuckoofilter_error *error)
{
	uint64_t seed = builder->collector.filter.seed;
	ckf_hashes pair =
		ckf_hashes_of_pair(cuckoofilter_hashes(item, seed), cuckoofilter_hashes(value, seed), seed);

	return cuckoofilter_build_add_hashes(builder, &pair.hash, 1,
										 CKF_ITEM_OTHER | ckf_decimal_class(pair), error);
}

bool
cuckoofilter_build_add_hashes(cuckoofilter_builder *builder, const uint64_t *hashes, size_t n,
							  unsigned item_classes, cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);
	size_t i;

	for (i = 0; i < n; i++)
		if (!ckf_host_collect(&host.host, &builder->collector, hashes[i], item_classes))
			return false;
	return true;
}

uint64_t
cuckoofilter_build_seed(const cuckoofilter_builder *builder)
{
	return builder->collector.filter.seed;
}

cuckoofilter *
cuckoofilter_build_end(cuckoofilter_builder *builder, cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);

	return ckf_host_settle(&host.host, &builder->collector)
			   ? ckfl_rebuild(CKF_FINISH, &builder->collector.filter, NULL, error)
			   : NULL;
}

void
cuckoofilter_build_free(cuckoofilter_builder *builder)
{
	ckfl_host host = ckfl_host_of(NULL);

	if (!builder)
		return;
	ckf_host_collect_end(&host.host, &builder->collector);
	free(builder);
}
