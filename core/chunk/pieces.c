/*
 * pieces.c - divide the items of an edit into chunks, and write these.
 */
#include "chunk/edit.h"

/* How large a chunk is next to what is left of a page, in halves. */
#define CKF_MOST_HALVES 2

/* The least depth of a range that begins at the cursor. */
static unsigned
ckf_shallowest(const ckf_edit *edit)
{
	unsigned depth = edit->cursor == 0 ? 0 : 64 - (unsigned)__builtin_ctzll(edit->cursor);

	return depth > edit->least_depth ? depth : edit->least_depth;
}

/* The items of a range that begins at the cursor. */
static void
ckf_measure(const ckf_edit *edit, unsigned depth, ckf_chunk_piece *piece)
{
	piece->start = edit->cursor;
	piece->depth = depth;
	piece->count = ckf_count_through(edit->window + edit->at, edit->have - edit->at,
									 ckf_chunk_last(edit->cursor, depth));
}

/* Whether the window may still lack items of the range. */
static bool
ckf_is_open_ended(const ckf_edit *edit, const ckf_chunk_piece *piece)
{
	if (piece->count < edit->have - edit->at)
		return false;
	return ckf_edit_more(edit) || (edit->state == CKF_EDIT_FEEDS &&
								   ckf_chunk_last(piece->start, piece->depth) >= edit->fed);
}

/* false: the piece would be too large. */
static bool
ckf_build_piece(ckf_edit *edit, ckf_chunk_piece *piece, uint8_t *out)
{
	ckf_chunk_plan plan = {.chunks = edit->chunks,
						   .start = edit->cursor,
						   .depth = piece->depth,
						   .whole = edit->whole,
						   .grows = edit->grows};

	piece->size = ckf_chunk_build(&plan, edit->window + edit->at, piece->count, out, edit->scratch);
	return piece->size > 0;
}

/*
 * Write the largest chunk that begins at the cursor.  CKF_FEED: this depends on the next chunk,
 * which has not been given yet.
 */
static ckf_status
ckf_largest_piece(ckf_edit *edit, ckf_chunk_piece *piece, uint8_t *out)
{
	unsigned depth;

	for (depth = ckf_shallowest(edit); depth <= CKF_CHUNK_MAX_DEPTH && depth < edit->chunks->like.w;
		 depth++)
	{
		ckf_measure(edit, depth, piece);
		if (ckf_is_open_ended(edit, piece))
		{
			if (piece->count <= CKF_CHUNK_BUILT)
				return CKF_FEED;
			continue;
		}
		if (ckf_build_piece(edit, piece, out))
			return CKF_OK;
	}
	return CKF_BAD_BYTES; /* never: a list of the shortest items has room for all */
}

/* A half or a quarter of the next piece whose row fits into so many bytes.  false: there is
 * none, and `out` has the piece as before. */
static bool
ckf_write_less(ckf_edit *edit, ckf_chunk_piece *piece, size_t room, uint8_t *out)
{
	uint32_t row = edit->chunks->row_room;
	ckf_chunk_piece less;
	unsigned halves;

	for (halves = 1; halves <= CKF_MOST_HALVES; halves++)
		/* with an eighth more, since items are not spread evenly */
		if ((piece->size >> halves) + (piece->size >> (halves + 3)) + row <= room)
			break;
	if (halves > CKF_MOST_HALVES || piece->count == 0 || edit->whole ||
		piece->depth + halves > CKF_CHUNK_MAX_DEPTH ||
		piece->depth + halves >= edit->chunks->like.w)
		return false;
	ckf_measure(edit, piece->depth + halves, &less);
	if (!ckf_build_piece(edit, &less, out) || less.size + row > room)
	{
		(void)ckf_build_piece(edit, piece, out);
		return false;
	}
	*piece = less;
	return true;
}

/*
 * If the piece does not fit into the rest of the page, or would use the bytes that should stay
 * free, write a smaller piece that fits.  This leaves less of the page unused.  Rows are written
 * one after the other and to the same page while it has room, so the rest of the page is known.
 */
static void
ckf_fit_page(ckf_edit *edit, ckf_chunk_piece *piece, uint8_t *out)
{
	size_t row = edit->chunks->row_room;
	size_t slack = edit->chunks->page_slack;
	size_t room = edit->page_left > slack ? edit->page_left - slack : 0;

	if (piece->size + row > room && !ckf_write_less(edit, piece, room, out) &&
		piece->size + row > edit->page_left)
		edit->page_left = edit->chunks->page_room;
	if (piece->size + row < edit->page_left)
		edit->page_left -= (uint32_t)(piece->size + row);
	else
		edit->page_left = 0;
}

static void
ckf_hand_over(ckf_edit *edit, const ckf_chunk_piece *piece)
{
	uint64_t last = ckf_chunk_last(piece->start, piece->depth);

	edit->at += piece->count;
	edit->stored += (int64_t)piece->count;
	edit->cursor = last + 1;
	if (last != edit->last)
		return;
	if (edit->at < edit->have || ckf_edit_more(edit))
		ckf_edit_go(edit, CKF_EDIT_DAMAGED); /* items behind the last range: out of order */
	else
		ckf_edit_go(edit, CKF_EDIT_DONE);
}

ckf_status
ckf_edit_next(ckf_edit *edit, void *out, ckf_chunk_piece *piece)
{
	ckf_status status;

	if (edit->state == CKF_EDIT_DONE)
		return CKF_OK;
	if (edit->state == CKF_EDIT_COPY)
	{
		ckf_edit_go(edit, CKF_EDIT_DONE);
		*piece = edit->piece;
		memcpy(out, edit->frame + CKF_HEADER_SIZE, piece->size);
		return CKF_MORE;
	}
	if (edit->have - edit->at <= CKF_CHUNK_BUILT && ckf_edit_more(edit))
		ckf_edit_fill(edit);
	if (edit->state == CKF_EDIT_WAITS)
		return CKF_FEED; /* the host has not given the chunk */
	if (edit->state == CKF_EDIT_DAMAGED)
		return CKF_BAD_BYTES;
	status = ckf_largest_piece(edit, piece, out);
	if (status == CKF_FEED)
		ckf_edit_go(edit, CKF_EDIT_WAITS);
	if (status != CKF_OK)
		return status;
	if (!edit->grows && edit->chunks->page_room > 0)
		ckf_fit_page(edit, piece, out);
	ckf_hand_over(edit, piece);
	return edit->state == CKF_EDIT_DAMAGED ? CKF_BAD_BYTES : CKF_MORE;
}
