/*
 * owned.h - filters in memory of the extension: copies, growth, rebuilds, results.
 */
#ifndef CKFP_OWNED_H
#define CKFP_OWNED_H

#include "host.h"

#include "cuckoofilter_host.h"

#pragma GCC visibility push(hidden)

/*
 * An owned filter is a ckf_filter whose bytes are in a varlena of the extension. ckfp_result
 * returns the varlena.
 */

/* PostgreSQL as the host of long operations: filters are allocated in the current memory context,
 * other memory in this one. */
typedef struct ckfp_host
{
	ckf_host host;
	MemoryContext context;
	bool huge; /* filters may be larger than a value */
} ckfp_host;

ckfp_host ckfp_host_in(MemoryContext context);

/* Make an empty filter. */
void ckfp_create(const ckf_params *params, ckf_filter *owned);

/* Make the result of an aggregate over no rows: the empty filter with default parameters. */
void ckfp_create_no_rows(ckf_filter *owned);

/* Copy a filter. If it is in hashes, the copy has room for `more` additional ones. */
void ckfp_copy(const ckf_filter *filter, size_t more, ckf_filter *owned);

/* Run a rebuild of the engine. Its result becomes *owned, which must not be an input. b is NULL
 * unless the goal needs two filters. */
void ckfp_run(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *owned);

/* Run a rebuild of up to CKF_MOST_INPUTS filters. */
void ckfp_run_many(ckf_goal goal, const ckf_filter *const *in, unsigned inputs, ckf_filter *owned);

/* Run a rebuild of one filter into memory of the caller, which has the size of the result. */
void ckfp_run_into(ckf_goal goal, const ckf_filter *a, void *bytes, size_t size);

/* Compare two filters. */
void ckfp_compare(const ckf_filter *a, const ckf_filter *b, ckf_comparison *comparison);

/* Add a hash to a filter that must grow. */
void ckfp_add_on(ckf_filter *owned, uint64 hash, unsigned item_class);

/* Add the hash of an item of this class. The filter grows if it must. */
static inline void
ckfp_add(ckf_filter *owned, uint64 hash, unsigned item_class)
{
	if (unlikely(ckf_add(owned, hash, item_class) != CKF_OK))
		ckfp_add_on(owned, hash, item_class);
}

/* Copy bytes, with checks for interrupts. */
void ckfp_copy_bytes(void *to, const void *from, size_t size);

/* Copy a filter and change it by each hash of a list, one by one or by a rebuild. */
void ckfp_change_many(ckf_goal goal, const ckf_filter *filter, const ckf_list *list,
					  ckf_filter *owned);

/* Copy a filter and add the hashes of a settled collector, which took `items`. */
void ckfp_add_collected(const ckf_filter *filter, const ckf_collector *collector, uint64 items,
						ckf_filter *owned);

/* The varlena of an owned filter. */
static inline struct varlena *
ckfp_result(const ckf_filter *owned)
{
	struct varlena *value = (struct varlena *)(owned->bytes - VARHDRSZ);

	SET_VARSIZE(value, VARHDRSZ + owned->size);
	return value;
}

/* The value of the filter with one more copy of the hash of an item of this class, or with one copy
 * less if there is one. */
Datum ckfp_with(const ckf_filter *filter, uint64 hash, unsigned item_class);
Datum ckfp_without(const ckf_filter *filter, uint64 hash);

#define CKFP_RETURN_OWNED(owned) PG_RETURN_POINTER(ckfp_result(owned))

#pragma GCC visibility pop

#endif
