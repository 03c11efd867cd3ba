/*
 * merger.c - merge filters that come one by one, those of similar size first.
 */
#include "filter/header.h"
#include "rebuild/operation.h"

/* The number of parts of similar size that are merged at once.  Merging eight reads each item a
 * third as often as merging two. */
#define CKF_PARTS_AT_ONCE 8

/* What hosts do not see of a merger. */
typedef struct __attribute__((may_alias)) ckf_merging
{
	const ckf_filter *taken; /* the filter that becomes a part, or NULL */
	uint8_t *old[CKF_MOST_INPUTS];
	unsigned olds; /* bytes of former parts */
} ckf_merging;

_Static_assert(sizeof(ckf_merging) <= sizeof((ckf_merger *)NULL)->inside, "a merger is too small");

static ckf_merging *
ckf_merging_of(const ckf_merger *m)
{
	return (ckf_merging *)(uintptr_t)m->inside;
}

/* A small part in hashes has room for so many hashes, so that other filters are merged into it
 * in place. */
#define CKF_PART_HASHES 512

void
ckf_merger_start(ckf_merger *m, ckf_operation operation)
{
	memset(m, 0, sizeof *m);
	m->operation = operation;
}

unsigned
ckf_merger_parts(const ckf_merger *m, const ckf_filter **parts)
{
	unsigned i;

	for (i = 0; i < m->parts; i++)
		parts[i] = &m->part[i];
	return m->parts;
}

/* The number of last parts that are merged before another part is appended; 0: none. */
static unsigned
ckf_parts_due(const ckf_merger *m)
{
	const ckf_filter *last = &m->part[m->parts - 1];
	unsigned similar = 0;

	while (similar < m->parts && (last - similar)->size / CKF_PARTS_AT_ONCE < last->size)
		similar++;
	if (similar >= CKF_PARTS_AT_ONCE)
		return similar;
	return m->parts < CKF_MOST_INPUTS ? 0 : m->parts / 2;
}

/* Ask for a rebuild that merges the last parts. */
static ckf_status
ckf_request_parts(ckf_merger *m, unsigned due)
{
	unsigned i;

	m->task = m->operation;
	m->inputs = due;
	m->room = 0;
	for (i = 0; i < due; i++)
		m->in[i] = &m->part[m->parts - due + i];
	return CKF_MORE;
}

/* Ask for a rebuild that makes a part of the filter. */
static ckf_status
ckf_request_copy(ckf_merger *m)
{
	const ckf_filter *in = ckf_merging_of(m)->taken;
	bool small = in->count == 0 || (in->encoding == CKF_HASHES && in->count <= CKF_PART_HASHES);

	m->task = small ? m->operation : CKF_DUPLICATE; /* a merge makes hashes of an empty table */
	m->in[0] = in;
	m->inputs = 1;
	m->room = small ? CKF_HEADER_SIZE + 8 * (size_t)(in->count + CKF_PART_HASHES) : 0;
	return CKF_MORE;
}

static ckf_status
ckf_merger_next(ckf_merger *m)
{
	const ckf_filter *taken = ckf_merging_of(m)->taken;
	unsigned due = taken && m->parts > 0 ? ckf_parts_due(m) : 0;

	if (due > 0)
		return ckf_request_parts(m, due);
	return taken ? ckf_request_copy(m) : CKF_OK;
}

ckf_status
ckf_merger_take(ckf_merger *m, const ckf_filter *in)
{
	unsigned i;

	for (i = 0; i < m->parts; i++)
		if (ckf_items(&m->part[i]) > 0 && ckf_items(in) > 0 && m->part[i].seed != in->seed)
		{
			m->in[0] = &m->part[i];
			return CKF_SEED_DIFFERS;
		}
	if (m->parts > 0 && ckf_merge_few(&m->part[m->parts - 1], in, m->operation) == CKF_OK)
		return CKF_OK;
	ckf_merging_of(m)->taken = in;
	return ckf_merger_next(m);
}

/* Whether the only part is a copy of a large filter that a merge would change: a union becomes
 * a set, and the result of a merge has the current version. */
static bool
ckf_is_no_merge(const ckf_merger *m)
{
	const ckf_filter *part = &m->part[0];

	return part->format < CKF_FORMAT_VERSION ||
		   (ckf_operation_of(m->operation)->set && !(part->flags & CKF_FLAG_SET));
}

ckf_status
ckf_merger_merge_all(ckf_merger *m)
{
	bool merged = m->parts == 0 || (m->parts == 1 && !ckf_is_no_merge(m));

	return merged ? CKF_OK : ckf_request_parts(m, m->parts);
}

ckf_status
ckf_merger_give(ckf_merger *m, const ckf_filter *result)
{
	ckf_merging *s = ckf_merging_of(m);
	unsigned i;

	if (m->in[0] == s->taken)
		s->taken = NULL;
	else
		for (i = 0; i < m->inputs; i++)
			s->old[s->olds++] = m->part[--m->parts].bytes;
	m->part[m->parts++] = *result;
	return ckf_merger_next(m);
}

uint8_t *
ckf_merger_spent(ckf_merger *m)
{
	ckf_merging *s = ckf_merging_of(m);

	return s->olds > 0 ? s->old[--s->olds] : NULL;
}

void
ckf_merger_end(ckf_merger *m)
{
	ckf_merging *s = ckf_merging_of(m);

	while (m->parts > 0)
		s->old[s->olds++] = m->part[--m->parts].bytes;
}
