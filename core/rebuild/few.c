/*
 * few.c - cases in which a rebuild costs more than it saves.  ckf_few tells a host to add or remove
 * a few items one by one.  ckf_merge_few merges small filters, of which GROUP BY makes millions, in
 * place.
 */
#include "filter/header.h"
#include "filter/methods.h"
#include "rebuild/operation.h"
#include "thresholds.h"

bool
ckf_few(const ckf_filter *t, uint64_t n)
{
	return n <= t->count / CKF_FEW_SHARE;
}

/* Whether both filters are in hashes, fit into the first one's room without becoming a table, and
 * are so small that no check for interrupts is needed. */
static bool
ckf_fits_in_place(const ckf_filter *t, const ckf_filter *in)
{
	return t->encoding == CKF_HASHES && in->encoding == CKF_HASHES &&
		   t->count + in->count <= CKF_FEW_WORDS && t->count + in->count <= CKF_MAX_HASHES &&
		   t->room - t->size >= 8 * in->count;
}

ckf_status
ckf_merge_few(ckf_filter *t, const ckf_filter *in, ckf_operation operation)
{
	const ckf_filter *both[2] = {t, in};
	ckf_filter to;
	ckf_status status = ckf_result_parameters(&to, operation, both, 2);
	uint64_t i;

	if (status != CKF_OK)
		return status;
	if (!ckf_fits_in_place(t, in))
		return CKF_ROOM;
	if (to.b < t->b || (to.flags & ~(unsigned)t->flags & CKF_FLAG_SET))
		return CKF_ROOM; /* a hash may have too many copies for the result */
	to.deduplicated = ckf_operation_of(operation)->distinct || (to.flags & CKF_FLAG_SET);
	to.w = 64;
	*t = to;
	ckf_settle_format(t);
	ckf_write_header(t);
	for (i = 0; i < in->count && status == CKF_OK; i++)
		status = t->methods->add(t, ckf_word(in, i));
	return status;
}
