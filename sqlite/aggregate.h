/*
 * aggregate.h - the steps of aggregates over items.
 */
#ifndef CKFS_AGGREGATE_H
#define CKFS_AGGREGATE_H

#include "argument.h"
#include "function.h"

/* What an aggregate collects, and how it ends: user data. */
typedef struct ckfs_aggregate
{
	ckfs_hasher *hash; /* of items; NULL: filters */
	int count;         /* arguments of an item or filter */
	ckf_goal collect;  /* of filters */
	ckf_goal finish;   /* the same */
} ckfs_aggregate;

ckfs_function ckfs_step_item;
ckfs_function ckfs_inverse;
void ckfs_value(sqlite3_context *ctx);
void ckfs_final(sqlite3_context *ctx);

#endif
