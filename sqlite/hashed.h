/*
 * hashed.h - the hash of an item.
 */
#ifndef CKFS_HASHED_H
#define CKFS_HASHED_H

#include "host.h"

/* An item's hash and class. */
typedef struct ckfs_hashed
{
	uint64_t hash;
	unsigned item_class; /* ckf_item_class */
} ckfs_hashed;

#endif
