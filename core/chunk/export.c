/*
 * export.c - build one filter from all chunks: the source of a rebuild whose items the host gives,
 * one chunk at a time.
 */
#include "chunk/chunk.h"
#include "filter/methods.h"
#include "rebuild/saturated.h"
#include "rebuild/work.h"

/* Any number above 0, since the chunks may have items.  The rebuild counts the items itself. */
static uint64_t
ckf_fed_items(const ckf_filter *t)
{
	(void)t;
	return 1;
}

/* Items are raised into the scratch after them. */
#define CKF_FED_RAISED CKF_CHUNK_ITEMS
#define CKF_FED_WORDS (CKF_FED_RAISED + CKF_RAISED_ITEMS(CKF_CHUNK_ITEMS))

_Static_assert(CKF_FED_WORDS >= CKF_CHUNK_SCRATCH, "a chunk's items need more");

/* Raise saturated groups to the copies that the target needs.  No group is in two chunks. */
static void
ckf_raise_fed(ckf_scan *s)
{
	ckf_saturated saturated = {.full = 2U * s->in->b, .raised = s->raised};

	s->have = ckf_raise_saturated(&saturated, s->memory, s->have, s->memory + CKF_FED_RAISED);
	s->keys = s->memory + CKF_FED_RAISED;
}

/*
 * Read the given chunk, or ask for one.  s->next counts the chunks of this pass.  After the last
 * chunk was given, s->end is their number, which later passes use.
 */
static bool
ckf_load_fed(ckf_scan *s)
{
	const ckf_chunk *chunk = s->given;

	s->have = s->at = 0;
	if (s->next == s->end)
		return false;
	s->wants = !chunk;
	if (!chunk)
		return true;
	s->have = ckf_chunk_items(chunk, s->memory);
	s->keys = s->memory;
	if (s->raised > 2U * s->in->b && !s->in->deduplicated)
		ckf_raise_fed(s);
	*s->work += s->have + 1;
	s->given = NULL;
	s->next++;
	return true;
}

static void
ckf_scan_fed(const ckf_filter *t, ckf_scan *s)
{
	memset(s, 0, sizeof *s);
	s->load = ckf_load_fed;
	s->in = t;
	s->end = UINT64_MAX;
	s->words = CKF_FED_WORDS;
}

static const ckf_source ckf_fed_source = {ckf_fed_items, ckf_scan_fed};

const ckf_methods ckf_fed_methods = {.source = &ckf_fed_source};

ckf_status
ckf_export_start(ckf_rebuild *r, const ckf_chunks *chunks, const ckf_chunk *first, uint64_t added,
				 unsigned item_classes, uint64_t most_bytes)
{
	bool whole = !first || first->kind == CKF_CHUNK_HASHES;
	ckf_status status =
		ckf_rebuild_start(r, CKF_FINISH_FED, whole ? &chunks->exact : &chunks->like, NULL);

	if (status == CKF_OK)
	{
		r->added = added;
		r->most = most_bytes;
		r->to.item_classes = (uint8_t)item_classes;
		r->to.number_forms = (uint8_t)(item_classes >> 8);
	}
	return status;
}

bool
ckf_export_again(const ckf_rebuild *r)
{
	return r->scan[0].next == 0;
}

ckf_status
ckf_export_feed(ckf_rebuild *r, const ckf_chunk *chunk)
{
	ckf_scan *s = &r->scan[0];
	uint64_t expected = s->next == 0 ? 0 : s->base; /* the start of the next range */

	s->wants = false;
	if (!chunk)
	{
		s->end = s->next;
		return s->next == 0 ? CKF_OK
							: CKF_BAD_BYTES; /* a later pass knows which chunk is the last one */
	}
	if (chunk->start != expected)
		return CKF_BAD_BYTES;
	s->given = chunk;
	s->base = chunk->last + 1;
	if (s->base == 0)
		s->end = s->next + 1;
	return CKF_OK;
}
