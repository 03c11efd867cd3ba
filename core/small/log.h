/*
 * log.h - a large running state: sorted items, and a log of those that came since.
 */
#ifndef CKF_LOG_H
#define CKF_LOG_H

#include "rebuild/sink.h"

/* Are the fields of a log possible? */
bool ckf_log_fits(const ckf_filter *t);

/* Items that can still be appended. */
uint64_t ckf_log_room(const ckf_filter *t);

/* Can it promise the w and b of `to` as it is?  Not where its sorted part is a
 * table of others. */
bool ckf_log_may_promise(const ckf_filter *t, const ckf_filter *to);

/* Of a log whose sorted part is a table of this geometry: bytes of a whole log
 * with room for so many items behind it. */
uint64_t ckf_log_size(const ckf_filter *t, uint64_t room);

/* Appends what a rebuild puts to a log that has room for it; its end makes
 * it count. */
extern const ckf_sink ckf_log_append;

#endif
