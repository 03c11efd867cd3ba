/*
 * slots.h - the slots of a filter.
 */
#ifndef CKFS_SLOTS_H
#define CKFS_SLOTS_H

#include "host.h"

/* Read each slot of a filter once. False, with an error, if one is damaged. */
bool ckfs_check_slots(sqlite3_context *ctx, const ckf_filter *filter);

#endif
