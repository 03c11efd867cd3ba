/*
 * filter.c - the public calls on one filter, handed to its encoding.
 */
#include "internal.h"

unsigned
ckf_copies(const ckf_filter *t, uint64_t hash)
{
	if (ckf_is_table(t))
		return ckf_table_copies(t, hash);
	return t->encoding == CKF_HASHES ? ckf_hashes_copies(t, hash) : ckf_collect_copies(t, hash);
}

ckf_status
ckf_add(ckf_filter *t, uint64_t hash)
{
	if (t->encoding == CKF_COLLECTING)
		return ckf_collect_add(t, hash);
	return ckf_is_table(t) ? ckf_table_add(t, hash) : ckf_hashes_add(t, hash);
}

ckf_status
ckf_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	*found = false;
	if (t->flags & CKF_FLAG_SET)
		return CKF_IS_SET;
	*found = ckf_is_table(t) ? ckf_table_remove(t, hash) : ckf_hashes_remove(t, hash);
	return CKF_OK;
}
