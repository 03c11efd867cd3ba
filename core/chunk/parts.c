/*
 * parts.c - divide the items of an edit into chunks, and write these.
 */
#include "chunk/window.h"

/* How large a chunk is next to what is left of a page, in halves. */
#define CKF_MOST_HALVES 2

/* The part that is being made. */
typedef struct ckf_next_part
{
	unsigned depth;
	uint64_t last; /* of its range */
	size_t n;      /* its items */
	size_t size;
} ckf_next_part;

/* The least depth of a range that begins at the cursor. */
static unsigned
ckf_shallowest(const ckf_edit *edit)
{
	unsigned depth = edit->cursor == 0 ? 0 : 64 - (unsigned)__builtin_ctzll(edit->cursor);

	return depth > edit->least_depth ? depth : edit->least_depth;
}

/* The items of a range that begins at the cursor. */
static void
ckf_measure(const ckf_edit *edit, unsigned depth, ckf_next_part *next)
{
	next->depth = depth;
	next->last = ckf_chunk_last(edit->cursor, depth);
	next->n = ckf_count_through(edit->window + edit->at, edit->have - edit->at, next->last);
}

/* Whether the window may still lack items of the range. */
static bool
ckf_is_open_ended(const ckf_edit *edit, const ckf_next_part *next)
{
	if (next->n < edit->have - edit->at)
		return false;
	return ckf_edit_more(edit) || (edit->state == CKF_EDIT_FEEDS && next->last >= edit->fed);
}

/* false: the part would be too large. */
static bool
ckf_write_part(ckf_edit *edit, ckf_next_part *next, uint8_t *out)
{
	ckf_chunk_plan plan = {.chunks = edit->chunks,
						   .start = edit->cursor,
						   .depth = next->depth,
						   .whole = edit->whole,
						   .grows = edit->grows};

	next->size = ckf_chunk_build(&plan, edit->window + edit->at, next->n, out, edit->scratch);
	return next->size > 0;
}

/*
 * Write the largest chunk that begins at the cursor.  CKF_FEED: this depends on the next chunk,
 * which has not been given yet.
 */
static ckf_status
ckf_largest_part(ckf_edit *edit, ckf_next_part *next, uint8_t *out)
{
	unsigned depth;

	for (depth = ckf_shallowest(edit); depth <= CKF_CHUNK_MAX_DEPTH && depth < edit->chunks->like.w;
		 depth++)
	{
		ckf_measure(edit, depth, next);
		if (ckf_is_open_ended(edit, next))
		{
			if (next->n <= CKF_CHUNK_BUILT)
				return CKF_FEED;
			continue;
		}
		if (ckf_write_part(edit, next, out))
			return CKF_OK;
	}
	return CKF_BAD_BYTES; /* never: a list of the shortest items has room for all */
}

/* A half or a quarter of the next part whose row fits into so many bytes.  false: there is
 * none, and `out` has the part as before. */
static bool
ckf_write_less(ckf_edit *edit, ckf_next_part *next, size_t room, uint8_t *out)
{
	uint32_t row = edit->chunks->row_room;
	ckf_next_part less;
	unsigned halves;

	for (halves = 1; halves <= CKF_MOST_HALVES; halves++)
		/* with an eighth more, since items are not spread evenly */
		if ((next->size >> halves) + (next->size >> (halves + 3)) + row <= room)
			break;
	if (halves > CKF_MOST_HALVES || next->n == 0 || edit->whole ||
		next->depth + halves > CKF_CHUNK_MAX_DEPTH || next->depth + halves >= edit->chunks->like.w)
		return false;
	ckf_measure(edit, next->depth + halves, &less);
	if (!ckf_write_part(edit, &less, out) || less.size + row > room)
	{
		(void)ckf_write_part(edit, next, out);
		return false;
	}
	*next = less;
	return true;
}

/*
 * If the part does not fit into the rest of the page, or would use the bytes that should stay free,
 * write a smaller part that fits.  This leaves less of the page unused.  Rows are written one after
 * the other and to the same page while it has room, so the rest of the page is known.
 */
static void
ckf_fit_page(ckf_edit *edit, ckf_next_part *next, uint8_t *out)
{
	size_t row = edit->chunks->row_room;
	size_t slack = edit->chunks->page_slack;
	size_t room = edit->page_left > slack ? edit->page_left - slack : 0;

	if (next->size + row > room && !ckf_write_less(edit, next, room, out) &&
		next->size + row > edit->page_left)
		edit->page_left = edit->chunks->page_room;
	if (next->size + row < edit->page_left)
		edit->page_left -= (uint32_t)(next->size + row);
	else
		edit->page_left = 0;
}

static void
ckf_hand_over(ckf_edit *edit, const ckf_next_part *next, ckf_chunk_part *part)
{
	*part = (ckf_chunk_part){edit->cursor, next->depth, next->size, next->n};
	edit->at += next->n;
	edit->stored += (int64_t)next->n;
	edit->cursor = next->last + 1;
	if (next->last != edit->last)
		return;
	if (edit->at < edit->have || ckf_edit_more(edit))
		ckf_edit_go(edit, CKF_EDIT_DAMAGED); /* items behind the last range: out of order */
	else
		ckf_edit_go(edit, CKF_EDIT_DONE);
}

ckf_status
ckf_edit_next(ckf_edit *edit, void *out, ckf_chunk_part *part)
{
	ckf_next_part next;
	ckf_status status;

	if (edit->state == CKF_EDIT_DONE)
		return CKF_OK;
	if (edit->state == CKF_EDIT_COPY)
	{
		ckf_edit_go(edit, CKF_EDIT_DONE);
		*part = edit->part;
		memcpy(out, edit->frame + CKF_HEADER_SIZE, part->size);
		return CKF_MORE;
	}
	if (edit->have - edit->at <= CKF_CHUNK_BUILT && ckf_edit_more(edit))
		ckf_edit_fill(edit);
	if (edit->state == CKF_EDIT_WAITS)
		return CKF_FEED; /* the host has not given the chunk */
	if (edit->state == CKF_EDIT_DAMAGED)
		return CKF_BAD_BYTES;
	status = ckf_largest_part(edit, &next, out);
	if (status == CKF_FEED)
		ckf_edit_go(edit, CKF_EDIT_WAITS);
	if (status != CKF_OK)
		return status;
	if (!edit->grows && edit->chunks->page_room > 0)
		ckf_fit_page(edit, &next, out);
	ckf_hand_over(edit, &next, part);
	return edit->state == CKF_EDIT_DAMAGED ? CKF_BAD_BYTES : CKF_MORE;
}
