/*
 * internal.h - what the files of the C library share.
 */
#ifndef CKFL_INTERNAL_H
#define CKFL_INTERNAL_H

#include "cuckoofilter_host.h"
#include "cuckoofilter_program.h"

/* The bytes belong to the filter. */
struct cuckoofilter
{
	ckf_filter filter;
};

/* Fill *error: of a status of the engine, or with a sentence and a hint, which is not formatted.
 * error may be NULL. */
void ckfl_fail(cuckoofilter_error *error, ckf_status status, ckf_about about);
__attribute__((format(printf, 4, 5))) void ckfl_say(cuckoofilter_error *error,
													cuckoofilter_code code, const char *hint,
													const char *format, ...);

/* The item class of an item with these hashes: a decimal may be an integer or a real. */
unsigned ckfl_item_class(cuckoofilter_item item, ckf_hashes hashes);

/* Whether items of all these classes may be in the filter; else *error is filled. */
bool ckfl_may_hold(const ckf_filter *filter, unsigned item_classes, cuckoofilter_error *error);

/* Read parameters.  A capacity of 0 is that of an aggregate, which follows its items. */
bool ckfl_params(ckf_params *params, int64_t capacity, double fpr, const char *options,
				 cuckoofilter_error *error);

/* Memory of at least one byte, or NULL and *error is filled. */
void *ckfl_allocate(size_t size, cuckoofilter_error *error);

/* A program as the host of long operations (cuckoofilter_host.h), in memory of malloc. */
typedef struct ckfl_host
{
	ckf_host host;
	cuckoofilter_error *error; /* or NULL */
} ckfl_host;

ckfl_host ckfl_host_of(cuckoofilter_error *error);

/* A new filter, the rebuild of a and b (cuckoofilter.h), or of a alone (b is NULL).  NULL: *error
 * is filled. */
cuckoofilter *ckfl_rebuild(ckf_operation operation, const ckf_filter *a, const ckf_filter *b,
						   cuckoofilter_error *error);

#endif
