/*
 * handle.h - the filters that cuckoofilter_open keeps in memory.
 */
#ifndef CKFS_HANDLE_H
#define CKFS_HANDLE_H

#include "connection.h"

void ckfs_handles_start(ckfs_handles *handles);
void ckfs_handles_end(ckfs_handles *handles);

/* The filter of a handle; `bytes` has the size of a ckfs_name.  NULL, with an error: it is not open
 * in this connection.  The filter stays valid until the calling function opens another one. */
const ckf_filter *ckfs_handle_filter(sqlite3_context *ctx, ckfs_handles *handles, const void *bytes,
									 ckf_trust trust);

/* Whether bytes of the size of a ckfs_name are a handle. */
bool ckfs_is_handle(const void *bytes);

/* Pin a handle whose filter is read while SQL runs, since that SQL may open other handles.  The
 * filter stays until it is unpinned.  NULL: the handle is not open in this connection.
 * ckfs_handle_unpin accepts NULL. */
ckfs_handle *ckfs_handle_pin(ckfs_handles *handles, const void *bytes);
void ckfs_handle_unpin(ckfs_handle *handle);
const ckf_filter *ckfs_pinned_filter(const ckfs_handle *handle);

/* Return a handle of the filter as the result of the function. */
void ckfs_result_handle(sqlite3_context *ctx, const ckf_filter *filter);

#endif
