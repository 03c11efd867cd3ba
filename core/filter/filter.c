/*
 * filter.c - the public calls on one filter: each goes to the operations of its
 * encoding.
 */
#include "filter/header.h"
#include "filter/operations.h"

bool
ckf_contains(const ckf_filter *t, uint64_t hash)
{
	return t->operations->contains(t, hash);
}

size_t
ckf_contains_many(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	size_t found = 0;
	size_t i;

	if (t->operations->contains_many)
		return t->operations->contains_many(t, hashes, n, out);
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
	return t->operations->copies ? t->operations->copies(t, hash) : 0; /* a state is not asked */
}

ckf_status
ckf_add(ckf_filter *t, uint64_t hash)
{
	return t->operations->add(t, hash);
}

ckf_status
ckf_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	*found = false;
	if (t->flags & (CKF_FLAG_SET | CKF_FLAG_STATE))
		return CKF_IS_SET;
	return t->operations->remove(t, hash, found);
}
