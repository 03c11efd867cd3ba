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

typedef struct ckfs_connection ckfs_connection;

/* The user data of an SQL function. */
typedef struct ckfs_user
{
	ckfs_connection *connection;
	const void *data; /* of this function alone */
} ckfs_user;

/* The data that the functions of a connection share. */
struct ckfs_connection
{
	ckfs_handles handles;
	uint8_t logged[CKF_ITEM_HASH]; /* for the classes of a filter: item classes that the log has
									  named */
	int references;                /* from functions, and from the module of tables */
	struct ckfs_table *tables;     /* the first instance of a filter table in this connection */
	uint64_t connected;            /* the number of instances that were connected so far */
	struct ckfs_ddl
		*ddl; /* schema changes that a rollback of this transaction may undo, the newest first */
	bool replaced; /* another library has replaced functions of this one */
	ckfs_user users[];
};

static inline const ckfs_user *
ckfs_user_data(sqlite3_context *ctx)
{
	return sqlite3_user_data(ctx);
}

#endif
