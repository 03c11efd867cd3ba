/*
 * connection.h - the data that the functions of one connection share, such as its handles.
 */
#ifndef CKFS_CONNECTION_H
#define CKFS_CONNECTION_H

#include "host.h"

/* The content of a handle, the BLOB that cuckoofilter_open returns.  No filter is as short. */
typedef struct ckfs_name
{
	char sign[8];
	uint64_t hash;   /* of the bytes of the filter */
	uint64_t serial; /* begins at a random number, so that no other connection has it */
} ckfs_name;

typedef struct ckfs_handle ckfs_handle;
typedef struct ckfs_kept ckfs_kept;

/* The filters that are open in a connection. */
typedef struct ckfs_handles
{
	ckfs_name last; /* the most recently used handle, which most calls use again */
	const ckf_filter *last_filter;
	ckfs_handle *newest, *oldest; /* in the order of their last use */
	ckfs_handle **chains;         /* hash table by the hash of the bytes; NULL at first */
	size_t chain_count;           /* a power of two */
	size_t count;
	uint64_t bytes;  /* of all filters */
	ckfs_kept *kept; /* BLOBs of handles that are not freed before the connection ends */
	size_t kept_count;
	uint64_t serial; /* of the next handle */
	uint64_t seed;   /* of the hashes of bytes */
} ckfs_handles;

/* The filter tables of a connection are found by the hash of their name, so that the work for one
 * table does not grow with their number.  A power of two. */
#define CKFS_TABLE_CHAINS 1024

/* The level of no savepoint: no filter table was created or renamed in this transaction. */
#define CKFS_NO_DDL (-1)

typedef struct ckfs_connection ckfs_connection;

/* The user data of an SQL function. */
typedef struct ckfs_user
{
	ckfs_connection *connection;
	const struct ckfs_items *items; /* of this function alone, as the next one */
	int what;
} ckfs_user;

/* The data that the functions of a connection share. */
struct ckfs_connection
{
	ckfs_handles handles;
	uint8_t logged[CKF_ITEM_HASH]; /* for the classes of a filter: item classes that the log has
									  named */
	int references;                /* from functions, and from the module of tables */
	struct ckfs_table *tables[CKFS_TABLE_CHAINS]; /* instances of filter tables; ckfs_enlist */
	uint64_t connected;                           /* instances that were connected so far */
	/* filter tables that this transaction has created or renamed: */
	int ddl_level;       /* a rollback to a savepoint with a smaller number undoes one of these */
	uint64_t ddl_number; /* the newest instance when the first of them was made */
	uint64_t rollbacks;  /* rollbacks that have undone one, in the whole connection */
	bool replaced;       /* another library has replaced functions of this one */
	ckfs_user users[];
};

static inline const ckfs_user *
ckfs_user_data(sqlite3_context *ctx)
{
	return sqlite3_user_data(ctx);
}

/* ----------------------------------------------------------------- handle.c */

void ckfs_handles_start(ckfs_handles *handles);
void ckfs_handles_end(ckfs_handles *handles);

/* The filter of a handle; `bytes` has the size of a ckfs_name.  NULL, with an error: it is not open
 * in this connection.  The filter stays valid until the calling function opens another one. */
const ckf_filter *ckfs_handle_filter(sqlite3_context *ctx, ckfs_handles *handles, const void *bytes,
									 ckf_trust trust);

/* Whether bytes of the size of a ckfs_name are a handle. */
bool ckfs_is_handle(const void *bytes);

/* Pin a handle whose filter is read while SQL runs, since that SQL may open other handles.  The
 * filter stays until it is unpinned.  NULL: the handle is not open in this connection.
 * ckfs_handle_unpin accepts NULL. */
ckfs_handle *ckfs_handle_pin(ckfs_handles *handles, const void *bytes, const ckf_filter **filter);
void ckfs_handle_unpin(ckfs_handle *handle);

/* Return a handle of the filter as the result of the function. */
void ckfs_result_handle(sqlite3_context *ctx, const ckf_filter *filter);

#endif
