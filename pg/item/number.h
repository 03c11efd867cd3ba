/*
 * number.h - numerics and dates to hashes.
 */
#ifndef CKFP_NUMBER_H
#define CKFP_NUMBER_H

#include "item/hasher.h"

#include "utils/date.h"

#pragma GCC visibility push(hidden)

/* The hash of a numeric: as an integer if it is one that fits in int64, else as the nearest
 * double. */
uint64 ckfp_hash_numeric(Datum item, uint64 seed);

/* The hash of a date, which is the hash of its midnight as a timestamp. For a date outside the
 * range of timestamps the midnight wraps around; no other date has the wrapped value. */
uint64 ckfp_hash_date(DateADT date, uint64 seed);

#pragma GCC visibility pop

#endif
