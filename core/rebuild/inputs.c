/*
 * inputs.c - the scans of a rebuild: one for each input, and those that merge them.
 */
#include "filter/methods.h"
#include "rebuild/work.h"

/* Move the scan with the fewest items to the end. */
static void
ckf_fewest_last(ckf_scan **scans, unsigned n)
{
	ckf_scan **last = &scans[n - 1];
	unsigned i;

	for (i = 0; i + 1 < n; i++)
		if (scans[i]->items < (*last)->items)
		{
			ckf_scan *fewest = scans[i];

			scans[i] = *last;
			*last = fewest;
		}
}

/* Merge the scans first .. end - 1 into one; NULL: there are none.  The two with the fewest items
 * are merged first, as in a Huffman tree, so that each item is merged as few times as possible. */
static ckf_scan *
ckf_merge_scans(ckf_rebuild *r, unsigned first, unsigned end)
{
	ckf_scan *left[CKF_MOST_INPUTS];
	unsigned n = end - first;
	unsigned i;

	for (i = 0; i < n; i++)
		left[i] = &r->scan[first + i];
	for (; n > 1; n--)
	{
		ckf_scan *merged = &r->scan[r->all_scans++];

		ckf_fewest_last(left, n);
		ckf_fewest_last(left, n - 1);
		ckf_scan_merged(merged, left[n - 2], left[n - 1]);
		left[n - 2] = merged;
	}
	return n > 0 ? left[0] : NULL;
}

/* Make the scan of the items that both inputs have; `second` is the first scan of the second
 * input. */
static void
ckf_intersect_scans(ckf_rebuild *r, unsigned second)
{
	ckf_scan *a = ckf_merge_scans(r, 0, second);
	ckf_scan *b = ckf_merge_scans(r, second, r->scans);

	r->intersection.w = r->w;
	r->intersection.low_mask = r->to.low_mask;
	r->root = &r->scan[r->all_scans++];
	ckf_scan_intersection(r->root, a, b, &r->intersection);
}

static void
ckf_scan_input(ckf_rebuild *r, const ckf_filter *in)
{
	ckf_scan *scan = &r->scan[r->scans++];

	in->methods->source->scan(in, scan);
	scan->items = ckf_items(in);
}

void
ckf_scan_inputs(ckf_rebuild *r)
{
	unsigned of_first = 0;
	unsigned i;

	/* inputs without a common item class share no items: a comparison reads none */
	for (i = 0; i < r->inputs && (!r->row->compares || r->to.item_classes != 0); i++)
	{
		of_first = r->scans;
		/* an input with count 0 adds no items, even if its slots are damaged */
		if (r->row->removes || ckf_items(r->in[i]) > 0)
			ckf_scan_input(r, r->in[i]);
	}
	r->all_scans = r->scans;
	if (r->row->removes)
	{
		r->root = &r->scan[0];
		r->removals = &r->scan[1];
	}
	else if (r->row->compares && r->inputs == 2 && r->scans > 0)
		ckf_intersect_scans(r, of_first);
	else
		r->root = ckf_merge_scans(r, 0, r->scans);
	for (i = 0; i < r->all_scans; i++)
		r->scan[i].work = &r->work;
}

void
ckf_place_scans(ckf_rebuild *r, uint64_t *scratch)
{
	unsigned i;

	for (i = 0; i < r->all_scans; i++)
	{
		r->scan[i].memory = scratch;
		scratch += r->scan[i].words;
	}
}
