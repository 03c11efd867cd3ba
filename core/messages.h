/*
 * messages.h - the error messages that all hosts share.
 *
 * They are format strings for PostgreSQL's errmsg and for sqlite3_mprintf, and use %lld, %llu,
 * %.*s and %g.  An error has
 *
 *   CKF_SAY_x      the sentence with which the message of every host begins,
 *   CKF_DETAIL_x   details, and
 *   CKF_HINT_x     what to do: whole sentences, for hosts with a field for each,
 *   CKF_REST_x     both, for hosts that append them to the sentence.
 *
 * The comment on each message lists its arguments.  `real` is the conversion that a host uses for
 * a double, such as "%g".
 */
#ifndef CKF_MESSAGES_H
#define CKF_MESSAGES_H

/* The grammar of an options text. */
#define CKF_OPTIONS                                                                                \
	"kind=deletable|set, bucket_size=2|4|8, layout=semi_sorted|plain (semi_sorted needs "          \
	"bucket_size=4) and seed=<64-bit integer>"

/* CKF_BAD_CAPACITY: the most, the capacity (long long) */
#define CKF_SAY_BAD_CAPACITY "capacity must be from 1 to %lld, not %lld"

/* The same of an integer too large for int64: the most, the capacity in a form of the host's own */
#define CKF_SAY_HUGE_CAPACITY(form) "capacity must be from 1 to %lld, not " form

/* The same of a number that is no integer, in a form of the host's own.  The hint and the rest: of
 * a number between 0 and 1, which seems to be a rate */
#define CKF_SAY_FRACTION(real) "capacity must be an integer, not " real
#define CKF_HINT_FRACTION                                                                          \
	"cuckoofilter_create and cuckoofilter_bytes take the capacity before the rate, aggregates "    \
	"after it."
#define CKF_REST_FRACTION                                                                          \
	": cuckoofilter_create and cuckoofilter_bytes take the capacity before the rate, aggregates "  \
	"after it"

/* CKF_BAD_FPR: the rate (double) */
#define CKF_SAY_BAD_FPR(real)                                                                      \
	"false positive rate must be greater than 0 and less than 1, not " real

/* Of a rate from 1 up */
#define CKF_HINT_PERCENT "A rate of 1 %% is 0.01."
#define CKF_REST_PERCENT ": a rate of 1 %% is 0.01"

/* The same of an aggregate, whose arguments seem to be in the wrong order: the call in the right
 * order (char *: CKF_CALL_AGG, CKF_CALL_AGG_PAIR) */
#define CKF_HINT_SWAPPED "Aggregates take the rate, 0.01 for 1 %%, before the capacity: %s."
#define CKF_REST_SWAPPED ": aggregates take the rate, 0.01 for 1 %%, before the capacity: %s"
#define CKF_CALL_AGG "cuckoofilter_agg(item, fpr, capacity)"
#define CKF_CALL_AGG_PAIR "cuckoofilter_agg_pair(item, value, fpr, capacity)"

/* CKF_BAD_TARGET: capacity (long long), rate (double).  The detail: CKF_MAX_PREFIX (int) */
#define CKF_SAY_BAD_TARGET(real) "capacity %lld at a false positive rate of " real " is too precise"
#define CKF_DETAIL_BAD_TARGET "The quotient of capacity and rate must not exceed 2^%d."
#define CKF_HINT_BAD_TARGET "Lower the capacity or raise the false positive rate."
#define CKF_REST_BAD_TARGET ": lower the capacity or raise the rate"

/* CKF_BAD_OPTION: size (int) and text (char *) of the option */
#define CKF_SAY_BAD_OPTION "invalid cuckoofilter option \"%.*s\""
#define CKF_HINT_BAD_OPTION "Valid options are " CKF_OPTIONS "."
#define CKF_REST_BAD_OPTION ": valid options are " CKF_OPTIONS

/* CKF_OPTION_TWICE: CKF_SAY_BAD_OPTION, about the second of the two */
#define CKF_HINT_OPTION_TWICE "Give this option once."
#define CKF_REST_OPTION_TWICE ": give this option once"

/* CKF_SEED_DIFFERS.  The detail and the rest: the two seeds (long long) */
#define CKF_SAY_SEED_DIFFERS "cannot merge cuckoofilters with different seeds"
#define CKF_DETAIL_SEED_DIFFERS "The seeds are %lld and %lld."
#define CKF_HINT_SEED_DIFFERS "Use the same seed option for all filters that are merged."
#define CKF_REST_SEED_DIFFERS ": %lld and %lld"

/* CKF_OLD_ITEMS */
#define CKF_SAY_OLD_ITEMS                                                                          \
	"cannot compare cuckoofilters: one was built before release 1.1, which changed the hash of "   \
	"items in the other"
#define CKF_HINT_OLD_ITEMS "Build the older filter again."
#define CKF_REST_OLD_ITEMS ": build the older filter again"

/* CKF_UNLIKE_SIZES: copies in the first and the second (unsigned long long), and which is too
 * coarse (char *: CKF_FIRST, CKF_SECOND).  The detail: the standard error (double).  The hint: the
 * capacity (long long).  The rest: both. */
#define CKF_SAY_UNLIKE_SIZES "cannot compare cuckoofilters of %llu and %llu items: %s is too coarse"
#define CKF_DETAIL_UNLIKE_SIZES                                                                    \
	"The standard error of their overlap would be %.3g, more than the number of items in the "     \
	"smaller filter."
#define CKF_HINT_UNLIKE_SIZES "Build both with a capacity of %lld."
#define CKF_REST_UNLIKE_SIZES                                                                      \
	": the standard error of their overlap would be %.3g, more than the number of items in the "   \
	"smaller filter; build both with a capacity of %lld"

/* CKF_BAD_BYTES, and a text form that is not base64 */
#define CKF_SAY_BAD_BYTES "not a cuckoofilter: the bytes are damaged or are something else"
#define CKF_SAY_NOT_BASE64 "not a cuckoofilter: the text is not base64"

/* CKF_BAD_VERSION */
#define CKF_SAY_BAD_VERSION "cuckoofilter of an unknown format or hash version"
#define CKF_HINT_BAD_VERSION "It needs a newer release of cuckoofilter."
#define CKF_REST_BAD_VERSION ": it needs a newer release"

/* CKF_UNFINISHED: a state of an aggregate that a version before 1.4 stored */
#define CKF_SAY_UNFINISHED "cuckoofilter is the unfinished state of an aggregate"
#define CKF_HINT_UNFINISHED                                                                        \
	"Build it again with cuckoofilter 1.4 or later, or cast it to bytea and back under 1.3 first."

/* CKF_IS_SET */
#define CKF_SAY_IS_SET "cannot remove from a cuckoofilter of kind set"
#define CKF_DETAIL_IS_SET "Removing an item from a set could remove another item, too."
#define CKF_HINT_IS_SET "Build it with kind=deletable, and merge with cuckoofilter_sum."
#define CKF_REST_IS_SET ": build it with kind=deletable, and merge with cuckoofilter_sum"

/*
 * An item of a class that no item in the filter has.  The arguments: the classes in the filter,
 * from CKF_WORDS_HELD, joined by commas and CKF_WORDS_AND; and the class of the item, from
 * CKF_WORDS_ITEM.  Both lists have an entry for each bit of ckf_item_class below CKF_ITEM_HASH, in
 * the order of the bits.
 */
#define CKF_SAY_UNLIKE "the cuckoofilter holds %s, the item is %s"
#define CKF_WORDS_HELD                                                                             \
	"numbers", "text", "bytes", "timestamps", "timestamps with time zone", "values of other types"
#define CKF_WORDS_ITEM                                                                             \
	"a number", "text", "bytes", "a timestamp", "a timestamp with time zone", "of another type"
#define CKF_WORDS_AND " and "

/* An item whose hash was different in format version 1 */
#define CKF_SAY_OLD                                                                                \
	"the cuckoofilter was built before release 1.1, which changed the hash of items of this type"
#define CKF_HINT_OLD "Build the filter again."
#define CKF_REST_OLD ": build the filter again"

/* How full a filter is: items (unsigned long long), rate (double). */
#define CKF_FILL "%llu items at a false positive rate of %.3g"
#define CKF_DETAIL_FILL "It has " CKF_FILL "."

/* CKF_PRECISION.  The detail is CKF_DETAIL_FILL; the rest begins with CKF_FILL. */
#define CKF_SAY_PRECISION "cuckoofilter has no precision left"
#define CKF_HINT_PRECISION "Build it with a larger capacity."
#define CKF_REST_PRECISION ": " CKF_FILL "; build it with a larger capacity"

/*
 * CKF_PRECISION of a merge, CKF_COARSE: which input is too coarse (char *: CKF_FIRST, CKF_SECOND),
 * the items of both (unsigned long long).  The detail: CKF_FILL and the capacity (long long) of
 * that input, the rate of the result, the limit (doubles).  The hint: the items of both.  The
 * rest: the arguments of the detail, then that of the hint.
 */
#define CKF_SAY_COARSE "cannot merge cuckoofilters: %s is too coarse for the %llu items of both"
#define CKF_FIRST "the first"
#define CKF_SECOND "the second"
#define CKF_FILL_COARSE                                                                            \
	"has " CKF_FILL " and a capacity of %lld; the result would have a rate of %.3g, above the "    \
	"limit of %.3g"
#define CKF_DETAIL_COARSE "It " CKF_FILL_COARSE "."
#define CKF_HINT_COARSE "Build both with a capacity of at least %llu."
#define CKF_REST_COARSE ": it " CKF_FILL_COARSE "; build both with a capacity of at least %llu"

/* The same for an aggregate: its state has merged the inputs, and knows only their least
 * precision.  The items after they were cut to it (unsigned long long).  The detail: the capacity
 * that this precision keeps (long long), the rate of the result, the limit.  The rest: the
 * arguments of the detail. */
#define CKF_SAY_COARSEST                                                                           \
	"cannot merge cuckoofilters: the coarsest of them is too coarse for %llu items or more"
#define CKF_FILL_COARSEST                                                                          \
	"has the precision of a capacity of %lld; the result would have a rate of %.3g, above the "    \
	"limit of %.3g"
#define CKF_DETAIL_COARSEST "It " CKF_FILL_COARSEST "."
#define CKF_HINT_COARSEST                                                                          \
	"Build each filter with a capacity for the items of all: cuckoofilter_agg(item, fpr, "         \
	"capacity)."
#define CKF_REST_COARSEST                                                                          \
	": it " CKF_FILL_COARSEST "; build each filter with a capacity for the items of all: "         \
	"cuckoofilter_agg(item, fpr, capacity)"

/* CKF_PRECISION because too many copies (in a set, too many hashes) belong to the same buckets:
 * CKF_CROWDED, CKF_CROWDED_HASHES.  The detail is CKF_DETAIL_FILL; the rest begins with CKF_FILL.
 */
#define CKF_SAY_CROWDED "cuckoofilter cannot store so many copies of the same items"
#define CKF_HINT_CROWDED "Build it with kind=set, which keeps one copy of each item."
#define CKF_REST_CROWDED ": " CKF_FILL "; build it with kind=set, which keeps one copy of each item"
#define CKF_SAY_CROWDED_HASHES "cuckoofilter cannot store so many items with similar hashes"
#define CKF_HINT_CROWDED_HASHES                                                                    \
	"Build it with another seed option. Hashes that you compute yourself must be evenly "          \
	"distributed."
#define CKF_REST_CROWDED_HASHES                                                                    \
	": " CKF_FILL "; build it with another seed option (hashes that you compute yourself must be " \
	"evenly distributed)"

/* A result that is too large for the host: its limit (long long), then as CKF_PRECISION */
#define CKF_SAY_TOO_LARGE "cuckoofilter would be larger than %lld bytes"
#define CKF_HINT_TOO_LARGE                                                                         \
	"Spread the items over several filters, or build them with a lower capacity or a higher rate."
#define CKF_REST_TOO_LARGE                                                                         \
	": " CKF_FILL "; spread the items over several filters, or use a lower capacity or a higher "  \
	"rate"

/* A status that is not a failure: its number (int) */
#define CKF_SAY_UNEXPECTED "unexpected cuckoofilter status %d"

#endif
