/*
 * owned.h - filters in memory of the extension: copies, growth, rebuilds, results.
 */
#ifndef CKFP_OWNED_H
#define CKFP_OWNED_H

#include "host.h"

#include "cuckoofilter_host.h"

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

/* The same for calls of cuckoofilter_host.h: a host that exists until the end of the block. Its
 * errors leave the call, so the results of these calls are not used. */
#define CKFP_HOST_IN(context) (&(ckfp_host[1]) { ckfp_host_in(context) } -> host)
#define CKFP_HOST CKFP_HOST_IN(CurrentMemoryContext)

/* Take a hash of an item of this class into a collector, whose blocks come from a context. */
static inline void
ckfp_collect(ckf_collector *collector, MemoryContext context, uint64 hash, unsigned item_class)
{
	while (unlikely(!ckf_collect(collector, hash, item_class)))
		(void)ckf_host_make_room(CKFP_HOST_IN(context), collector);
}

/* The value of an empty filter. */
Datum ckfp_create(const ckf_params *params);

/* The result of an aggregate over no rows: the empty filter with default parameters. */
Datum ckfp_create_no_rows(void);

/* The varlena of an owned filter. */
static inline struct varlena *
ckfp_result(const ckf_filter *owned)
{
	struct varlena *value = (struct varlena *)(owned->bytes - VARHDRSZ);

	SET_VARSIZE(value, VARHDRSZ + owned->size);
	return value;
}

/* The value of the filter with one more copy of the hash of an item of this class, or with one copy
 * of an item less if there is one. */
Datum ckfp_with(const ckf_filter *filter, uint64 hash, unsigned item_class);
Datum ckfp_without(const ckf_filter *filter, ckf_hashes item);

/* The value of the rebuild of a and b, or of a alone (b is NULL). */
Datum ckfp_rebuilt(ckf_operation operation, const ckf_filter *a, const ckf_filter *b);

#define CKFP_RETURN_OWNED(owned) PG_RETURN_POINTER(ckfp_result(owned))

#endif
