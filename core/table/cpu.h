/*
 * cpu.h - which fast paths this machine takes.
 */
#ifndef CKF_CPU_H
#define CKF_CPU_H

#include "cuckoofilter.h"

/* Is pdep fast here?  In a build with CKF_TEST_BUILD, CUCKOOFILTER_PORTABLE=1 in the
 * environment says no. */
bool ckf_use_pdep(void);

#endif
