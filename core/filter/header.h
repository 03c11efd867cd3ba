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
	CKF_AT_NUMBER_FORMS = 15, /* zero before version 3 */
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

#define CKF_FORMS_ALL (CKF_FORM_EXACT | CKF_FORM_ROUNDED | CKF_FORM_ANY)

/* Items that are numbers, or may hold some. */
#define CKF_ITEMS_WITH_NUMBERS (CKF_ITEM_NUMBER | CKF_ITEM_OTHER | CKF_ITEM_HASH)

/* What a filter of format version 1 or 2 may hold by the nearest double. */
CKF_INLINE uint8_t
ckf_forms_of_old(unsigned item_classes)
{
	return item_classes & CKF_ITEMS_WITH_NUMBERS ? CKF_FORM_ROUNDED : 0;
}

/* Choose the format version that can say how the filter holds numbers (FORMAT.md, section 2).
 * t->format is that of the filter before; version 3 ends where version 2 says the same. */
void ckf_settle_format(ckf_filter *t);

/* Set the classes of the items after a change, and the format version. */
void ckf_set_item_classes(ckf_filter *t, unsigned classes);

/* Word i of sorted hashes. */
CKF_INLINE uint64_t
ckf_word(const ckf_filter *t, uint64_t i)
{
	return ckf_load64(t->body + 8 * i);
}

/* Write all fields of the header, in the current format version. */
void ckf_write_header(const ckf_filter *t);

#endif
