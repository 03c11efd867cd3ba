/*
 * presort.c - a scan of hashes in no order: sort them first, in bounded steps.
 *
 * One pass parts the hashes by their top bits, so that each part can be sorted
 * in cache; a part is sorted by so many bits more that few ties are left, and
 * those by the rest.  Hashes that crowd (by intent, or since they are no
 * hashes) can make a part too large for one step; it is then sorted by passes
 * over single bytes, which can stop anywhere.
 */
#include "rebuild/scan.h"
#include "rebuild/sort.h"
#include "thresholds.h"

#define CKF_PART_BITS 8
#define CKF_PARTS (1U << CKF_PART_BITS)
#define CKF_PART_SHIFT (64 - CKF_PART_BITS)
#define CKF_TIE_BIT 34
#define CKF_BYTES 256 /* values of one byte */

enum
{
	CKF_COUNT_PARTS, /* how many hashes have which top bits? */
	CKF_MAKE_PARTS,  /* put them there */
	CKF_SORT_PARTS,  /* one part a step */
	CKF_COUNT_BYTES, /* of a part too large for that: a pass over bits */
	CKF_MOVE_BYTES   /* shift .. shift + 7, first to count, then to move */
};

/* The scratch: where each part ends, counters of a pass over bytes, the hashes,
 * and room to sort a part. */

static uint64_t *
ckf_part_ends(const ckf_scan *s)
{
	return s->memory;
}

static uint64_t *
ckf_byte_counts(const ckf_scan *s)
{
	return s->memory + CKF_PARTS;
}

static uint64_t *
ckf_presorted(const ckf_scan *s)
{
	return s->memory + CKF_PARTS + CKF_BYTES;
}

static uint64_t *
ckf_spare(const ckf_scan *s)
{
	return ckf_presorted(s) + s->end;
}

static uint64_t
ckf_spare_words(const ckf_scan *s)
{
	uint64_t once = s->end < CKF_LARGEST_PART ? s->end : CKF_LARGEST_PART;

	return s->largest > once ? s->largest : once;
}

static void
ckf_set_words(ckf_scan *s)
{
	s->words = CKF_PARTS + CKF_BYTES + s->end + ckf_spare_words(s);
}

/* Where an unfinished phase stops for now. */
static uint64_t
ckf_stop(const ckf_scan *s, uint64_t end)
{
	return end - s->place > CKF_STEP ? s->place + CKF_STEP : end;
}

static void
ckf_next_phase(ckf_scan *s, unsigned phase)
{
	s->phase = phase;
	s->place = 0;
}

static uint64_t
ckf_unsorted_hash(const ckf_scan *s, uint64_t i)
{
	uint64_t hash;

	if (s->native)
		memcpy(&hash, s->body + 8 * i, sizeof hash);
	else
		hash = ckf_load64(s->body + 8 * i);
	return hash | (hash == 0); /* 0 is kept as 1 */
}

/* ------------------------------------------------------------- the parts */

/* From how many hashes to where each part begins; false: a part is too large
 * for the scratch. */
static bool
ckf_place_parts(ckf_scan *s)
{
	uint64_t *ends = ckf_part_ends(s);
	uint64_t room = ckf_spare_words(s);
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < CKF_PARTS; i++)
	{
		uint64_t size = ends[i];

		if (size > s->largest)
			s->largest = size;
		ends[i] = sum;
		sum += size;
	}
	ckf_set_words(s);
	return s->largest <= room;
}

static ckf_status
ckf_count_parts(ckf_scan *s)
{
	uint64_t *counts = ckf_part_ends(s);
	uint64_t stop = ckf_stop(s, s->end);

	if (s->place == 0)
		memset(counts, 0, CKF_PARTS * sizeof *counts);
	*s->worked += stop - s->place;
	for (; s->place < stop; s->place++)
		counts[ckf_unsorted_hash(s, s->place) >> CKF_PART_SHIFT]++;
	if (s->place < s->end)
		return CKF_MORE;
	ckf_next_phase(s, CKF_MAKE_PARTS);
	return ckf_place_parts(s) ? CKF_MORE : CKF_ROOM;
}

/* Afterwards the parts' beginnings have become their ends. */
static void
ckf_make_parts(ckf_scan *s)
{
	uint64_t *ends = ckf_part_ends(s);
	uint64_t *hashes = ckf_presorted(s);
	uint64_t stop = ckf_stop(s, s->end);

	*s->worked += stop - s->place;
	for (; s->place < stop; s->place++)
	{
		uint64_t hash = ckf_unsorted_hash(s, s->place);

		hashes[ends[hash >> CKF_PART_SHIFT]++] = hash;
	}
	s->part = 0;
	if (s->place == s->end)
		ckf_next_phase(s, CKF_SORT_PARTS);
}

static uint64_t *
ckf_part(const ckf_scan *s, uint64_t *size)
{
	const uint64_t *ends = ckf_part_ends(s);
	uint64_t first = s->part == 0 ? 0 : ends[s->part - 1];

	*size = ends[s->part] - first;
	return ckf_presorted(s) + first;
}

/* ---------------------------------------------------------- sorting a part */

/* Hashes that agree in the bits sorted by stand side by side: put them in order
 * by the rest. */
static void
ckf_sort_ties(uint64_t *part, uint64_t *spare, size_t size)
{
	size_t i, end;

	for (i = 0; i < size; i = end)
	{
		for (end = i + 1; end < size && part[end] >> CKF_TIE_BIT == part[i] >> CKF_TIE_BIT; end++)
			;
		if (end - i > 1)
			ckf_sort(part + i, spare, end - i, 0, CKF_TIE_BIT);
	}
}

static void
ckf_sort_part(ckf_scan *s)
{
	uint64_t size;
	uint64_t *part = ckf_part(s, &size);

	*s->worked += size;
	if (size > CKF_LARGEST_PART)
	{
		s->next = 0; /* the byte that is sorted by */
		ckf_next_phase(s, CKF_COUNT_BYTES);
		return;
	}
	ckf_sort(part, ckf_spare(s), (size_t)size, CKF_TIE_BIT, CKF_PART_SHIFT);
	ckf_sort_ties(part, ckf_spare(s), (size_t)size);
	s->part++;
}

/* One pass for each of a hash's eight bytes, from the part to the spare room
 * and back.  (The last byte is the same in all hashes of a part: that pass only
 * brings them back.) */
static uint64_t *
ckf_pass_source(const ckf_scan *s, uint64_t *size)
{
	uint64_t *part = ckf_part(s, size);

	return s->next % 2 == 0 ? part : ckf_spare(s);
}

static void
ckf_count_bytes(ckf_scan *s)
{
	uint64_t size;
	const uint64_t *from = ckf_pass_source(s, &size);
	uint64_t *counts = ckf_byte_counts(s);
	uint64_t stop = ckf_stop(s, size);
	uint64_t sum = 0;
	unsigned i;

	if (s->place == 0)
		memset(counts, 0, CKF_BYTES * sizeof *counts);
	*s->worked += stop - s->place;
	for (; s->place < stop; s->place++)
		counts[from[s->place] >> (8 * s->next) & (CKF_BYTES - 1)]++;
	if (s->place < size)
		return;
	for (i = 0; i < CKF_BYTES; i++)
	{
		uint64_t count = counts[i];

		counts[i] = sum;
		sum += count;
	}
	ckf_next_phase(s, CKF_MOVE_BYTES);
}

static void
ckf_move_bytes(ckf_scan *s)
{
	uint64_t size;
	const uint64_t *from = ckf_pass_source(s, &size);
	uint64_t *part = ckf_part(s, &size);
	uint64_t *to = from == part ? ckf_spare(s) : part;
	uint64_t *at = ckf_byte_counts(s);
	uint64_t stop = ckf_stop(s, size);

	*s->worked += stop - s->place;
	for (; s->place < stop; s->place++)
		to[at[from[s->place] >> (8 * s->next) & (CKF_BYTES - 1)]++] = from[s->place];
	if (s->place < size)
		return;
	ckf_next_phase(s, CKF_COUNT_BYTES);
	if (++s->next == sizeof(uint64_t))
	{
		s->part++;
		ckf_next_phase(s, CKF_SORT_PARTS);
	}
}

/* ---------------------------------------------------------------- the scan */

ckf_status
ckf_presort(ckf_scan *s)
{
	if (!s->unsorted)
		return CKF_OK;
	switch (s->phase)
	{
		case CKF_COUNT_PARTS:
			return ckf_count_parts(s);
		case CKF_MAKE_PARTS:
			ckf_make_parts(s);
			break;
		case CKF_COUNT_BYTES:
			ckf_count_bytes(s);
			break;
		case CKF_MOVE_BYTES:
			ckf_move_bytes(s);
			break;
		default:
			ckf_sort_part(s);
	}
	s->unsorted = s->phase != CKF_SORT_PARTS || s->part < CKF_PARTS;
	return s->unsorted ? CKF_MORE : CKF_OK;
}

/* A block is a piece of the sorted hashes where they are. */
static bool
ckf_load_unsorted(ckf_scan *s)
{
	s->at = 0;
	s->keys = ckf_presorted(s) + s->next;
	s->have = (size_t)(s->end - s->next < CKF_STEP ? s->end - s->next : CKF_STEP);
	s->next += s->have;
	return s->have > 0;
}

void
ckf_scan_unsorted(ckf_scan *s, const void *hashes, uint64_t n, bool native)
{
	memset(s, 0, sizeof *s);
	s->load = ckf_load_unsorted;
	s->body = hashes;
	s->end = n;
	s->native = native;
	s->unsorted = true;
	ckf_set_words(s);
}

bool
ckf_scan_sorts(const ckf_scan *s)
{
	return s->load == ckf_load_unsorted;
}

void
ckf_presort_anew(ckf_scan *s)
{
	s->unsorted = ckf_scan_sorts(s);
	ckf_next_phase(s, CKF_COUNT_PARTS);
}
