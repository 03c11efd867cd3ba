/*
 * nestloop_keys.h - the keys and conditions of the inner side of a nested loop.
 */
#ifndef CKFP_JOIN_NESTLOOP_KEYS_H
#define CKFP_JOIN_NESTLOOP_KEYS_H

#include "rules.h"

#pragma GCC visibility push(hidden)

/* The inner side of a nested loop, with its conditions. */
typedef struct ckfp_nest_inner
{
	Index relation;
	List *conditions; /* on the columns of the relation */
	List *own;        /* those on the relation alone that the filter's scan can evaluate */
	int keys;
	ckfp_join_column key[CKFP_JOIN_KEYS];
	Var *build[CKFP_JOIN_KEYS]; /* the keys in the relation, */
	Var *probe[CKFP_JOIN_KEYS]; /* and in the outer rows */
} ckfp_nest_inner;

/* Read the inner side of a nested loop. False if the loop can have no filter: the inner side is not
 * the scan of an index, there is no key, or there are conditions that the filter cannot have, so
 * that rows without a match would pass. */
bool ckfp_nest_read_inner(const ckfp_rules *rules, const NestLoop *join, ckfp_nest_inner *inner);

/* The parameters of an expression that the executor sets. */
Bitmapset *ckfp_nest_params_of(Node *expression);

#pragma GCC visibility pop

#endif
