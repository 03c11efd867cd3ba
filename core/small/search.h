/*
 * search.h - a lookup in sorted hashes of which the host has read only the header.
 */
#ifndef CKF_SEARCH_H
#define CKF_SEARCH_H

#include "cuckoofilter.h"

/* ckf_operations.question_start, .question_step */
ckf_status ckf_search_start(const ckf_filter *t, ckf_question *question);
ckf_status ckf_search_step(const ckf_filter *t, ckf_question *question, const uint8_t *bytes);

#endif
