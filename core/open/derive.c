/*
 * derive.c - compute a filter's methods, masks and steps from its fields.  They are
 * stored in ckf_filter, so that no lookup computes them.
 */
#include "filter/geometry.h"
#include "filter/header.h"
#include "filter/methods.h"

/* Masks to compare several slots at once. */
static void
ckf_derive_lanes(ckf_filter *t)
{
	unsigned i;

	t->load_slots = t->b;
	if (t->methods->access == CKF_BY_SLOT)
		while (t->load_slots * t->f > 57) /* a load of 64 bits may begin 7 bits before them */
			t->load_slots /= 2;
	t->lanes = 0;
	for (i = 0; i < t->load_slots; i++)
		t->lanes |= UINT64_C(1) << (i * t->f);
	t->tops = t->lanes << (t->f - 1);
	t->upper_mask = t->lanes * (t->tag_mask >> 4);
	t->nibble_mask = t->lanes * (t->tag_mask & ~(t->tag_mask >> 4));
}

void
ckf_derive(ckf_filter *t)
{
	t->low_mask = (UINT64_C(1) << t->c) - 1;
	t->max_count = UINT64_MAX;
	t->deduplicated = (t->flags & CKF_FLAG_SET) != 0;
	t->rho_bits = (uint8_t)(t->w - t->g);
	t->bucket_bits = 0;
	t->inverse.reciprocal = 0;
	t->methods = &ckf_sorted_methods;
	if (t->encoding == CKF_HASHES)
		return;
	t->max_count = ckf_count_limit(t->w, t->fpr);
	if (t->encoding == CKF_PREFIXES)
		return;
	t->bucket_bits = ckf_bucket_bits(t->b, t->f, t->encoding == CKF_SEMI_SORTED);
	t->half_bits = (uint64_t)t->m * t->bucket_bits;
	t->prefix_shift = (uint8_t)(64 - t->w);
	t->rho_shift = (uint8_t)(64 - t->rho_bits);
	t->tag_mask = (UINT64_C(1) << t->f) - 1;
	t->full_count = ckf_full_count(t);
	t->golden = (CKF_GOLDEN >> (64 - t->rho_bits)) | 1;
	t->methods = ckf_table_methods(t);
	t->bucket_step = ckf_is_bytes(t->methods->access) ? t->bucket_bits / 8 : t->bucket_bits;
	t->half_step = (uint64_t)t->m * t->bucket_step;
	t->segment_step = 2 * t->half_step;
	ckf_derive_lanes(t);
}
