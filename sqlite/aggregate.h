/*
 * aggregate.h - the functions of aggregates over items.
 */
#ifndef CKFS_AGGREGATE_H
#define CKFS_AGGREGATE_H

#include "argument.h"
#include "function.h"

/* The user data of an aggregate: what it collects, and what it returns. */
typedef struct ckfs_aggregate
{
	ckfs_hasher *hash; /* hashes an item; NULL: the arguments are filters */
	int count;         /* the number of arguments of an item or filter */
	ckf_goal collect;  /* of an aggregate over filters: the goal of its merges */
	ckf_goal finish;   /* of an aggregate over filters: the goal of the last merge */
} ckfs_aggregate;

ckfs_function ckfs_step_item;
ckfs_function ckfs_inverse;
void ckfs_value(sqlite3_context *ctx);
void ckfs_final(sqlite3_context *ctx);

#endif
