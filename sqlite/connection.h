/*
 * connection.h - what the functions of a connection share, the filters of its handles among them.
 */
#ifndef CKFS_CONNECTION_H
#define CKFS_CONNECTION_H

#include "host.h"

/* What cuckoofilter_open gives: the BLOB of a handle.  No filter is as short. */
typedef struct ckfs_name
{
	char sign[8];
	uint64_t hash;   /* of the filter's bytes */
	uint64_t serial; /* from a random number on, so that no other connection has it */
} ckfs_name;

typedef struct ckfs_handle ckfs_handle;
typedef struct ckfs_kept ckfs_kept;

/* The filters that are open in a connection. */
typedef struct ckfs_handles
{
	ckfs_name last; /* name and filter of the newest, which most calls ask for */
	const ckf_filter *last_filter;
	ckfs_handle *newest, *oldest; /* by last use */
	ckfs_handle **chains;         /* by hash of their bytes; NULL at first */
	size_t chain_count;           /* a power of two */
	size_t count;
	uint64_t bytes;  /* all that they take */
	ckfs_kept *kept; /* names that stay */
	size_t kept_count;
	uint64_t serial; /* of the next */
	uint64_t seed;   /* of the hashes */
} ckfs_handles;

typedef struct ckfs_connection ckfs_connection;

/* What a function of SQL finds in its user data. */
typedef struct ckfs_user
{
	ckfs_connection *connection;
	const void *data; /* its own */
} ckfs_user;

/* What the functions of a connection share. */
struct ckfs_connection
{
	ckfs_handles handles;
	uint8_t logged[CKF_ITEM_HASH]; /* by a filter's classes: of which an item was asked for */
	int references;                /* of functions, and of the module of tables */
	struct ckfs_table *tables;     /* the first of the filter tables that it has connected */
	uint64_t connected;            /* how many it has connected so far */
	struct ckfs_ddl *ddl; /* what a rollback of this transaction may undo, the newest first */
	bool replaced;        /* another module has taken over functions of ours */
	ckfs_user users[];
};

static inline const ckfs_user *
ckfs_user_data(sqlite3_context *ctx)
{
	return sqlite3_user_data(ctx);
}

#endif
