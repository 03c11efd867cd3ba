/*
 * inputs.h - the scans of a rebuild: one for each input, and those that merge them.
 */
#ifndef CKF_INPUTS_H
#define CKF_INPUTS_H

#include "rebuild/work.h"

/* Make the scans of r->in.  r->root becomes the scan of all items in order, or NULL if there are
 * none; r->removals that of the hashes to remove. */
void ckf_scan_inputs(ckf_rebuild *r);

/* Assign the host's scratch to all scans. */
void ckf_place_scans(ckf_rebuild *r, uint64_t *scratch);

#endif
