/*
 * state.c - what the two forms of a running state have in common.
 */
#include "small/state.h"

#include "filter/header.h"
#include "small/log.h"
#include "small/set.h"
#include "thresholds.h"

bool
ckf_state_is_log(const ckf_filter *t)
{
	return t->encoding == CKF_PLAIN || ckf_body_words(t) >= CKF_LARGEST_SET;
}

bool
ckf_state_fits(const ckf_filter *t)
{
	if (t->size < CKF_STATE_SIZE || t->size % 8 != CKF_HEADER_SIZE % 8)
		return false;
	return ckf_state_is_log(t) ? ckf_log_fits(t) : t->count <= ckf_body_words(t);
}

uint64_t
ckf_state_grown(uint64_t size)
{
	/* 124, 252, 508 .. with PostgreSQL's 4 bytes before: just under a power
	 * of two, which is what its allocator, and most, hand out */
	return CKF_HEADER_SIZE + 8 * (2 * ((size - CKF_HEADER_SIZE) / 8) + 7);
}

uint64_t
ckf_state_holds(uint64_t size)
{
	uint64_t words = (size - CKF_HEADER_SIZE) / 8;

	/* a log's words have a count among them */
	return words < CKF_LARGEST_SET ? ckf_set_holds(words) : words - 1;
}

bool
ckf_state_takes(const ckf_filter *t, uint64_t more)
{
	return ckf_state_is_log(t) ? more <= ckf_log_room(t) : ckf_set_takes(t, more);
}
