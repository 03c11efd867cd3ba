/*
 * nestloop_price.h - when the filter of a nested loop pays.
 */
#ifndef CKFP_JOIN_NESTLOOP_PRICE_H
#define CKFP_JOIN_NESTLOOP_PRICE_H

#include "nestloop_state.h"

#pragma GCC visibility push(hidden)

/* Start to watch rows, also when the outer side is read again. */
void ckfp_watch_start(ckfp_nest *nest);

/* Count the row that was handed on last. True if a filter is to be built now. */
bool ckfp_watch_count(ckfp_nest *nest);

/* A row is about to be handed on. */
void ckfp_watch_row(ckfp_nest *nest);

/* Has a build, which found so many keys in so many ns of processor time, become so expensive that
 * it is aborted? */
bool ckfp_watch_is_exceeded(const ckfp_nest *nest, double keys, double ns);

#pragma GCC visibility pop

#endif
