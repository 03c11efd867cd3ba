/*
 * slots.c - check all slots of an untrusted filter.
 */
#include "slots.h"

#include "error.h"
#include "library.h"

bool
ckfs_check_slots(sqlite3_context *ctx, const ckf_filter *filter)
{
	ckf_check check = {0};
	ckf_status status;

	while ((status = ckf_check_step(filter, &check)) == CKF_MORE)
		if (ckfs_interrupted(ctx))
			return false;
	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){0});
	return status == CKF_OK;
}
