/*
 * references.c - the paper's six filters as subjects.
 */
#include "subject.h"
#include "reference/bf.h"
#include "reference/blk_bf.h"
#include "reference/cf.h"
#include "reference/dl_cbf.h"
#include "reference/qf.h"
#include "reference/ss_cf.h"

#define REFERENCE(type)                                                                            \
	static void *type##_create_subject(uint64_t bytes)                                             \
	{                                                                                              \
		type *filter = malloc(sizeof(type));                                                       \
		if (filter != NULL && !type##_init(filter, bytes))                                         \
		{                                                                                          \
			free(filter);                                                                          \
			filter = NULL;                                                                         \
		}                                                                                          \
		return filter;                                                                             \
	}                                                                                              \
	static void type##_destroy_subject(void *filter)                                               \
	{                                                                                              \
		type##_free(filter);                                                                       \
		free(filter);                                                                              \
	}                                                                                              \
	static size_t type##_add_keys(void *filter, const uint64_t *keys, size_t n)                    \
	{                                                                                              \
		for (size_t i = 0; i < n; i++)                                                             \
			if (!type##_add(filter, keys[i]))                                                      \
				return i;                                                                          \
		return n;                                                                                  \
	}                                                                                              \
	static size_t type##_contains_keys(const void *filter, const uint64_t *keys, size_t n)         \
	{                                                                                              \
		size_t found = 0;                                                                          \
		for (size_t i = 0; i < n; i++)                                                             \
			found += type##_contains(filter, keys[i]);                                             \
		return found;                                                                              \
	}                                                                                              \
	static uint64_t type##_bytes_subject(const void *filter)                                       \
	{                                                                                              \
		return type##_bytes(filter);                                                               \
	}                                                                                              \
	static uint64_t type##_count_subject(const void *filter)                                       \
	{                                                                                              \
		return ((const type *)filter)->count;                                                      \
	}

#define REMOVAL(type)                                                                              \
	static size_t type##_remove_keys(void *filter, const uint64_t *keys, size_t n)                 \
	{                                                                                              \
		size_t found = 0;                                                                          \
		for (size_t i = 0; i < n; i++)                                                             \
			found += type##_remove(filter, keys[i]);                                               \
		return found;                                                                              \
	}

#define ROW(name, full, type, remove)                                                              \
	{                                                                                              \
		name, full, type##_create_subject, type##_destroy_subject, type##_add_keys,                \
			type##_contains_keys, NULL, remove, type##_bytes_subject, type##_count_subject         \
	}

/* clang-format off */
REFERENCE(cf)
REMOVAL(cf)
REFERENCE(ss_cf)
REMOVAL(ss_cf)
REFERENCE(bf)
REFERENCE(blk_bf)
REFERENCE(qf)
REMOVAL(qf)
REFERENCE(dl_cbf)
REMOVAL(dl_cbf)
/* clang-format on */

const subject references[REFERENCES] = {
	ROW("CF", FULL_CUCKOO, cf, cf_remove_keys),
	ROW("ss-CF", FULL_CUCKOO, ss_cf, ss_cf_remove_keys),
	ROW("BF", FULL_BLOOM, bf, NULL),
	ROW("blk-BF", FULL_BLOOM, blk_bf, NULL),
	ROW("QF", FULL_QUOTIENT, qf, qf_remove_keys),
	ROW("dl-CBF", FULL_D_LEFT, dl_cbf, dl_cbf_remove_keys),
};
