/*
 * owned.h - filters in memory of our own: copies, growth, rebuilds, results.
 */
#ifndef CKFP_OWNED_H
#define CKFP_OWNED_H

#include "host.h"

#include "cuckoofilter_host.h"

#pragma GCC visibility push(hidden)

/*
 * An owned filter is a ckf_filter over the data of a varlena of our own, which
 * ckfp_result hands over.
 */

/* PostgreSQL as the host of long operations: filters in the current memory context, other memory
 * in this one. */
typedef struct ckfp_host
{
	ckf_host host;
	MemoryContext context;
} ckfp_host;

ckfp_host ckfp_host_in(MemoryContext context);

/* An empty filter. */
void ckfp_create(const ckf_params *params, ckf_filter *owned);

/* That of an aggregate over no rows, which knows no parameters. */
void ckfp_create_no_rows(ckf_filter *owned);

/* A copy of a filter; one in hashes gets room for `more` of them. */
void ckfp_copy(const ckf_filter *filter, size_t more, ckf_filter *owned);

/* Run a rebuild of the engine; *owned is its result, and must not be an input.  b is NULL but
 * for goals of two filters. */
void ckfp_run(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *owned);

/* The same of up to CKF_MOST_INPUTS filters. */
void ckfp_run_many(ckf_goal goal, const ckf_filter *const *in, unsigned inputs, ckf_filter *owned);

/* The same into memory of the caller's, which has the size of the result. */
void ckfp_run_into(ckf_goal goal, const ckf_filter *a, void *bytes, size_t size);

/* The same; false where there is no precision left for the result. */
bool ckfp_try(ckf_goal goal, const ckf_filter *const *in, unsigned inputs, ckf_filter *owned);

/* What two filters have in common. */
void ckfp_compare(const ckf_filter *a, const ckf_filter *b, ckf_comparison *comparison);

/* Add a hash to a filter, which has to grow. */
void ckfp_add_on(ckf_filter *owned, uint64 hash, unsigned item_class);

/* Add the hash of an item of this class, growing where that needs room. */
static inline void
ckfp_add(ckf_filter *owned, uint64 hash, unsigned item_class)
{
	if (unlikely(ckf_add(owned, hash, item_class) != CKF_OK))
		ckfp_add_on(owned, hash, item_class);
}

/* Copy bytes of which there may be many, looking for interrupts. */
void ckfp_copy_bytes(void *to, const void *from, size_t size);

/* Change a filter by each hash of a list.  goal: CKF_ADD_MANY or CKF_REMOVE_MANY. */
void ckfp_change_each(ckf_goal goal, ckf_filter *owned, const ckf_list *list);

/* *owned is a filter changed by each hash of a list, one by one or by a rebuild. */
void ckfp_change_many(ckf_goal goal, const ckf_filter *filter, const ckf_list *list,
					  ckf_filter *owned);

/* *owned is a filter and the hashes of a collector that has settled, which took `items`. */
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

/* The value of a filter with one copy more of the hash of an item of this class, or with one
 * less, if there is one. */
Datum ckfp_with(const ckf_filter *filter, uint64 hash, unsigned item_class);
Datum ckfp_without(const ckf_filter *filter, uint64 hash);

#define CKFP_RETURN_OWNED(owned) PG_RETURN_POINTER(ckfp_result(owned))

#pragma GCC visibility pop

#endif
