/*
 * filter.c - the public calls on one filter: each goes to the methods of its
 * encoding.
 */
#include "filter/header.h"
#include "filter/methods.h"

bool
ckf_contains(const ckf_filter *t, uint64_t hash)
{
	return t->methods->contains(t, hash);
}

size_t
ckf_contains_many(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	size_t found = 0;
	size_t i;

	if (t->methods->contains_many)
		return t->methods->contains_many(t, hashes, n, out);
	for (i = 0; i < n; i++)
	{
		bool in = ckf_contains(t, hashes[i]);

		found += in;
		if (out)
			out[i] = in;
	}
	return found;
}

unsigned
ckf_copies(const ckf_filter *t, uint64_t hash)
{
	return t->methods->copies(t, hash);
}

bool
ckf_contains_rounded(const ckf_filter *t, uint64_t rounded)
{
	return (t->number_forms & CKF_FORM_ANY) ||
		   ((t->number_forms & CKF_FORM_ROUNDED) && ckf_contains(t, rounded));
}

bool
ckf_contains_item(const ckf_filter *t, ckf_hashes item)
{
	return ckf_contains(t, item.hash) ||
		   (ckf_is_decimal(item) && ckf_contains_rounded(t, item.rounded));
}

unsigned
ckf_copies_of_item(const ckf_filter *t, ckf_hashes item)
{
	unsigned copies = ckf_copies(t, item.hash);

	if (ckf_is_decimal(item) && (t->number_forms & CKF_FORM_ROUNDED))
		copies += ckf_copies(t, item.rounded);
	if (copies == 0)
		return ckf_is_decimal(item) && (t->number_forms & CKF_FORM_ANY);
	return copies < 2U * t->b ? copies : 2U * t->b;
}

ckf_status
ckf_lookup_start(ckf_lookup_cursor *lookup, const ckf_filter *t, uint64_t hash, bool all_copies)
{
	memset(lookup, 0, sizeof *lookup);
	lookup->hash = hash;
	lookup->all_copies = all_copies;
	return t->methods->lookup_start(t, lookup);
}

ckf_status
ckf_lookup_step(ckf_lookup_cursor *lookup, const ckf_filter *t, const void *bytes, size_t size)
{
	if (size < lookup->size)
		return CKF_BAD_BYTES;
	return t->methods->lookup_step(t, lookup, bytes);
}

/* An add that also changes the header: the first item of a class, the first change of a filter of
 * an older version, or CKF_ITEM_DECIMAL. */
static CKF_OUTLINE ckf_status
ckf_add_first(ckf_filter *t, uint64_t hash, unsigned item_classes)
{
	ckf_status status = t->methods->add(t, hash);

	if (status == CKF_OK)
		ckf_set_item_classes(t, t->item_classes | item_classes);
	return status;
}

ckf_status
ckf_add(ckf_filter *t, uint64_t hash, unsigned item_classes)
{
	if (CKF_UNLIKELY((item_classes & ~(unsigned)t->item_classes) != 0 ||
					 t->format < CKF_FORMAT_VERSION))
		return ckf_add_first(t, hash, item_classes);
	return t->methods->add(t, hash);
}

ckf_status
ckf_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	ckf_status status;

	*found = false;
	if (t->flags & CKF_FLAG_SET)
		return CKF_IS_SET;
	status = t->methods->remove(t, hash, found);
	if (!*found || CKF_LIKELY(t->count > 0 && t->format >= CKF_FORMAT_VERSION))
		return status;
	t->format = CKF_FORMAT_VERSION;
	ckf_set_item_classes(t, t->count > 0 ? t->item_classes : 0);
	return status;
}

ckf_status
ckf_remove_item(ckf_filter *t, ckf_hashes item, bool *found)
{
	*found = false;
	if (ckf_is_decimal(item) && ckf_contains_rounded(t, item.rounded))
		return t->flags & CKF_FLAG_SET ? CKF_IS_SET : CKF_OK;
	return ckf_remove(t, item.hash, found);
}
