/*
 * slices.h - lookups in a large value in a TOAST table. They read a few slices of it instead of the
 * whole value.
 */
#ifndef CKFP_SLICES_H
#define CKFP_SLICES_H

#include "type/argument_cache.h"

/* A value that is read by slices, kept for the next call. */
typedef struct ckfp_slices
{
	ckf_filter filter; /* opened with only `header`; size 0: none */
	uint8_t header[CKF_HEADER_SIZE];
	struct varatt_external toast; /* the TOAST pointer of the value */
	Datum value;                  /* the Datum of this call */
	uint64 paid; /* the cost of its slices so far, as bytes of the whole value (slices.c) */
} ckfp_slices;

/* A filter for lookups. If `slices` is not NULL, only the header is in memory. */
typedef struct ckfp_filter_ref
{
	const ckf_filter *filter;
	ckfp_slices *slices;
} ckfp_filter_ref;

/*
 * Detoast or decompress a value, as ckfp_fetch does; or return NULL if slices are cheaper, because
 * the value is large and had few lookups. Then argument->slices is ready. Compressed values are
 * always fetched, since decompressing a slice needs all bytes before it.
 */
const struct varlena *ckfp_fetch_or_slice(ckfp_argument_cache *argument, struct varlena *value,
										  MemoryContext context);

/* Are slices for n more lookups still cheaper than the whole value? */
bool ckfp_slices_pay(const ckfp_slices *slices, size_t n);

/* The number of copies of n hashes, with `all_copies`; without it 0 if there is none, else 1 or
 * more. `copies` may be NULL. True if one has the wanted answer, unless `wanted` is NULL: then the
 * others may have got none. */
bool ckfp_slices_look_up(ckfp_slices *slices, const uint64 *hashes, size_t n, bool all_copies,
						 const bool *wanted, uint8 *copies);

/* The same of one hash. */
unsigned ckfp_slices_copies(ckfp_slices *slices, uint64 hash, bool all_copies);

/* Is a hash in the filter? */
static inline bool
ckfp_contains(ckfp_filter_ref lookup, uint64 hash)
{
	if (likely(lookup.slices == NULL))
		return ckf_contains(lookup.filter, hash);
	return ckfp_slices_copies(lookup.slices, hash, false) > 0;
}

/* The same of an item (ckf_contains_rounded). */
static inline bool
ckfp_contains_rounded(ckfp_filter_ref lookup, ckf_hashes item)
{
	unsigned forms = lookup.filter->number_forms;

	return ckf_is_decimal(item) &&
		   ((forms & CKF_FORM_ANY) ||
			((forms & CKF_FORM_ROUNDED) && ckfp_contains(lookup, item.rounded)));
}

/* Is an item in the filter? */
static inline bool
ckfp_contains_item(ckfp_filter_ref lookup, ckf_hashes item)
{
	return ckfp_contains(lookup, item.hash) || ckfp_contains_rounded(lookup, item);
}

/* How many copies of an item are in the filter? */
static inline unsigned
ckfp_copies(ckfp_filter_ref lookup, ckf_hashes item)
{
	unsigned copies;

	if (likely(lookup.slices == NULL))
		return ckf_copies_of_item(lookup.filter, item);
	copies = ckfp_slices_copies(lookup.slices, item.hash, true);
	if (ckf_is_decimal(item) && (lookup.filter->number_forms & CKF_FORM_ROUNDED))
		copies += ckfp_slices_copies(lookup.slices, item.rounded, true);
	if (copies == 0)
		return ckfp_contains_rounded(lookup, item);
	return Min(copies, 2U * lookup.filter->b);
}

#endif
