/*
 * filter_ref.h - a filter argument for lookups: in memory, or read by slices.
 */
#ifndef CKFP_FILTER_REF_H
#define CKFP_FILTER_REF_H

#include "type/slices.h"

/* A filter for lookups. If `slices` is not NULL, only the header is in memory. */
typedef struct ckfp_filter_ref
{
	const ckf_filter *filter;
	ckfp_slices *slices;
} ckfp_filter_ref;

/* Is a hash in the filter? */
static inline bool
ckfp_contains(ckfp_filter_ref ref, uint64 hash)
{
	if (likely(ref.slices == NULL))
		return ckf_contains(ref.filter, hash);
	return ckfp_slices_copies(ref.slices, hash, false) > 0;
}

/* The same of an item (ckf_contains_rounded). */
static inline bool
ckfp_contains_rounded(ckfp_filter_ref ref, ckf_hashes item)
{
	unsigned forms = ref.filter->number_forms;

	return ckf_is_decimal(item) && ((forms & CKF_FORM_ANY) || ((forms & CKF_FORM_ROUNDED) &&
															   ckfp_contains(ref, item.rounded)));
}

/* Is an item in the filter? */
static inline bool
ckfp_contains_item(ckfp_filter_ref ref, ckf_hashes item)
{
	return ckfp_contains(ref, item.hash) || ckfp_contains_rounded(ref, item);
}

/* How many copies of an item are in the filter? */
static inline unsigned
ckfp_copies(ckfp_filter_ref ref, ckf_hashes item)
{
	unsigned copies;

	if (likely(ref.slices == NULL))
		return ckf_copies_of_item(ref.filter, item);
	copies = ckfp_slices_copies(ref.slices, item.hash, true);
	if (ckf_is_decimal(item) && (ref.filter->number_forms & CKF_FORM_ROUNDED))
		copies += ckfp_slices_copies(ref.slices, item.rounded, true);
	if (copies == 0)
		return ckfp_contains_rounded(ref, item);
	return Min(copies, 2U * ref.filter->b);
}

#endif
