/*
 * source.c - a collector as the source of a rebuild.
 */
#include "collect/block.h"
#include "filter/methods.h"
#include "scan/scan.h"
#include "thresholds.h"

const uint64_t *
ckf_collected(const ckf_collector *c, uint64_t from, size_t *n)
{
	const ckf_inside *s = ckf_inside_of(c);
	const ckf_block *block = s->runs > 0 ? s->run[0].first : NULL;

	for (; block && from >= block->count; block = block->next)
		from -= block->count;
	*n = block ? (size_t)(block->count - from) : 0;
	return block ? block->hash + from : NULL;
}

static const ckf_collector *
ckf_collector_of(const ckf_filter *t)
{
	return (const ckf_collector *)(const void *)t->bytes;
}

/* The hashes in runs and in the block that is being filled; duplicates count. */
static uint64_t
ckf_collector_items(const ckf_filter *t)
{
	const ckf_collector *c = ckf_collector_of(t);
	const ckf_inside *s = ckf_inside_of(c);

	return ckf_hashes_in_runs(s) + (s->block ? (uint64_t)(c->next - s->block->hash) : 0);
}

/* Load a piece of a block without copying it.  scan->next counts the hashes that were loaded. */
static bool
ckf_load_run(ckf_scan *s)
{
	size_t left;

	s->keys = ckf_collected(ckf_collector_of(s->in), s->next, &left);
	s->have = left < CKF_STEP ? left : CKF_STEP;
	s->at = 0;
	s->next += s->have;
	return s->have > 0;
}

/* A settled collector has one run at most. */
static void
ckf_scan_collector(const ckf_filter *t, ckf_scan *s)
{
	memset(s, 0, sizeof *s);
	s->load = ckf_load_run;
	s->in = t;
}

static const ckf_source ckf_collector_source = {ckf_collector_items, ckf_scan_collector};

static const ckf_methods ckf_collector_methods = {.source = &ckf_collector_source};

void
ckf_bind_collector(ckf_collector *c)
{
	ckf_filter *t = &c->filter;

	t->encoding = CKF_HASHES;
	t->f = t->g = 0;
	t->m = 0;
	t->w = 64;
	ckf_derive(t);
	t->bytes = (uint8_t *)c;
	t->body = NULL;
	t->methods = &ckf_collector_methods;
	t->count = ckf_collector_items(t);
	t->size = (size_t)(CKF_HEADER_SIZE + 8 * t->count);
	t->room = t->size;
}
