/*
 * messages.h - error messages that several hosts share.  The other messages of the engine's errors,
 * and which error has which, are in host/error.c.
 *
 * They are format strings for PostgreSQL's errmsg and for sqlite3_mprintf, and use %lld, %llu,
 * %.*s and %g.  An error has
 *
 *   CKF_SAY_x      the sentence with which the message of every host begins,
 *   CKF_DETAIL_x   details, and
 *   CKF_HINT_x     what to do: whole sentences, for hosts with a field for each.  Other hosts
 * append them to the sentence, without their capitals and full stops (": ..; ..").
 *
 * The comment on each message lists its arguments.  `real` is the conversion that a host uses for a
 * double, such as "%g".
 */
#ifndef CKF_MESSAGES_H
#define CKF_MESSAGES_H

/* The grammar of an options text. */
#define CKF_OPTIONS                                                                                \
	"kind=deletable|set, bucket_size=2|4|8, layout=semi_sorted|plain (semi_sorted needs "          \
	"bucket_size=4) and seed=<64-bit integer>"

/* CKF_BAD_CAPACITY: the most (long long), the capacity in a form of the host's own */
#define CKF_SAY_BAD_CAPACITY(form) "capacity must be from 1 to %lld, not " form

/* The same of a number that is no integer, in a form of the host's own.  The hint: of a number
 * between 0 and 1, which seems to be a rate */
#define CKF_SAY_FRACTION(real) "capacity must be an integer, not " real
#define CKF_HINT_FRACTION                                                                          \
	"cuckoofilter_create and cuckoofilter_bytes take the capacity before the rate, aggregates "    \
	"after it."

/* CKF_BAD_FPR: the rate (double) */
#define CKF_SAY_BAD_FPR(real)                                                                      \
	"false positive rate must be greater than 0 and less than 1, not " real

/* The same of an aggregate whose arguments seem to be in the wrong order: ckf_about.order */
#define CKF_CALL_AGG "cuckoofilter_agg(item, fpr, capacity)"
#define CKF_CALL_AGG_PAIR "cuckoofilter_agg_pair(item, value, fpr, capacity)"

/* CKF_BAD_TARGET: capacity (long long), rate (double) */
#define CKF_SAY_BAD_TARGET(real) "capacity %lld at a false positive rate of " real " is too precise"

/* CKF_BAD_OPTION: size (int) and text (char *) of the option */
#define CKF_SAY_BAD_OPTION "invalid cuckoofilter option \"%.*s\""
#define CKF_HINT_BAD_OPTION "Valid options are " CKF_OPTIONS "."

/* The same of two options without a comma between them */
#define CKF_HINT_COMMA "Separate options by commas, as in kind=set, seed=7."

/* CKF_BAD_BYTES, and a text form that is not base64.  The hint: of what may be an item in the place
 * of the filter */
#define CKF_SAY_BAD_BYTES "not a cuckoofilter: the bytes are damaged or are something else"
#define CKF_SAY_NOT_BASE64 "not a cuckoofilter: the text is not base64"
#define CKF_HINT_FIRST                                                                             \
	"An empty filter is cuckoofilter_create(capacity). In a call with an item, the filter is the " \
	"first argument: cuckoofilter_contains(filter, item)."

/* An item of a class that no item in the filter has: ckf_describe_held, ckf_describe_item */
#define CKF_SAY_UNLIKE "the cuckoofilter holds %s, the item is %s"

/* An item whose hash was different in format version 1 */
#define CKF_SAY_OLD                                                                                \
	"the cuckoofilter was built before release 1.1, which changed the hash of items of this type"
#define CKF_HINT_OLD "Build the filter again."

/* An item that is a filter */
#define CKF_SAY_FILTER_ITEM "a cuckoofilter is not an item"

/* A number of parts: the most, the number (long long) */
#define CKF_MOST_PARTS 2147483647LL
#define CKF_SAY_BAD_PARTS "parts must be from 1 to %lld, not %lld"

/* How full a filter is: items (unsigned long long), rate (double). */
#define CKF_FILL "%llu items at a false positive rate of %.3g"
#define CKF_DETAIL_FILL "It has " CKF_FILL "."

/* A filter table that has no precision left; the same for more items. Its name, how many more items
 * (unsigned long long); the detail is CKF_DETAIL_FILL */
#define CKF_SAY_TABLE_FULL "cuckoofilter table %s has no precision left"
#define CKF_SAY_TABLE_LACKS "cuckoofilter table %s has no precision left for %llu more items"

/* A filter that a table cannot take: the name of the table, and for a coarse filter its capacity
 * (long long) and rate. The hint: capacity and rate that are enough */
#define CKF_SAY_MERGE_SET                                                                          \
	"cannot merge the filter into cuckoofilter table %s: only a table with kind=set takes a "      \
	"filter of kind set, since removing an item could remove another item, too"
#define CKF_SAY_MERGE_COARSE                                                                       \
	"cannot merge the filter into cuckoofilter table %s: it is too coarse: it has a capacity of "  \
	"%lld at a false positive rate of %g"

/* Damage of a filter table: what is wrong with a chunk, after its table and before its number */
#define CKF_DAMAGE_GAP "ranges that overlap or leave a gap"
#define CKF_DAMAGE_NO_CHUNK "a range without a chunk"

/* A result that is too large for the host: its limit (long long).  The detail is CKF_DETAIL_FILL */
#define CKF_SAY_TOO_LARGE "cuckoofilter would be larger than %lld bytes"
#define CKF_HINT_TOO_LARGE                                                                         \
	"Spread the items over several filters, or build them with a lower capacity or a higher rate."

#endif
