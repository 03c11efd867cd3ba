/*
 * cpu.h - which fast paths this processor supports.
 */
#ifndef CKF_CPU_H
#define CKF_CPU_H

#include "cuckoofilter.h"

/* Whether the processor has a fast pdep instruction.  In a build with CKF_TEST_BUILD, it is false
 * if the environment has CUCKOOFILTER_PORTABLE=1. */
bool ckf_use_pdep(void);

#endif
