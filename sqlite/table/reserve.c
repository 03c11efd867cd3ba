/*
 * reserve.c - whether more items can be added.
 *
 * While a table is far below its limit, the estimate from one chunk is enough.  Closer to the limit
 * more chunks are read, and finally all of them.
 */
#include "changes.h"

#include "messages.h"

/* How far the estimate from one chunk, and from CKFS_SAMPLES chunks, may be wrong: many times their
 * standard errors, which are about 5 and 0.5 %. */
#define CKFS_ONE_MARGIN 2.0
#define CKFS_MANY_MARGIN 1.1
#define CKFS_SAMPLES 128

/* Other connections add items, too.  So after this part of the limit, each connection estimates
 * again.  Connections that add at the same time can exceed the limit, each by this part. */
#define CKFS_ALLOWED_SHARE 16

/* The mean of the estimates from chunks across the whole table. */
static int
ckfs_estimate_many(ckfs_table *table, uint64_t hash, double *copies)
{
	double sum = 0, one;
	int rc = SQLITE_OK;
	unsigned i;

	for (i = 0; i < CKFS_SAMPLES && rc == SQLITE_OK; i++)
	{
		rc = ckfs_estimate(table, hash, &one);
		sum += one;
		hash += UINT64_MAX / CKFS_SAMPLES + 1;
	}
	*copies = sum / CKFS_SAMPLES;
	return rc;
}

/* Allow adds up to the limit, if the table has certainly no more than `copies` copies. */
static bool
ckfs_allow(ckfs_table *table, double copies, uint64_t n)
{
	double room = (double)table->chunks.max_count - copies - (double)table->waiting.count;
	double most = (double)(table->chunks.max_count / CKFS_ALLOWED_SHARE + 1);

	if (room < (double)n)
		return false;
	if (most < (double)n)
		most = (double)n;
	table->allowed = (uint64_t)(room < most ? room : most);
	return true;
}

/* Report that n items more than these do not fit. */
static int
ckfs_is_full(ckfs_table *table, unsigned long long items, unsigned long long n)
{
	double fpr = ckf_chunks_fpr(&table->chunks, items);

	return n > 1 ? ckfs_table_fail(table, SQLITE_ERROR,
								   "cuckoofilter table %s has no precision left for %llu more "
								   "items: it has " CKF_FILL
								   "; build it with a capacity of at least %llu",
								   table->name, n, items, fpr, items + n)
				 : ckfs_table_fail(table, SQLITE_ERROR,
								   "cuckoofilter table %s has no precision left: " CKF_FILL
								   "; build it with a capacity for all items, more than %llu",
								   table->name, items, fpr, items);
}

int
ckfs_reserve(ckfs_table *table, uint64_t hash, uint64_t n)
{
	ckfs_total total;
	double copies;
	int rc;

	if (table->allowed < n)
	{
		rc = ckfs_check_usable(table);
		if (rc == SQLITE_OK)
			rc = ckfs_estimate(table, hash, &copies);
		if (rc == SQLITE_OK && !ckfs_allow(table, copies * CKFS_ONE_MARGIN, n))
		{
			rc = ckfs_write_waiting(table);
			if (rc == SQLITE_OK)
				rc = ckfs_estimate_many(table, hash, &copies);
			if (rc == SQLITE_OK && !ckfs_allow(table, copies * CKFS_MANY_MARGIN, n))
			{
				rc = ckfs_count_copies(table, &total);
				if (rc == SQLITE_OK && !ckfs_allow(table, (double)total.copies, n))
					return ckfs_is_full(table, total.copies, n);
			}
		}
		if (rc != SQLITE_OK)
			return rc;
	}
	table->allowed -= n;
	return SQLITE_OK;
}
