/*
 * argument.h - convert SQL values to filters, hashes and parameters.
 */
#ifndef CKFS_ARGUMENT_H
#define CKFS_ARGUMENT_H

#include "host.h"

/*
 * The filter of an argument: a BLOB, which is opened as *local, or the filter of a handle.  NULL:
 * the argument is NULL, and so is the result of the function; or it is not a filter, which is
 * reported as an error.
 */
const ckf_filter *ckfs_filter(sqlite3_context *ctx, sqlite3_value *arg, ckf_trust trust,
							  ckf_filter *local);

/* Explain why there is no filter in the first argument, which is reported already, if there are no
 * arguments, or if the second one is a filter: the arguments are in the wrong order. */
void ckfs_explain_order(sqlite3_context *ctx, int argc, sqlite3_value **argv);

/* The filter before the items of a function, as ckfs_filter with CKF_STORED.  Without arguments: an
 * error. */
static inline const ckf_filter *
ckfs_filter_of_items(sqlite3_context *ctx, int argc, sqlite3_value **argv, ckf_filter *local)
{
	const ckf_filter *filter = argc > 0 ? ckfs_filter(ctx, argv[0], CKF_STORED, local) : NULL;

	if (!filter)
		ckfs_explain_order(ctx, argc, argv);
	return filter;
}

/* Hash a value.  SQLITE_OK; SQLITE_DONE: it is NULL; SQLITE_MISMATCH: it is a handle; or
 * SQLITE_NOMEM. */
int ckfs_hash_value(sqlite3_value *value, uint64_t seed, ckfs_hashed *hashed);

/* Convert arguments to the hash of an item. false: one of them is NULL, or an error was reported.
 * ckfs_hash_item takes an item, ckfs_hash_pair an item and its value, and ckfs_hash_given an
 * integer that is the hash. */
typedef bool ckfs_hasher(sqlite3_context *ctx, sqlite3_value **values, uint64_t seed,
						 ckfs_hashed *hashed);

ckfs_hasher ckfs_hash_item;
ckfs_hasher ckfs_hash_pair;
ckfs_hasher ckfs_hash_given;

/* Read an integer.  A driver may have bound it as REAL.  `what` names the argument in errors. */
bool ckfs_integer(sqlite3_context *ctx, sqlite3_value *value, const char *what, int64_t *number);

/* Read a parameter of a filter from a value that is not NULL. false: an error was reported. */
bool ckfs_capacity(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);
bool ckfs_fpr(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);
bool ckfs_options(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);

#endif
