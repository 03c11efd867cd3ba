/*
 * filter.c - filters in memory of malloc: create, open, copy, tell.
 */
#include "internal.h"

#include "messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
cuckoofilter_version(void)
{
	return CKF_VERSION;
}

ckf_hashes
cuckoofilter_hashes(cuckoofilter_item item, uint64_t seed)
{
	ckf_hashes hashes;

	switch (item.item_class)
	{
		case CKF_CLASS_REAL:
			hashes.hash = ckf_hash_real(item.real, seed);
			break;
		case CKF_CLASS_TEXT:
		case CKF_CLASS_BYTES:
			hashes.hash = ckf_hash_bytes(item.item_class, item.bytes, item.size, seed);
			break;
		case CKF_CLASS_DECIMAL:
			if (ckf_hash_decimal(item.bytes, item.size, seed, &hashes))
				return hashes;
			hashes.hash = ckf_hash_real(NAN, seed);
			break;
		default:
			hashes.hash = ckf_hash_word(item.item_class, (uint64_t)item.word, seed);
	}
	hashes.rounded = hashes.hash;
	return hashes;
}

unsigned
ckfl_item_class(cuckoofilter_item item, ckf_hashes hashes)
{
	return item.item_class == CKF_CLASS_DECIMAL ? CKF_ITEM_NUMBER | ckf_decimal_class(hashes)
												: ckf_item_class_of(item.item_class);
}

uint64_t
cuckoofilter_hash(cuckoofilter_item item, uint64_t seed)
{
	return cuckoofilter_hashes(item, seed).hash;
}

uint64_t
cuckoofilter_hash_pair(cuckoofilter_item item, cuckoofilter_item value, uint64_t seed)
{
	return ckf_hash_pair(cuckoofilter_hash(item, seed), cuckoofilter_hash(value, seed), seed);
}

int32_t
cuckoofilter_part(cuckoofilter_item item, int64_t parts, cuckoofilter_error *error)
{
	if (parts >= 1 && parts <= CKF_MOST_PARTS)
		return (int32_t)ckf_part(cuckoofilter_hash(item, 0), (uint32_t)parts);
	ckfl_say(error, CUCKOOFILTER_BAD_PARAMETER, "", CKF_SAY_BAD_PARTS, CKF_MOST_PARTS,
			 (long long)parts);
	return -1;
}

void *
ckfl_allocate(size_t size, cuckoofilter_error *error)
{
	void *memory = malloc(size > 0 ? size : 1);

	if (!memory)
		ckfl_say(error, CUCKOOFILTER_NO_MEMORY, "", "out of memory");
	return memory;
}

bool
ckfl_params(ckf_params *params, int64_t capacity, double fpr, const char *options,
			cuckoofilter_error *error)
{
	ckf_about about = {.params = params};
	ckf_status status;

	ckf_params_default(params);
	params->capacity = capacity;
	params->fpr = fpr;
	if (!options)
		return true;
	status = ckf_params_parse(params, options, strlen(options), &about.option, &about.option_size);
	if (status != CKF_OK)
		ckfl_fail(error, status, about);
	return status == CKF_OK;
}

/* A filter of a copy of these bytes, of which only the header is validated. */
static cuckoofilter *
ckfl_filter_of(const void *bytes, size_t size, cuckoofilter_error *error)
{
	cuckoofilter *filter = ckfl_allocate(sizeof *filter, error);
	uint8_t *copy = filter ? ckfl_allocate(size, error) : NULL;
	ckf_status status;

	if (copy)
	{
		if (size > 0)
			memcpy(copy, bytes, size);
		status = ckf_open(&filter->filter, copy, size, CKF_STORED);
		if (status == CKF_OK)
			return filter;
		ckfl_fail(error, status, (ckf_about){0});
	}
	free(copy);
	free(filter);
	return NULL;
}

cuckoofilter *
cuckoofilter_create(int64_t capacity, double fpr, const char *options, cuckoofilter_error *error)
{
	uint8_t header[CKF_HEADER_SIZE];
	ckf_params params;
	ckf_status status;

	if (!ckfl_params(&params, capacity, fpr, options, error))
		return NULL;
	status = ckf_create(&params, header);
	if (status == CKF_OK)
		return ckfl_filter_of(header, sizeof header, error);
	ckfl_fail(error, status, (ckf_about){.params = &params});
	return NULL;
}

cuckoofilter *
cuckoofilter_open(const void *bytes, size_t size, cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);
	/* a copy first, so that the bytes that are validated stay as they are */
	cuckoofilter *filter = ckfl_filter_of(bytes, size, error);
	ckf_status status = filter ? ckf_host_check(&host.host, &filter->filter) : CKF_MORE;

	if (status == CKF_OK)
		return filter;
	if (status != CKF_MORE) /* CKF_MORE: interrupted, which has been reported */
		ckfl_fail(error, status, (ckf_about){0});
	cuckoofilter_free(filter);
	return NULL;
}

cuckoofilter *
cuckoofilter_copy(const cuckoofilter *filter, cuckoofilter_error *error)
{
	return ckfl_filter_of(filter->filter.bytes, filter->filter.size, error);
}

void
cuckoofilter_free(cuckoofilter *filter)
{
	if (!filter)
		return;
	free(filter->filter.bytes);
	free(filter);
}

const void *
cuckoofilter_data(const cuckoofilter *filter, size_t *size)
{
	*size = filter->filter.size;
	return filter->filter.bytes;
}

const ckf_filter *
cuckoofilter_engine(const cuckoofilter *filter)
{
	return &filter->filter;
}

uint64_t
cuckoofilter_count(const cuckoofilter *filter)
{
	return ckf_items(&filter->filter);
}

double
cuckoofilter_fpr(const cuckoofilter *filter)
{
	return ckf_fpr(&filter->filter);
}

void
cuckoofilter_info(const cuckoofilter *filter, ckf_info *info)
{
	ckf_get_info(&filter->filter, info);
}
