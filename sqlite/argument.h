/*
 * argument.h - SQL values to filters, hashes and parameters.
 */
#ifndef CKFS_ARGUMENT_H
#define CKFS_ARGUMENT_H

#include "hashed.h"

/*
 * The filter of an argument: a BLOB, opened in *local, or the one of a handle.
 * NULL where the argument is NULL (the result of a function is NULL until it is
 * set) or no filter.
 */
const ckf_filter *ckfs_filter(sqlite3_context *ctx, sqlite3_value *arg, ckf_trust trust,
							  ckf_filter *local);

/* A value to its hash: SQLITE_OK, SQLITE_DONE where it is NULL, SQLITE_NOMEM. */
int ckfs_hash_value(sqlite3_value *value, uint64_t seed, ckfs_hashed *hashed);

/* Arguments to the hash of an item; false where one of them is NULL.  Three ways:
 * ckfs_hash_item takes an item, ckfs_hash_pair an item and its value, ckfs_hash_given an
 * integer that is a hash already. */
typedef bool ckfs_hasher(sqlite3_context *ctx, sqlite3_value **values, uint64_t seed,
						 ckfs_hashed *hashed);

ckfs_hasher ckfs_hash_item;
ckfs_hasher ckfs_hash_pair;
ckfs_hasher ckfs_hash_given;

/* An integer, also one that a driver bound as REAL; `what` names it in errors. */
bool ckfs_integer(sqlite3_context *ctx, sqlite3_value *value, const char *what, int64_t *number);

/* Parameters of a filter.  The value is not NULL. */
bool ckfs_capacity(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);
bool ckfs_fpr(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);
bool ckfs_options(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);

#endif
