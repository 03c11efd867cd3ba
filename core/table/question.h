/*
 * question.h - a lookup in a table of which the host has read only the header.
 */
#ifndef CKF_TABLE_QUESTION_H
#define CKF_TABLE_QUESTION_H

#include "cuckoofilter.h"

/* ckf_operations.question_start, .question_step */
ckf_status ckf_table_question_start(const ckf_filter *t, ckf_question *question);
ckf_status ckf_table_question_step(const ckf_filter *t, ckf_question *question,
								   const uint8_t *bytes);

#endif
