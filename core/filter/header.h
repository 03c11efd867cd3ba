/*
 * header.h - the fields of the header, and functions that depend on them alone (FORMAT.md, section
 * 2).
 */
#ifndef CKF_HEADER_H
#define CKF_HEADER_H

#include "filter/words.h"

enum
{
	CKF_AT_MAGIC = 0,
	CKF_AT_FORMAT = 3,
	CKF_AT_HASH = 4,
	CKF_AT_ENCODING = 5,
	CKF_AT_FLAGS = 6,
	CKF_AT_B = 7,
	CKF_AT_F = 8,
	CKF_AT_W = 9,
	CKF_AT_G = 10,
	CKF_AT_C = 11,
	CKF_AT_M = 12, /* 2 bytes */
	CKF_AT_ITEM_CLASSES = 14,
	CKF_AT_RESERVED = 15, /* zero */
	CKF_AT_COUNT = 16,
	CKF_AT_SEED = 24,
	CKF_AT_CAPACITY = 32,
	CKF_AT_FPR = 40
};

enum
{
	CKF_FLAG_SET = 1,
	CKF_FLAG_PLAIN = 2,
	CKF_FLAG_OLD_STATE = 4 /* the state of an aggregate in the form of versions before 1.4 */
};
#define CKF_OLD_STATE 3 /* the encoding of most of these states */
#define CKF_FLAGS_ALL (CKF_FLAG_SET | CKF_FLAG_PLAIN)

CKF_INLINE bool
ckf_is_table(const ckf_filter *t)
{
	return t->encoding == CKF_SEMI_SORTED || t->encoding == CKF_PLAIN;
}

CKF_INLINE void
ckf_set_count(ckf_filter *t, uint64_t count)
{
	t->count = count;
	ckf_store64(t->bytes + CKF_AT_COUNT, count);
}

/* Set the classes of the items after a change.  The bytes get the current format version. */
CKF_INLINE void
ckf_set_item_classes(ckf_filter *t, unsigned classes)
{
	t->format = t->bytes[CKF_AT_FORMAT] = CKF_FORMAT_VERSION;
	t->item_classes = t->bytes[CKF_AT_ITEM_CLASSES] = (uint8_t)classes;
}

/* Word i of sorted hashes. */
CKF_INLINE uint64_t
ckf_word(const ckf_filter *t, uint64_t i)
{
	return ckf_load64(t->body + 8 * i);
}

/* Write all fields of the header, in the current format version. */
void ckf_write_header(const ckf_filter *t);

#endif
