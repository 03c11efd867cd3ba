/*
 * handle.h - filters that cuckoofilter_open holds.
 */
#ifndef CKFS_HANDLE_H
#define CKFS_HANDLE_H

#include "connection.h"

void ckfs_handles_start(ckfs_handles *handles);
void ckfs_handles_end(ckfs_handles *handles);

/* The filter of a handle, as many bytes as a name has; NULL, with an error, where it
 * is not open here.  It stays until the function that asks opens another. */
const ckf_filter *ckfs_handle_filter(sqlite3_context *ctx, ckfs_handles *handles, const void *bytes,
									 ckf_trust trust);

/* Do bytes of a name's size look like a handle's? */
bool ckfs_is_handle(const void *bytes);

/* A handle whose filter is read while SQL runs, which may open others: it stays until it is
 * unpinned.  NULL where it is not open here; NULL may be unpinned. */
ckfs_handle *ckfs_handle_pin(ckfs_handles *handles, const void *bytes);
void ckfs_handle_unpin(ckfs_handle *handle);
const ckf_filter *ckfs_pinned_filter(const ckfs_handle *handle);

/* Make a handle of a filter the result. */
void ckfs_result_handle(sqlite3_context *ctx, const ckf_filter *filter);

#endif
