/*
 * fallback.h - what an export builds if no table with the parameters of the chunks can be
 * filled (FORMAT.md, section 10).
 */
#ifndef CKF_FALLBACK_H
#define CKF_FALLBACK_H

#include "rebuild/work.h"

/*
 * Relax the parameters of r->to, whose table cannot be filled.  The items must be counted
 * again.  `short_tags`: the table is impossible because f would be below c.
 * false: nothing more can be relaxed.
 */
bool ckf_fall_back(ckf_rebuild *r, bool short_tags);

#endif
