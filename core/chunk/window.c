/*
 * window.c - the items of an edit: the items of the chunk and the added items are merged and cut,
 * and the copies above the limit are dropped.
 */
#include "chunk/window.h"

void
ckf_edit_begin(ckf_edit *edit, const ckf_chunks *chunks)
{
	memset(edit, 0, offsetof(ckf_edit, frame)); /* buffers are written before they are read */
	edit->chunks = chunks;                      /* the state is CKF_EDIT_DONE */
}

void
ckf_edit_range(ckf_edit *edit, const ckf_chunk *chunk)
{
	ckf_edit_go(edit, CKF_EDIT_WRITES);
	edit->cursor = chunk ? chunk->start : 0;
	edit->last = chunk ? chunk->last : UINT64_MAX;
	edit->least_depth = chunk ? chunk->depth : 0;
}

ckf_status
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

void
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
