/*
 * edit.c - change chunks: add, remove, pack.
 *
 * Adding or removing a few items changes a copy of a table's bytes in place.  Any other edit
 * rebuilds chunks: items pass through the window, and pieces.c writes them.
 */
#include "chunk/edit.h"
#include "open/choose.h"
#include "filter/methods.h"

/* ------------------------------------------------------------------ window */

/* The items of the chunk and the added items are merged and cut, and the copies above the limit are
 * dropped. */

/* What a call that has read items returns. */
static ckf_status
ckf_edit_status(const ckf_edit *edit)
{
	return edit->state == CKF_EDIT_DAMAGED ? CKF_BAD_BYTES : CKF_OK;
}

/* Initialize an edit that has read nothing and has nothing to write. */
static void
ckf_edit_begin(ckf_edit *edit, const ckf_chunks *chunks)
{
	memset(edit, 0, offsetof(ckf_edit, frame)); /* buffers are written before they are read */
	edit->chunks = chunks;                      /* the state is CKF_EDIT_DONE */
}

/* Write new chunks for the range of a chunk; NULL: for the range of all hashes. */
static void
ckf_edit_range(ckf_edit *edit, const ckf_chunk *chunk)
{
	ckf_edit_go(edit, CKF_EDIT_WRITES);
	edit->cursor = chunk ? chunk->start : 0;
	edit->last = chunk ? chunk->last : UINT64_MAX;
	edit->least_depth = chunk ? chunk->depth : 0;
}

/* Read the items of a chunk to `old`.  CKF_BAD_BYTES: their number differs from its count. */
static ckf_status
ckf_edit_read(ckf_edit *edit, const ckf_chunk *chunk)
{
	edit->old_at = 0;
	edit->old_have = ckf_chunk_items(chunk, edit->old);
	edit->stored -= (int64_t)edit->old_have;
	return edit->old_have == chunk->count ? CKF_OK : CKF_BAD_BYTES;
}

/* Append an item to the window, unless it has the most copies already. */
CKF_INLINE void
ckf_take_item(ckf_edit *edit, uint64_t item, unsigned most)
{
	if (item < edit->group)
		ckf_edit_go(edit, CKF_EDIT_DAMAGED);
	edit->copies = item == edit->group ? edit->copies + 1 : 1;
	edit->group = item;
	edit->window[edit->have] = item;
	edit->have += edit->copies <= most;
}

void
ckf_edit_fill(ckf_edit *edit)
{
	unsigned most = ckf_chunk_most_copies(edit->chunks);

	edit->have -= edit->at;
	memmove(edit->window, edit->window + edit->at, edit->have * sizeof *edit->window);
	edit->at = 0;
	while (edit->have < CKF_WINDOW && ckf_edit_more(edit))
	{
		uint64_t old = UINT64_MAX, added = UINT64_MAX;
		bool is_old = edit->old_at < edit->old_have;

		if (is_old)
			old = ckf_chunk_cut(edit->chunks, edit->whole, edit->old[edit->old_at]);
		if (edit->adds_at < edit->adds_have)
		{
			added = ckf_chunk_cut(edit->chunks, edit->whole, edit->adds[edit->adds_at]);
			is_old = is_old && old <= added;
		}
		edit->old_at += is_old;
		edit->adds_at += !is_old;
		ckf_take_item(edit, is_old ? old : added, most);
	}
}

/* Cut the whole hashes in the window to prefixes; later items are prefixes, too. */
static void
ckf_edit_to_prefixes(ckf_edit *edit)
{
	unsigned most = ckf_chunk_most_copies(edit->chunks);
	size_t have = edit->have;
	size_t i;

	edit->whole = false;
	edit->have = edit->at;
	edit->group = 0;
	for (i = edit->at; i < have; i++)
		ckf_take_item(edit, ckf_chunk_cut(edit->chunks, false, edit->window[i]), most);
}

/* ---------------------------------------------------------------- in place */

/* Copy a table to `frame`.  Room for a filter's header precedes the copy, since the methods of a
 * table write the count there. */
static ckf_filter
ckf_copy_table(ckf_edit *edit, const ckf_chunk *chunk)
{
	ckf_filter t = chunk->table;

	memcpy(edit->frame + CKF_HEADER_SIZE, chunk->bytes, chunk->size);
	ckf_move(&t, edit->frame);
	return t;
}

/* Make the copy the only piece, if it has changed. */
static void
ckf_use_copy(ckf_edit *edit, const ckf_chunk *chunk, const ckf_filter *t)
{
	edit->stored = (int64_t)t->count - (int64_t)chunk->count;
	if (edit->stored == 0)
		return;
	ckf_chunk_seal(edit->frame + CKF_HEADER_SIZE, chunk->chunks, chunk->start, chunk->depth,
				   CKF_CHUNK_TABLE, t->m, (uint32_t)t->count, chunk->size - CKF_TRAILER);
	edit->piece = (ckf_chunk_piece){chunk->start, chunk->depth, chunk->size, t->count};
	ckf_edit_go(edit, CKF_EDIT_COPY);
}

/* false: there is no room. */
static bool
ckf_add_in_place(ckf_edit *edit, const ckf_chunk *chunk, const uint64_t *items, size_t n)
{
	ckf_filter t;
	size_t i;

	if (chunk->kind != CKF_CHUNK_TABLE ||
		(n > 1 && (n > CKF_CHUNK_ITEMS || chunk->count + n > chunk->table.full_count)))
		return false;
	t = ckf_copy_table(edit, chunk);
	for (i = 0; i < n; i++)
		if (t.methods->add(&t, items[i] << chunk->depth) != CKF_OK)
			return false;
	ckf_use_copy(edit, chunk, &t);
	return true;
}

static void
ckf_remove_in_place(ckf_edit *edit, const ckf_chunk *chunk, const uint64_t *hashes, size_t n)
{
	ckf_filter t = ckf_copy_table(edit, chunk);
	bool found;
	size_t i;

	for (i = 0; i < n; i++)
		(void)t.methods->remove(&t, hashes[i] << chunk->depth, &found);
	ckf_use_copy(edit, chunk, &t);
}

/* --------------------------------------------------------------------- add */

/* Select the items of the array that are in the range.  false: the first one is not. */
static bool
ckf_take_adds(ckf_edit *edit, const ckf_chunk *chunk, const uint64_t *items, size_t n,
			  size_t *taken)
{
	*taken = 0;
	if (n > 0 && chunk && !ckf_chunk_covers(chunk, items[0]))
		return false;
	*taken = chunk ? ckf_count_through(items, n, chunk->last) : n;
	edit->adds = items;
	edit->adds_have = *taken;
	return true;
}

/* Few hashes stay whole, unless the chunk has prefixes already. */
static void
ckf_fill_whole(ckf_edit *edit)
{
	ckf_edit_fill(edit);
	if (edit->whole && (ckf_edit_more(edit) || edit->have > edit->chunks->most_whole))
		ckf_edit_to_prefixes(edit);
}

ckf_status
ckf_edit_add(ckf_edit *edit, const ckf_chunks *chunks, const ckf_chunk *chunk,
			 const uint64_t *items, size_t n, bool whole, size_t *taken)
{
	bool was_whole = !chunk || chunk->kind == CKF_CHUNK_HASHES;

	ckf_edit_begin(edit, chunks);
	if (!ckf_take_adds(edit, chunk, items, n, taken))
		return CKF_BAD_BYTES;
	if (chunk && (*taken == 0 || ckf_add_in_place(edit, chunk, items, *taken)))
		return CKF_OK;
	if (chunk && ckf_edit_read(edit, chunk) != CKF_OK)
		return CKF_BAD_BYTES;
	ckf_edit_range(edit, chunk);
	edit->grows = chunk != NULL;
	edit->whole = whole && was_whole;
	ckf_fill_whole(edit);
	if (ckf_edit_status(edit) != CKF_OK)
		return CKF_BAD_BYTES;
	/* all items had the most copies already: nothing has changed */
	if (chunk && edit->whole == was_whole && !ckf_edit_more(edit) && edit->have == edit->old_have)
	{
		edit->stored = 0;
		ckf_edit_go(edit, CKF_EDIT_DONE);
	}
	return CKF_OK;
}

/* ------------------------------------------------------------------ remove */

/* The number of copies that removals leave of `copies` equal items. */
static unsigned
ckf_copies_left(const ckf_edit *edit, unsigned copies, size_t removals)
{
	if (copies >= ckf_chunk_most_copies(edit->chunks))
		return copies; /* saturated */
	return removals >= copies ? 0 : copies - (unsigned)removals;
}

/* Count the removals of an item, and skip removals of smaller items, which the chunk does not
 * have. */
static size_t
ckf_removals_through(ckf_edit *edit, uint64_t item)
{
	size_t n = 0;

	while (edit->adds_at < edit->adds_have)
	{
		uint64_t next = ckf_chunk_cut(edit->chunks, edit->whole, edit->adds[edit->adds_at]);

		if (next > item)
			break;
		n += next == item;
		edit->adds_at++;
	}
	return n;
}

/* Apply removals to the items that were read. */
static void
ckf_remove_from_items(ckf_edit *edit)
{
	size_t left = 0;
	size_t i = 0;

	while (i < edit->old_have)
	{
		uint64_t item = edit->old[i];
		unsigned copies = 0;
		unsigned stay;

		for (; i < edit->old_have && edit->old[i] == item; i++)
			copies++;
		stay = ckf_copies_left(edit, copies, ckf_removals_through(edit, item));
		for (; stay > 0; stay--)
			edit->old[left++] = item;
	}
	edit->old_have = left;
	edit->adds_have = edit->adds_at = 0;
}

/* Whether a chunk of the remaining items would be smaller by a quarter. */
static bool
ckf_may_shrink(const ckf_edit *edit, const ckf_chunk *chunk)
{
	ckf_filter t = chunk->chunks->like;
	uint64_t items = edit->piece.count;

	t.rho_bits = chunk->width;
	return ckf_choose_buckets(&t, items + items / CKF_CHUNK_SPARE + 1) &&
		   (uint64_t)2 * t.m * ckf_bucket_bits(t.b, t.f, t.encoding == CKF_SEMI_SORTED) <
			   (uint64_t)6 * (chunk->size - CKF_TRAILER);
}

/* Write the range of the chunk again, from the items that are left. */
static ckf_status
ckf_write_rest(ckf_edit *edit, const ckf_chunk *chunk)
{
	edit->grows = true;
	ckf_edit_range(edit, chunk);
	ckf_edit_fill(edit);
	return ckf_edit_status(edit);
}

/* Shrink the piece in `frame`, from which items were removed. */
static ckf_status
ckf_shrink(ckf_edit *edit, const ckf_chunk *chunk)
{
	ckf_chunk copy;
	ckf_status status = ckf_chunk_open(&copy, chunk->chunks, chunk->start,
									   edit->frame + CKF_HEADER_SIZE, edit->piece.size);

	if (status == CKF_OK)
		status = ckf_edit_read(edit, &copy);
	if (status != CKF_OK)
		return status;
	return ckf_write_rest(edit, chunk);
}

ckf_status
ckf_edit_remove(ckf_edit *edit, const ckf_chunks *chunks, const ckf_chunk *chunk,
				const uint64_t *hashes, size_t n, size_t *taken)
{
	size_t before;

	ckf_edit_begin(edit, chunks);
	*taken = 0;
	if (chunks->like.deduplicated)
		return CKF_IS_SET;
	if (!ckf_take_adds(edit, chunk, hashes, n, taken))
		return CKF_BAD_BYTES;
	if (!chunk || *taken == 0)
		return CKF_OK;
	if (chunk->kind == CKF_CHUNK_TABLE)
	{
		ckf_remove_in_place(edit, chunk, hashes, *taken);
		edit->adds_have = 0;
		return edit->state == CKF_EDIT_COPY && ckf_may_shrink(edit, chunk) ? ckf_shrink(edit, chunk)
																		   : CKF_OK;
	}
	if (ckf_edit_read(edit, chunk) != CKF_OK)
		return CKF_BAD_BYTES;
	before = edit->old_have;
	edit->whole = chunk->kind == CKF_CHUNK_HASHES;
	ckf_remove_from_items(edit);
	if (edit->old_have == before)
	{
		edit->stored = 0;
		return CKF_OK;
	}
	return ckf_write_rest(edit, chunk);
}

int64_t
ckf_edit_stored(const ckf_edit *edit)
{
	return edit->stored;
}

/* -------------------------------------------------------------------- pack */

void
ckf_edit_pack(ckf_edit *edit, const ckf_chunks *chunks)
{
	ckf_edit_begin(edit, chunks);
	ckf_edit_range(edit, NULL);
	ckf_edit_go(edit, CKF_EDIT_FEEDS);
}

ckf_status
ckf_edit_feed(ckf_edit *edit, const ckf_chunk *chunk)
{
	if (edit->state != CKF_EDIT_WAITS)
		return CKF_BAD_BYTES;
	/* the ranges must cover all hashes, unless there are no chunks */
	if (chunk ? chunk->start != edit->fed || ckf_edit_read(edit, chunk) != CKF_OK : edit->fed != 0)
		ckf_edit_go(edit, CKF_EDIT_DAMAGED);
	else if (!chunk)
		ckf_edit_go(edit, CKF_EDIT_DONE);
	else
	{
		edit->fed = chunk->last + 1;
		edit->whole = chunk->kind == CKF_CHUNK_HASHES;
		ckf_edit_go(edit, edit->fed != 0 ? CKF_EDIT_FEEDS : CKF_EDIT_WRITES);
		ckf_edit_fill(edit);
	}
	return ckf_edit_status(edit);
}
