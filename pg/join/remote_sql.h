/*
 * remote_sql.h - the SQL by which a server asks a filter.
 */
#ifndef CKFP_JOIN_REMOTE_SQL_H
#define CKFP_JOIN_REMOTE_SQL_H

#include "join.h"

#pragma GCC visibility push(hidden)

/* A column of a remote query, as a key of a join. */
typedef struct ckfp_remote_key
{
	int column;   /* its number in the query, from 1 */
	Oid declared; /* the type that the foreign table declares for it, a domain's base type, */
	int32 typmod; /* and the modifier of that type */
	Oid probe;    /* the type that the join takes it as */
} ckfp_remote_key;

/* The SQL of a query that gives the rows of `query`, with so many columns, whose key the filter
 * in a parameter may have.  `schema` is quoted, and of the extension.  NULL if the server cannot
 * compute what this server makes of the column. */
char *ckfp_remote_sql(const char *query, int columns, const ckfp_remote_key *key, int parameter,
					  const char *schema);

#pragma GCC visibility pop

#endif
