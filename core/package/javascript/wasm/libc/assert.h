/*
 * assert.h - for xxHash.  Nothing is asserted at run time.
 */
#ifndef CKFW_ASSERT_H
#define CKFW_ASSERT_H

#define assert(condition) ((void)0)
#define static_assert _Static_assert

#endif
