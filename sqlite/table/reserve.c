/*
 * reserve.c - whether more items can be added.
 */
#include "changes.h"

#include "cuckoofilter_host.h"
#include "messages.h"

typedef struct ckfs_limit
{
	ckf_reserve reserve; /* the first member */
	ckfs_table *table;
} ckfs_limit;

static int
ckfs_reserve_estimate(ckf_reserve *reserve, uint64_t hash, double *copies)
{
	return ckfs_estimate(((ckfs_limit *)reserve)->table, hash, copies);
}

static int
ckfs_reserve_count(ckf_reserve *reserve, uint64_t *copies)
{
	ckfs_total total;
	int rc = ckfs_count_copies(((ckfs_limit *)reserve)->table, &total);

	*copies = total.copies;
	return rc;
}

static int
ckfs_reserve_write(ckf_reserve *reserve)
{
	ckfs_table *table = ((ckfs_limit *)reserve)->table;
	int rc = ckfs_write_pending(table);

	reserve->pending = table->pending.count;
	return rc;
}

/* Report that n items more than these do not fit. */
static int
ckfs_is_full(ckfs_table *table, unsigned long long items, unsigned long long n)
{
	double fpr = ckf_chunks_fpr(&table->chunks, items);

	return n > 1
			   ? ckfs_table_fail(table, SQLITE_ERROR,
								 CKF_SAY_TABLE_LACKS ": it has " CKF_FILL
													 "; build it with a capacity of at least %llu",
								 table->name, n, items, fpr, items + n)
			   : ckfs_table_fail(table, SQLITE_ERROR,
								 CKF_SAY_TABLE_FULL
								 ": " CKF_FILL
								 "; build it with a capacity for all items, more than %llu",
								 table->name, items, fpr, items);
}

int
ckfs_reserve(ckfs_table *table, uint64_t hash, uint64_t n)
{
	ckfs_limit of_table = {{.chunks = &table->chunks,
							.allowed = &table->allowed,
							.estimate = ckfs_reserve_estimate,
							.count = ckfs_reserve_count,
							.write = ckfs_reserve_write,
							.pending = table->pending.count},
						   table};
	uint64_t copies = 0;
	bool full;
	int rc = table->allowed < n ? ckfs_check_usable(table) : SQLITE_OK;

	if (rc == SQLITE_OK)
		rc = ckf_host_reserve(&of_table.reserve, hash, n, &full, &copies);
	return rc == SQLITE_OK && full ? ckfs_is_full(table, copies, n) : rc;
}
