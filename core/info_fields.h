/*
 * info_fields.h - the fields of ckf_info, with the names and in the order in which every host shows
 * them.
 *
 * Define a macro for each kind of field, and pass them to CKF_INFO_FIELDS:
 *   COUNT(name)    an unsigned integer
 *   INTEGER(name)  a signed integer
 *   BITS(name)     64 bits that are shown as a signed integer
 *   REAL(name)     a double
 *   WORD(name)     text that needs no escapes
 *   WORDS(name)    an array of texts that ends with NULL
 */
#ifndef CKF_INFO_FIELDS_H
#define CKF_INFO_FIELDS_H

#define CKF_INFO_FIELDS(COUNT, INTEGER, BITS, REAL, WORD, WORDS)                                   \
	COUNT(count)                                                                                   \
	INTEGER(capacity)                                                                              \
	REAL(target_fpr)                                                                               \
	REAL(fpr)                                                                                      \
	COUNT(bytes)                                                                                   \
	REAL(bits_per_item)                                                                            \
	REAL(load_factor)                                                                              \
	WORD(encoding)                                                                                 \
	WORD(layout)                                                                                   \
	WORD(kind)                                                                                     \
	INTEGER(bucket_size)                                                                           \
	INTEGER(fingerprint_bits)                                                                      \
	INTEGER(prefix_bits)                                                                           \
	COUNT(segments)                                                                                \
	BITS(seed)                                                                                     \
	INTEGER(format_version)                                                                        \
	WORDS(item_classes)                                                                            \
	COUNT(items_left)                                                                              \
	COUNT(items_to_limit)

/* The fields that a filter in chunks has, too. */
#define CKF_TABLE_INFO_FIELDS(COUNT, INTEGER, BITS, REAL, WORD, WORDS)                             \
	COUNT(count)                                                                                   \
	INTEGER(capacity)                                                                              \
	REAL(target_fpr)                                                                               \
	REAL(fpr)                                                                                      \
	COUNT(bytes)                                                                                   \
	REAL(bits_per_item)                                                                            \
	WORD(layout)                                                                                   \
	WORD(kind)                                                                                     \
	INTEGER(bucket_size)                                                                           \
	INTEGER(prefix_bits)                                                                           \
	BITS(seed)                                                                                     \
	WORDS(item_classes)                                                                            \
	COUNT(items_left)                                                                              \
	COUNT(items_to_limit)

#endif
