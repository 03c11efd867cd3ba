/*
 * remote_sql.h - the SQL with which a server asks a filter.
 */
#ifndef CKFP_JOIN_REMOTE_SQL_H
#define CKFP_JOIN_REMOTE_SQL_H

#include "join.h"

#pragma GCC visibility push(hidden)

/* A column of a remote query, as a key of a join. */
typedef struct ckfp_remote_key
{
	int column;   /* its number in the query, from 1 */
	Oid declared; /* the type that the foreign table declares for it; of a domain, the base type */
	int32 typmod; /* and the modifier of that type */
	Oid probe;    /* the type of the key in the join */
} ckfp_remote_key;

/* The SQL of a query that returns the rows of `query`, which has `columns` columns, whose key
 * may be in the filter. The filter is a parameter. `schema` is the quoted schema of the
 * extension. NULL if the server cannot compute the value that this server reads for the column. */
char *ckfp_remote_sql(const char *query, int columns, const ckfp_remote_key *key, int parameter,
					  const char *schema);

#pragma GCC visibility pop

#endif
