/*
 * tally.c - what all chunks of a table are together: their properties, and whether they are
 * consistent.
 */
#include "cuckoofilter_host.h"

#include "messages.h"

void
ckf_tally_chunk(ckf_tally *tally, const ckf_chunk *chunk, void *scratch)
{
	tally->rows++;
	tally->copies += chunk->count;
	tally->bytes += chunk->size;
	tally->distinct += ckf_chunk_distinct(chunk, scratch);
	tally->whole = ckf_chunk_is_whole(chunk);
}

void
ckf_tally_end(ckf_tally *tally, const ckf_chunks *chunks, unsigned item_classes)
{
	ckf_filter about = chunks->exact;
	ckf_info *info = &tally->info;
	uint64_t capacity;

	about.count = tally->copies;
	about.item_classes = (uint8_t)item_classes;
	about.size = (size_t)tally->bytes;
	if (tally->rows > 0 && !tally->whole)
		about.w = chunks->like.w;
	ckf_get_info(&about, info);
	/* these count distinct items, and what the table accepts */
	capacity = (uint64_t)info->capacity;
	info->items_left = capacity > tally->distinct ? capacity - tally->distinct : 0;
	info->items_to_limit =
		chunks->max_count > tally->copies ? chunks->max_count - tally->copies : 0;
}

const char *
ckf_cover(ckf_coverage *coverage, const ckf_chunk *chunk)
{
	if (coverage->end || chunk->start != coverage->next)
		return CKF_DAMAGE_GAP;
	if (ckf_chunk_check(chunk) != CKF_OK)
		return "wrong items";
	coverage->any = true;
	coverage->end = chunk->last == UINT64_MAX;
	coverage->next = chunk->last + 1;
	return NULL;
}

const char *
ckf_covered(const ckf_coverage *coverage)
{
	return coverage->any && !coverage->end ? CKF_DAMAGE_NO_CHUNK : NULL;
}
