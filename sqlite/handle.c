/*
 * handle.c - the filters that cuckoofilter_open keeps in memory.
 *
 * A handle is a short BLOB: a signature, the hash of the filter's bytes, and a serial number.  It
 * works wherever a value does, and the functions of the connection that made it find its filter. (A
 * pointer value of SQLite becomes NULL when it passes through FROM, WITH, a view or coalesce().  A
 * filter that becomes NULL loses rows without an error.)
 *
 * Opening bytes that are open already returns their handle, so a query that opens a filter in each
 * row stores it once.  Each connection has handles of its own, so cuckoofilter_open is not
 * deterministic.
 */
#include "connection.h"

#include "error.h"
#include "owned.h"

#include <string.h>

/* The bytes that all handles of a connection may take.  Beyond that, the least recently used
 * handles are closed, but never the two most recent ones, however large they are.  So a filter that
 * was just opened can be used, together with another one. */
#ifndef CKFS_MAX_HANDLE_BYTES
#define CKFS_MAX_HANDLE_BYTES ((uint64_t)256 << 20)
#endif
#define CKFS_LEAST_HANDLES 2

/* The number of handles in a connection whose BLOBs stay allocated until it is closed. */
#ifndef CKFS_MAX_NAMES
#define CKFS_MAX_NAMES 32768
#endif

#define CKFS_FIRST_CHAINS 16

/* A handle's BLOB begins with this; no filter does. */
static const char ckfs_sign[8] = {'c', 'k', 'f', '-', 'o', 'p', 'e', 'n'};

_Static_assert(sizeof(ckfs_name) == 24, "a handle has no padding");

/*
 * The BLOB of a handle, which stays at its address until the connection is closed.  SQLite does not
 * copy such a BLOB (SQLITE_STATIC).  Before 3.43 it would allocate memory for any other BLOB in
 * each call of a function with a subquery, which made a lookup take twice as long.  SQLite may read
 * the BLOB after the handle was closed, so it is never freed or reused; instead, their number is
 * limited.
 */
struct ckfs_kept
{
	ckfs_kept *next;
	ckfs_name name;
};

struct ckfs_handle
{
	ckf_filter filter;
	ckfs_name name;
	const ckfs_kept *kept;      /* the same name, allocated; NULL: SQLite must copy it */
	ckfs_handle *next;          /* of its hash chain */
	ckfs_handle *newer, *older; /* in the order of their last use */
	bool checked;               /* each slot was checked */
	unsigned pins;              /* users that read it while SQL runs; it cannot be closed */
	uint8_t bytes[];
};

static uint64_t
ckfs_handle_size(const ckfs_handle *handle)
{
	return sizeof(ckfs_handle) + handle->filter.size;
}

void
ckfs_handles_start(ckfs_handles *handles)
{
	*handles = (ckfs_handles){0};
	sqlite3_randomness(sizeof(handles->seed), &handles->seed);
	handles->serial = handles->seed;
}

void
ckfs_handles_end(ckfs_handles *handles)
{
	while (handles->newest)
	{
		ckfs_handle *handle = handles->newest;

		handles->newest = handle->older;
		sqlite3_free(handle);
	}
	while (handles->kept)
	{
		ckfs_kept *kept = handles->kept;

		handles->kept = kept->next;
		sqlite3_free(kept);
	}
	sqlite3_free(handles->chains);
}

/* ------------------------------------------------------- order of last use */

static void
ckfs_unlink(ckfs_handles *handles, ckfs_handle *handle)
{
	*(handle->newer ? &handle->newer->older : &handles->newest) = handle->older;
	*(handle->older ? &handle->older->newer : &handles->oldest) = handle->newer;
}

static void
ckfs_link_newest(ckfs_handles *handles, ckfs_handle *handle)
{
	handle->newer = NULL;
	handle->older = handles->newest;
	*(handles->newest ? &handles->newest->newer : &handles->oldest) = handle;
	handles->newest = handle;
	handles->last = handle->name;
	handles->last_filter = &handle->filter;
}

static ckfs_handle *
ckfs_use(ckfs_handles *handles, ckfs_handle *handle)
{
	if (handle && handle != handles->newest)
	{
		ckfs_unlink(handles, handle);
		ckfs_link_newest(handles, handle);
	}
	return handle;
}

/* ---------------------------------------------------------------- by hash */

/* The chain of a hash. */
static ckfs_handle **
ckfs_chain(const ckfs_handles *handles, uint64_t hash)
{
	return &handles->chains[hash & (handles->chain_count - 1)];
}

/* Double the number of chains, or allocate the first ones. false: out of memory. */
static bool
ckfs_more_chains(ckfs_handles *handles)
{
	size_t count = handles->chains ? handles->chain_count * 2 : CKFS_FIRST_CHAINS;
	ckfs_handle **chains = sqlite3_malloc64(count * sizeof(ckfs_handle *));
	ckfs_handle *handle;

	if (!chains)
		return false;
	memset(chains, 0, count * sizeof(ckfs_handle *));
	sqlite3_free(handles->chains);
	handles->chains = chains;
	handles->chain_count = count;
	for (handle = handles->newest; handle; handle = handle->older)
	{
		ckfs_handle **chain = ckfs_chain(handles, handle->name.hash);

		handle->next = *chain;
		*chain = handle;
	}
	return true;
}

static ckfs_handle *
ckfs_find_name(const ckfs_handles *handles, const void *bytes)
{
	ckfs_handle *handle;
	ckfs_name name;

	memcpy(&name, bytes, sizeof(name)); /* which may be unaligned */
	handle = handles->chains ? *ckfs_chain(handles, name.hash) : NULL;
	while (handle && memcmp(&handle->name, &name, sizeof(name)) != 0)
		handle = handle->next;
	return handle;
}

static bool
ckfs_has_bytes(const ckfs_handle *handle, const ckf_filter *filter)
{
	return handle->filter.size == filter->size &&
		   memcmp(handle->bytes, filter->bytes, filter->size) == 0;
}

static ckfs_handle *
ckfs_find_bytes(const ckfs_handles *handles, const ckf_filter *filter, uint64_t hash)
{
	ckfs_handle *handle = handles->chains ? *ckfs_chain(handles, hash) : NULL;

	while (handle && (handle->name.hash != hash || !ckfs_has_bytes(handle, filter)))
		handle = handle->next;
	return handle;
}

/* ------------------------------------------------------------ open and drop */

/* Close the least recently used handle that is not pinned. false: there is none. */
static bool
ckfs_drop_oldest(ckfs_handles *handles)
{
	ckfs_handle *handle = handles->oldest;
	ckfs_handle **link;

	while (handle && handle->pins > 0)
		handle = handle->newer;
	if (!handle || handle == handles->newest)
		return false;
	link = ckfs_chain(handles, handle->name.hash);
	while (*link != handle)
		link = &(*link)->next;
	*link = handle->next;
	ckfs_unlink(handles, handle);
	handles->count--;
	handles->bytes -= ckfs_handle_size(handle);
	sqlite3_free(handle);
	return true;
}

static void
ckfs_insert(ckfs_handles *handles, ckfs_handle *handle)
{
	ckfs_handle **chain = ckfs_chain(handles, handle->name.hash);

	handle->next = *chain;
	*chain = handle;
	ckfs_link_newest(handles, handle);
	handles->count++;
	handles->bytes += ckfs_handle_size(handle);
	while (handles->bytes > CKFS_MAX_HANDLE_BYTES && handles->count > CKFS_LEAST_HANDLES &&
		   ckfs_drop_oldest(handles))
		continue;
}

/* Allocate the name of a handle for good, if the limit allows it. */
static const ckfs_kept *
ckfs_keep(ckfs_handles *handles, const ckfs_name *name)
{
	ckfs_kept *kept =
		handles->kept_count < CKFS_MAX_NAMES ? sqlite3_malloc64(sizeof(ckfs_kept)) : NULL;

	if (!kept)
		return NULL;
	kept->name = *name;
	kept->next = handles->kept;
	handles->kept = kept;
	handles->kept_count++;
	return kept;
}

/* Make a handle for bytes that are not open yet. */
static ckfs_handle *
ckfs_new_handle(sqlite3_context *ctx, ckfs_handles *handles, const ckf_filter *filter,
				uint64_t hash)
{
	ckfs_host host = ckfs_host_of(ctx);
	ckfs_handle *handle;

	/* without memory for more chains, the chains get longer */
	if (handles->count >= handles->chain_count && !ckfs_more_chains(handles) && !handles->chains)
		handle = NULL;
	else
		handle = sqlite3_malloc64(sizeof(ckfs_handle) + filter->size);
	if (!handle)
	{
		sqlite3_result_error_nomem(ctx);
		return NULL;
	}
	if (!ckf_host_copy_bytes(&host.host, handle->bytes, filter->bytes, filter->size))
	{
		sqlite3_free(handle);
		return NULL;
	}
	handle->filter = *filter;
	ckf_move(&handle->filter, handle->bytes);
	memcpy(handle->name.sign, ckfs_sign, sizeof(ckfs_sign));
	handle->name.hash = hash;
	handle->name.serial = handles->serial++;
	handle->kept = ckfs_keep(handles, &handle->name);
	handle->checked = false;
	handle->pins = 0;
	ckfs_insert(handles, handle);
	return handle;
}

void
ckfs_result_handle(sqlite3_context *ctx, const ckf_filter *filter)
{
	ckfs_handles *handles = &ckfs_user_data(ctx)->connection->handles;
	ckfs_handle *handle = handles->newest;
	uint64_t hash;

	/* Check the newest handle first, which may be that of the filter itself: a join that opens one
	 * filter in each row does not hash it each time. */
	if (!handle || (&handle->filter != filter && !ckfs_has_bytes(handle, filter)))
	{
		hash = ckf_hash_bytes(CKF_CLASS_BYTES, filter->bytes, filter->size, handles->seed);
		handle = ckfs_use(handles, ckfs_find_bytes(handles, filter, hash));
		if (!handle)
			handle = ckfs_new_handle(ctx, handles, filter, hash);
	}
	if (handle && handle->kept)
		sqlite3_result_blob(ctx, &handle->kept->name, sizeof(ckfs_name), SQLITE_STATIC);
	else if (handle)
		sqlite3_result_blob(ctx, &handle->name, sizeof(ckfs_name), SQLITE_TRANSIENT);
}

bool
ckfs_is_handle(const void *bytes)
{
	return memcmp(bytes, ckfs_sign, sizeof(ckfs_sign)) == 0;
}

ckfs_handle *
ckfs_handle_pin(ckfs_handles *handles, const void *bytes, const ckf_filter **filter)
{
	ckfs_handle *handle = ckfs_use(handles, ckfs_find_name(handles, bytes));

	if (handle)
	{
		*filter = &handle->filter;
		handle->pins++;
	}
	return handle;
}

void
ckfs_handle_unpin(ckfs_handle *handle)
{
	if (handle)
		handle->pins--;
}

const ckf_filter *
ckfs_handle_filter(sqlite3_context *ctx, ckfs_handles *handles, const void *bytes, ckf_trust trust)
{
	ckfs_handle *handle = ckfs_use(handles, ckfs_find_name(handles, bytes));

	if (!handle)
	{
		if (ckfs_is_handle(bytes))
			sqlite3_result_error(ctx, CKFS_SAY_NO_HANDLE, -1);
		else
			ckfs_error(ctx, CKF_BAD_BYTES, (ckf_about){0});
		return NULL;
	}
	if (trust != CKF_STORED && !handle->checked)
	{
		if (!ckfs_check_slots(ctx, &handle->filter))
			return NULL;
		handle->checked = true;
	}
	return &handle->filter;
}
