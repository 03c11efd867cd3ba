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
	switch ((ckf_probe)t->probe)
	{
		case CKF_PROBE_HASHES:
			return ckf_hashes_add(t, hash);
		case CKF_PROBE_STATE:
			return ckf_collect_add(t, hash);
		case CKF_PROBE_PLAIN:
			return ckf_add_plain(t, hash);
#if defined(__x86_64__)
		case CKF_PROBE_SEMI_PDEP:
			return ckf_add_semi_pdep(t, hash);
#else
		case CKF_PROBE_SEMI_PDEP:
#endif
		case CKF_PROBE_SEMI:
			return ckf_add_semi(t, hash);
		case CKF_PROBE_WIDE:
			break;
	}
	return ckf_add_wide(t, hash);
}

ckf_status
ckf_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	*found = false;
	if (t->flags & (CKF_FLAG_SET | CKF_FLAG_STATE))
		return CKF_IS_SET;
	switch ((ckf_probe)t->probe)
	{
		case CKF_PROBE_STATE: /* no removal from states */
			break;
		case CKF_PROBE_HASHES:
			*found = ckf_hashes_remove(t, hash);
			break;
		case CKF_PROBE_PLAIN:
			*found = ckf_remove_plain(t, hash);
			break;
#if defined(__x86_64__)
		case CKF_PROBE_SEMI_PDEP:
			*found = ckf_remove_semi_pdep(t, hash);
			break;
#else
		case CKF_PROBE_SEMI_PDEP:
#endif
		case CKF_PROBE_SEMI:
			*found = ckf_remove_semi(t, hash);
			break;
		case CKF_PROBE_WIDE:
			*found = ckf_remove_wide(t, hash);
			break;
	}
	return CKF_OK;
}
