/*
 * cuckoofilter_host.h - run the engine's long operations to their end, in memory of the host.
 *
 * cuckoofilter.h has the steps of these operations.  The functions here repeat the steps, and ask
 * the host for memory, for interrupts and to report errors.  Each returns true, or false after the
 * host has reported why.  It has then released the memory that it took for itself, and the caller
 * still owns what it passed: a collector, a merger or a filter is ended as after a success.  Only
 * ckf_host_change_each frees its argument.  A function of the host may also leave by longjmp, if
 * the host frees the memory.
 */
#ifndef CUCKOOFILTER_HOST_H
#define CUCKOOFILTER_HOST_H

#include "cuckoofilter_chunk.h"

/* A piece of a text, of options for example. */
typedef struct ckf_text
{
	const char *at;
	size_t size;
} ckf_text;

/* The text from `at` to `end` without the blanks around it. */
ckf_text ckf_text_trim(const char *at, const char *end);

/* Whether an option is two options, with no comma between them. */
bool ckf_lacks_comma(ckf_text option);

/* Read a decimal integer from -2^63 to 2^64 - 1.  false: the text is none. */
bool ckf_text_integer(ckf_text text, uint64_t *value);

/* What an error is about.  Members that its status does not need are NULL. */
typedef struct ckf_about
{
	const ckf_filter *filter, *other; /* the inputs */
	const ckf_rebuild *rebuild;       /* CKF_PRECISION of a rebuild; NULL: of an add */
	const ckf_comparison *comparison; /* CKF_UNLIKE_SIZES */
	const ckf_params *params;         /* CKF_BAD_CAPACITY, CKF_BAD_FPR, CKF_BAD_TARGET */
	const char *order;  /* CKF_BAD_FPR: the call with its arguments in the right order; or NULL */
	const char *option; /* CKF_BAD_OPTION, CKF_OPTION_TWICE: the invalid part of an options text */
	size_t option_size;
} ckf_about;

/* What kind of error a status is.  Each host has a code for it. */
typedef enum ckf_fault
{
	CKF_FAULT_PARAMETER,
	CKF_FAULT_BYTES,
	CKF_FAULT_STATE, /* of the filter */
	CKF_FAULT_LIMIT,
	CKF_FAULT_INTERNAL
} ckf_fault;

/* A text of an error (messages.h). */
typedef enum ckf_error_field
{
	CKF_MESSAGE,
	CKF_DETAIL,
	CKF_HINT
} ckf_error_field;

#if defined(__GNUC__) && !defined(_WIN32)
#define CKF_LIKE_PRINTF __attribute__((format(printf, 3, 4)))
#else
#define CKF_LIKE_PRINTF
#endif

/* How a host writes the texts of an error. */
typedef struct ckf_writer ckf_writer;
struct ckf_writer
{
	void (*write)(ckf_writer *writer, ckf_error_field part, const char *format,
				  ...) CKF_LIKE_PRINTF;
	const char *bad_fpr, *bad_target; /* CKF_SAY_BAD_FPR and CKF_SAY_BAD_TARGET of this host */
	bool sql;                         /* the options are arguments of SQL functions */
};

/* Write the texts of an error, each at most once. */
ckf_fault ckf_describe(ckf_writer *writer, ckf_status status, const ckf_about *about);

/* The classes of the items in a filter, as words; the class of one item. */
#define CKF_HELD_SIZE 128
const char *ckf_describe_held(char text[CKF_HELD_SIZE], unsigned item_classes);
const char *ckf_describe_item(unsigned item_class);

/* A host.  Usually the first member of a larger struct. */
typedef struct ckf_host ckf_host;
struct ckf_host
{
	/*
	 * Free `memory`, unless it is NULL, and allocate `size` bytes, aligned to 8; their contents do
	 * not matter.  size 0: only free; the result is not used.  `origin` is NULL, or the memory is
	 * for the bytes of a filter, and `origin` is the filter that it is made of, for an error that
	 * says that it is too large.  NULL: there is no memory, which the host has reported.
	 */
	void *(*renew)(ckf_host *host, void *memory, size_t size, const ckf_filter *origin);
	/* Whether the operation must end, which the host has reported then.  It is asked every few
	 * milliseconds. */
	bool (*stops)(ckf_host *host);
	void (*report)(ckf_host *host, ckf_status status, ckf_about about);
};

/* A filter whose bytes the host has given.  These functions make and change one; ckf_host_free, or
 * the host, frees its bytes. */
void ckf_host_free(ckf_host *host, ckf_filter *owned);

/* A copy of a filter; one in hashes has room for `more` hashes. */
bool ckf_host_copy(ckf_host *host, const ckf_filter *filter, size_t more, ckf_filter *owned);

/* Copy bytes, and ask for interrupts between them. */
bool ckf_host_copy_bytes(ckf_host *host, void *to, const void *from, size_t size);

/*
 * Check every slot of a filter that was opened by CKF_STORED: the one loop over ckf_check_step for
 * all hosts.  Unlike the other functions it reports no error, since some hosts have an answer to
 * it: CKF_OK, CKF_BAD_BYTES; CKF_MORE: the host stopped it.
 */
ckf_status ckf_host_check(ckf_host *host, const ckf_filter *filter);

/* A rebuild to run; members that are not set are 0. */
typedef struct ckf_task
{
	ckf_operation operation;
	const ckf_filter *const *in; /* the inputs */
	unsigned inputs;
	void *bytes;                /* memory for the result, `room` bytes; NULL: the host gives it */
	size_t room;                /* enough for the result; if the host gives it: the least bytes */
	ckf_comparison *comparison; /* of CKF_COMPARE */
	const ckf_filter *before;   /* growth amid a batch: see ckf_rebuild_of_batch */
	uint64_t more;
	/* a rebuild whose items the host feeds: start it, and do what CKF_FEED asks for (false: it
	 * failed, which the host has reported) */
	ckf_status (*start)(ckf_rebuild *rebuild, void *data);
	bool (*feed)(ckf_host *host, ckf_rebuild *rebuild, void *data);
	void *data;
} ckf_task;

/* Run a rebuild.  *result is its result, opened; it must not be an input.  result is NULL for
 * CKF_COMPARE, and may be if task->bytes is set. */
bool ckf_host_run(ckf_host *host, const ckf_task *task, ckf_filter *result);

/* Run a rebuild of a and b, or of a alone (b is NULL). */
bool ckf_host_build(ckf_host *host, ckf_operation operation, const ckf_filter *a,
					const ckf_filter *b, ckf_filter *result);

/* Replace an owned filter by the rebuild of it and b, or of it alone (b is NULL). */
bool ckf_host_rebuild(ckf_host *host, ckf_operation operation, ckf_filter *owned,
					  const ckf_filter *b);

/* Let a merger take a filter. */
bool ckf_host_merge(ckf_host *host, ckf_merger *merger, const ckf_filter *in);

/* Merge all filters of a merger into one, merger->part[0]. */
bool ckf_host_merge_all(ckf_host *host, ckf_merger *merger);

/* *result is the union or sum of all filters of a merger, at least one.  The merger stays valid. */
bool ckf_host_merge_finish(ckf_host *host, const ckf_merger *merger, ckf_filter *result);

/* Free all filters of a merger. */
void ckf_host_merge_end(ckf_host *host, ckf_merger *merger);

/* Add a hash to an owned filter, which grows if it must. */
bool ckf_host_add(ckf_host *host, ckf_filter *owned, uint64_t hash, unsigned item_classes);

/* Hashes to add or to remove, of items of these classes. */
typedef struct ckf_list
{
	const uint64_t *hashes;
	const uint64_t *rounded; /* the older ones (ckf_hashes); NULL if there are no decimals */
	size_t count;
	unsigned item_classes;
} ckf_list;

/* Change an owned filter by each hash of a list.  operation: CKF_ADD_MANY or CKF_REMOVE_MANY.
 * false: the filter is freed. */
bool ckf_host_change_each(ckf_host *host, ckf_operation operation, ckf_filter *owned,
						  const ckf_list *list);

/* *result is a filter changed by each hash of a list: one by one or by a rebuild, whichever costs
 * less. */
bool ckf_host_change(ckf_host *host, ckf_operation operation, const ckf_filter *filter,
					 const ckf_list *list, ckf_filter *result);

/* Copies of equal hashes that a collector of adds or removals keeps: no filter stores more. */
#define CKF_MOST_COPIES 16

/*
 * Whether more items can be added to a table of chunks. Its number of items is not stored, since
 * each add would then change a second row; hashes are evenly distributed, so any chunk gives an
 * estimate. Far below the limit the estimate from one chunk is enough. Closer to it more chunks are
 * read, and finally all are counted. The functions return 0, or what ckf_host_reserve shall return.
 */
typedef struct ckf_reserve ckf_reserve;
struct ckf_reserve
{
	const ckf_chunks *chunks;
	uint64_t *allowed; /* adds that are allowed before the next estimate; the host keeps it */
	/* the copies in the chunk of a hash, times 2 to the power of its depth; no chunk: 0 */
	int (*estimate)(ckf_reserve *reserve, uint64_t hash, double *copies);
	int (*count)(ckf_reserve *reserve, uint64_t *copies); /* of the table */
	int (*write)(ckf_reserve *reserve); /* the adds that wait, before the estimates
										 * from many chunks; may be NULL */
	uint64_t pending;                   /* their number */
};

/* Reserve room for n items, the first of which has this hash. *full: there is none; *copies is then
 * the number of items in the table. */
int ckf_host_reserve(ckf_reserve *reserve, uint64_t hash, uint64_t n, bool *full, uint64_t *copies);

/* What all chunks of a table are together.  All zeros before the first one. */
typedef struct ckf_tally
{
	ckf_info info; /* after ckf_tally_end, the fields of CKF_TABLE_INFO_FIELDS */
	uint64_t copies, bytes, rows, distinct;
	bool whole; /* the items are whole hashes */
} ckf_tally;

/* Count a chunk.  `scratch` is that of ckf_chunk_distinct. */
void ckf_tally_chunk(ckf_tally *tally, const ckf_chunk *chunk, void *scratch);

/* All chunks are counted; their items are of these classes. */
void ckf_tally_end(ckf_tally *tally, const ckf_chunks *chunks, unsigned item_classes);

/* Whether chunks, one by one in the order of their rows, are a table.  All zeros before the first
 * one. */
typedef struct ckf_coverage
{
	uint64_t next; /* the start of the next chunk */
	bool any, end;
} ckf_coverage;

/* Check the next chunk; after the last one, that all hashes are covered.  The result says what is
 * wrong; NULL: nothing. */
const char *ckf_cover(ckf_coverage *coverage, const ckf_chunk *chunk);
const char *ckf_covered(const ckf_coverage *coverage);

/* Make room in a collector. */
bool ckf_host_make_room(ckf_host *host, ckf_collector *collector);

/* Take the hash of an item of this class. */
static inline bool
ckf_host_collect(ckf_host *host, ckf_collector *collector, uint64_t hash, unsigned item_class)
{
	while (!ckf_collect(collector, hash, item_class))
		if (!ckf_host_make_room(host, collector))
			return false;
	return true;
}

/* Take the items of a filter in hashes. */
bool ckf_host_collect_filter(ckf_host *host, ckf_collector *collector, const ckf_filter *in);

/* *result is a filter and the hashes of a collector that has settled and had taken `items`, which
 * are added one by one or by a rebuild. */
bool ckf_host_add_collected(ckf_host *host, const ckf_filter *filter,
							const ckf_collector *collector, uint64_t items, ckf_filter *result);

/* Sort all hashes: collector->filter may then be an input of a rebuild. */
bool ckf_host_settle(ckf_host *host, ckf_collector *collector);

/* Free all blocks of a collector. */
void ckf_host_collect_end(ckf_host *host, ckf_collector *collector);

#endif
