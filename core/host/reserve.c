/*
 * reserve.c - whether more items can be added to a table of chunks.
 */
#include "cuckoofilter_host.h"

/* How far the estimate from one chunk, and from CKF_SAMPLES chunks, may be wrong: many times their
 * standard errors, which are about 5 and 0.5 % with chunks of 720 bytes, 7 and 0.6 % with 360. */
#define CKF_ONE_MARGIN 2.0
#define CKF_MANY_MARGIN 1.1
#define CKF_SAMPLES 128

/* Other connections add items, too.  So after this part of the limit, each connection estimates
 * again.  Connections that add at the same time can exceed the limit, each by this part. */
#define CKF_ALLOWED_SHARE 16

/* The mean of the estimates from chunks across the whole table. */
static int
ckf_estimate_many(ckf_reserve *reserve, uint64_t hash, double *copies)
{
	double sum = 0, one;
	int failed = 0;
	unsigned i;

	for (i = 0; i < CKF_SAMPLES && !failed; i++)
	{
		failed = reserve->estimate(reserve, hash, &one);
		sum += failed ? 0 : one;
		hash += UINT64_MAX / CKF_SAMPLES + 1;
	}
	*copies = sum / CKF_SAMPLES;
	return failed;
}

/* Allow adds up to the limit, if the table has certainly no more than `copies` copies. */
static bool
ckf_allow(const ckf_reserve *reserve, double copies, uint64_t n)
{
	double room = (double)reserve->chunks->max_count - copies - (double)reserve->pending;
	double most = (double)(reserve->chunks->max_count / CKF_ALLOWED_SHARE + 1);

	if (room < (double)n)
		return false;
	if (most < (double)n)
		most = (double)n;
	*reserve->allowed = (uint64_t)(room < most ? room : most);
	return true;
}

/* Estimate how many items there are, until it is certain that n more fit. */
static int
ckf_reserve_more(ckf_reserve *reserve, uint64_t hash, uint64_t n, bool *full, uint64_t *copies)
{
	double estimate;
	int failed = reserve->estimate(reserve, hash, &estimate);

	if (failed || ckf_allow(reserve, estimate * CKF_ONE_MARGIN, n))
		return failed;
	failed = reserve->write ? reserve->write(reserve) : 0;
	if (!failed)
		failed = ckf_estimate_many(reserve, hash, &estimate);
	if (failed || ckf_allow(reserve, estimate * CKF_MANY_MARGIN, n))
		return failed;
	failed = reserve->count(reserve, copies);
	*full = !failed && !ckf_allow(reserve, (double)*copies, n);
	return failed;
}

int
ckf_host_reserve(ckf_reserve *reserve, uint64_t hash, uint64_t n, bool *full, uint64_t *copies)
{
	int failed = 0;

	*full = false;
	if (*reserve->allowed < n)
		failed = ckf_reserve_more(reserve, hash, n, full, copies);
	if (!failed && !*full)
		*reserve->allowed -= n;
	return failed;
}
