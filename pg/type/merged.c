/*
 * merged.c - the large state of an aggregate over filters: a few of unlike size.
 *
 * Where one has become about as large as the one before it, both become one: so each item is
 * merged as often as its filter has doubled, and all take at most about twice the bytes of the
 * result.
 */
#include "type/state.h"

#include "error.h"
#include "type/owned.h"

#include "utils/memutils.h"

/* Hashes that a filter has room for, so that small ones are merged in place. */
#define CKFP_PART_HASHES 512

static unsigned
ckfp_list_parts(const ckfp_merged *merged, const ckf_filter **parts)
{
	unsigned i;

	for (i = 0; i < merged->parts; i++)
		parts[i] = &merged->part[i];
	return merged->parts;
}

static void
ckfp_free_part(ckf_filter *part)
{
	pfree(part->bytes - VARHDRSZ);
}

/* All filters as one, so that the state can be a value. */
static const ckf_filter *
ckfp_merge_all(ckfp_merged *merged)
{
	const ckf_filter *parts[CKF_MOST_INPUTS];
	MemoryContext caller = MemoryContextSwitchTo(merged->header.eoh_context);
	ckf_filter all;

	if (merged->parts > 1)
	{
		ckfp_run_many(merged->goal, parts, ckfp_list_parts(merged, parts), &all);
		while (merged->parts > 0)
			ckfp_free_part(&merged->part[--merged->parts]);
		merged->part[merged->parts++] = all;
	}
	MemoryContextSwitchTo(caller);
	return &merged->part[0];
}

static Size
ckfp_flat_size(ExpandedObjectHeader *header)
{
	const ckf_filter *all = ckfp_merge_all((ckfp_merged *)header);

	if (all->size > CKFP_MOST_BYTES)
		ckfp_error_state_too_large(all);
	return VARHDRSZ + all->size;
}

static void
ckfp_flatten(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	const ckf_filter *all = ckfp_merge_all((ckfp_merged *)header);

	ckfp_copy_bytes(VARDATA(result), all->bytes, all->size);
	SET_VARSIZE(result, allocated_size);
}

static const ExpandedObjectMethods ckfp_merged_methods = {ckfp_flat_size, ckfp_flatten};

ckfp_merged *
ckfp_merged_of(const struct varlena *value)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(value))
		return NULL;
	header = DatumGetEOHP(PointerGetDatum(value));
	return header->eoh_methods == &ckfp_merged_methods ? (ckfp_merged *)header : NULL;
}

/* Make the filters fewer where they are of like size.  Some that cannot be merged alone stay:
 * the others may let them. */
static void
ckfp_merge_due(ckfp_merged *merged)
{
	const ckf_filter *parts[CKF_MOST_INPUTS];
	unsigned due;

	(void)ckfp_list_parts(merged, parts);
	while ((due = ckf_merge_due(parts, merged->parts)) > 0)
	{
		unsigned first = merged->parts - due;
		ckf_filter all;

		if (merged->parts == CKF_MOST_INPUTS)
			ckfp_run_many(merged->goal, parts + first, due, &all);
		else if (!ckfp_try(merged->goal, parts + first, due, &all))
			return;
		while (merged->parts > first)
			ckfp_free_part(&merged->part[--merged->parts]);
		merged->part[merged->parts++] = all;
	}
}

/* A copy of a filter; one in hashes is what the aggregate makes of it, with room for more. */
static void
ckfp_copy_part(ckfp_merged *merged, const ckf_filter *in, ckf_filter *part)
{
	ckf_filter owned;

	if (in->encoding != CKF_HASHES || in->count > CKFP_PART_HASHES)
	{
		ckfp_copy(in, 0, part);
		return;
	}
	ckfp_run(merged->goal, in, NULL, &owned);
	ckfp_copy(&owned, CKFP_PART_HASHES, part);
	ckfp_free_part(&owned);
}

void
ckfp_merged_take(ckfp_merged *merged, const ckf_filter *in)
{
	const ckf_filter *parts[CKF_MOST_INPUTS] = {NULL};
	unsigned n = ckfp_list_parts(merged, parts);
	ckf_status status = ckf_merge_check(parts, n, in);
	MemoryContext caller;

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = &merged->part[0], .other = in});
	if (n > 0 && ckf_merge_few(&merged->part[n - 1], in, merged->goal) == CKF_OK)
		return;
	caller = MemoryContextSwitchTo(merged->header.eoh_context);
	ckfp_merge_due(merged);
	ckfp_copy_part(merged, in, &merged->part[merged->parts]);
	merged->parts++;
	MemoryContextSwitchTo(caller);
}

ckfp_merged *
ckfp_new_merged(MemoryContext parent, const ckf_filter *filter, ckf_goal goal)
{
	MemoryContext context =
		AllocSetContextCreate(parent, "cuckoofilter state", ALLOCSET_SMALL_SIZES);
	ckfp_merged *merged = MemoryContextAlloc(context, sizeof *merged);

	EOH_init_header(&merged->header, &ckfp_merged_methods, context);
	merged->goal = goal;
	merged->parts = 0;
	ckfp_merged_take(merged, filter);
	return merged;
}

void
ckfp_merged_finish(const ckfp_merged *merged, ckf_filter *owned)
{
	const ckf_filter *parts[CKF_MOST_INPUTS];
	unsigned n = ckfp_list_parts(merged, parts);

	ckfp_run_many(merged->goal == CKF_MERGE_UNION ? CKF_FINISH_UNION : CKF_FINISH_SUM, parts, n,
				  owned);
}
