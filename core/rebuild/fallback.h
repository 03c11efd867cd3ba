/*
 * fallback.h - what an export builds where no table like that of the chunks can be filled
 * (FORMAT.md, section 10).
 */
#ifndef CKF_FALLBACK_H
#define CKF_FALLBACK_H

#include "rebuild/work.h"

/*
 * Make r->to the next best thing, for which items must be counted anew: the table that
 * r->to has described cannot be filled.  `short_tags`: since f would fall below c.
 * false: there is nothing else.
 */
bool ckf_fall_back(ckf_rebuild *r, bool short_tags);

#endif
