/*
 * pass.h - the pass of a rebuild over all items, which counts or stores them.
 */
#ifndef CKF_PASS_H
#define CKF_PASS_H

#include "rebuild/work.h"

/* Begin with the first item. */
void ckf_pass_start(ckf_rebuild *r);

/* Count or store a piece of a block.  CKF_OK: there are no more items, or the sample is counted;
 * CKF_MORE; CKF_ROOM: the target is full; CKF_BAD_BYTES. */
ckf_status ckf_pass_piece(ckf_rebuild *r);

/* Remove a block of hashes from the copy of a table.  CKF_OK: there are no more. */
ckf_status ckf_pass_removals(ckf_rebuild *r);

#endif
