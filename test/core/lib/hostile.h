/*
 * hostile.h - every operation of the core on any bytes.  It serves the hostile suite and the fuzz
 * targets, which expect no particular answer: only that there is one, and that no byte outside the
 * buffer is used.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "drive.h"

/* Larger results are refused, as a host's limit would. */
#define HOSTILE_LIMIT ((size_t)1 << 26)

/* Open the bytes with this trust and do everything with what opens.  `other`
 * is a sound filter to merge with.  Whether the bytes opened. */
bool hostile_try(const void *bytes, size_t size, ckf_trust trust, const owned *other);

#endif
