/*
 * drive.h - what a host does for the core: own the bytes, grow them, run rebuilds.  Every buffer is
 * guarded (check.h), and the promises of cuckoofilter.h that can be observed here are checked.
 */
#ifndef DRIVE_H
#define DRIVE_H

#include "check.h"
#include "cuckoofilter.h"

/* A filter or an aggregate's state, and the buffer it lies in. */
typedef struct owned
{
	ckf_filter filter;
	uint8_t *bytes;      /* guarded */
	bool state;          /* opened as one */
	bool fresh;          /* made by owned_state: as long as it is empty, it has taken in nothing */
	struct large *large; /* what a state has become (state.h): the bytes count no more; or NULL */
	/* The values that the filter must have: the classes of its items, and the version of its
	 * format. */
	uint8_t item_classes, format;
} owned;

/* The class of the item of a hash. It depends on the hash alone, so all filters of the same
 * items have the same classes. Most hashes have the first class, fewer the second, and so on.
 * If driven_class is not 0, all hashes have that one. */
extern unsigned driven_class;
unsigned class_of_hash(uint64_t hash);

/* Whether all items are numbers, or values with numbers in them, and some have CKF_ITEM_DECIMAL. */
extern bool driven_numbers;

/* The item of a hash.  If it has CKF_ITEM_DECIMAL, its rounded hash is that of another number. */
ckf_hashes item_of_hash(uint64_t hash);

/* n random hashes; the caller frees them. */
uint64_t *random_hashes(size_t n);
void shuffle_hashes(uint64_t *hashes, size_t n);

/* Compare two hashes, for qsort. */
int compare_hashes(const void *a, const void *b);

/* Build parameters in one expression. */
ckf_params params_of(int64_t capacity, double fpr, bool set, bool plain, unsigned bucket_size);

bool filter_is_set(const ckf_filter *filter);

void owned_create(owned *o, const ckf_params *params);
void owned_state(owned *o, const ckf_params *params);

/* Own a copy of the bytes. The case fails if they do not open. */
void owned_open(owned *o, const void *bytes, size_t size, ckf_trust trust);

void owned_copy(owned *o, const owned *from);

/* The same items, as version 1 of the format wrote them. */
void owned_make_old(owned *o);
void owned_free(owned *o);

/* Open the bytes again, and compare the result with the handle. */
void owned_check(const owned *o);

bool owned_same_bytes(const owned *a, const owned *b);

/* Add; grows as a host would.  CKF_OK or CKF_PRECISION. */
ckf_status owned_add(owned *o, uint64_t hash);

/* Add if there is room. Returns the status of ckf_add. */
ckf_status owned_try_add(owned *o, uint64_t hash);

ckf_status owned_remove(owned *o, uint64_t hash, bool *found);

/* The requests of the core since the program started. */
typedef struct work
{
	uint64_t jobs;    /* rebuilds that were run */
	uint64_t steps;   /* of rebuilds, and quick merges */
	uint64_t edges;   /* of control flow, where the core counts them (tool/) */
	uint64_t longest; /* the most edges between two returns to the host */
} work;

extern work driven;

/* Items after which a rebuild must return, so that its host can check for interrupts; but a
 * rebuild never returns within a table's segment. */
#define MOST_OF_A_STEP 100000

/* Run a rebuild of a and b, filters or states, into a new owned filter; they are read-only
 * meanwhile.  Where it does not come to CKF_OK, nothing is to be freed.  CKF_FINISH_SUM of a
 * state of a union is CKF_FINISH_UNION. */
ckf_status run_rebuild(owned *result, ckf_operation operation, const owned *a, const owned *b);

/* The same of a filter and n hashes: CKF_ADD_MANY, CKF_REMOVE_MANY, and CKF_FINISH of a state. */
ckf_status run_rebuild_hashes(owned *result, ckf_operation operation, const owned *a,
							  const uint64_t *hashes, size_t n);

/* Give each buffer of a rebuild that is too small a new one, and leave the other. */
void give_buffers(ckf_buffers *buffers);

/* Run a rebuild of n filters; buffers->dst, guarded, is the result, or of no use. */
ckf_status rebuild_many(ckf_buffers *buffers, ckf_operation operation, const ckf_filter *const *in,
						unsigned n);

/* The intersection of a and b. */
ckf_status run_comparison(ckf_comparison *comparison, const owned *a, const owned *b);

/* The same in place of o. */
ckf_status owned_rebuild(owned *o, ckf_operation operation, const owned *b);
ckf_status owned_rebuild_hashes(owned *o, ckf_operation operation, const uint64_t *hashes,
								size_t n);

/* Merge a filter or state into a state, as a host does: operation is CKF_MERGE_UNION,
 * CKF_MERGE_SUM, or CKF_FINISH for a state over items. */
ckf_status owned_collect(owned *state, const owned *in, ckf_operation operation);

/* Send a state as a filter, and receive it again. If this is refused, the state does not
 * change. */
ckf_status owned_send(owned *state);

/* Whether a removal of an item leaves it in, as an older version may have added it. */
bool stays_in(const ckf_filter *filter, uint64_t hash);

/* Add or remove n hashes as a host does: few ones singly, else in one rebuild. CKF_OK,
 * CKF_PRECISION (the first ones may have been added singly), CKF_IS_SET. */
ckf_status owned_add_all(owned *o, const uint64_t *hashes, size_t n);
ckf_status owned_remove_all(owned *o, const uint64_t *hashes, size_t n);

/* An aggregate over n hashes, one by one, and the same of all at once. */
void build_aggregate(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n);
void build_bulk(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n);

#endif
