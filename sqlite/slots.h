/*
 * slots.h - check the slots of a filter.
 */
#ifndef CKFS_SLOTS_H
#define CKFS_SLOTS_H

#include "host.h"

/* Check each slot of a filter. false, with an error: one is damaged, or the statement is
 * interrupted. */
bool ckfs_check_slots(sqlite3_context *ctx, const ckf_filter *filter);

#endif
