/*
 * number.h - numerics and dates to hashes.
 */
#ifndef CKFP_NUMBER_H
#define CKFP_NUMBER_H

#include "item/hasher.h"

#include "utils/date.h"

#pragma GCC visibility push(hidden)

/* The hash of a numeric: of the integer that it is, else of the nearest double. */
uint64 ckfp_hash_numeric(Datum item, uint64 seed);

/* The hash of a date: of its midnight.  The midnight of a date that no timestamp can hold wraps
 * around, and no other date has it. */
uint64 ckfp_hash_date(DateADT date, uint64 seed);

#pragma GCC visibility pop

#endif
