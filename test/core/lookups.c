/*
 * lookups.c - a lookup by steps in a filter of which only the header is given: it answers like a
 * lookup in the whole filter, and requests only bytes of the filter.
 */
#include "forge.h"
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

enum
{
	MOST_STEPS = 45, /* of any search: guesses, halves of 2^40, copies */
	FEW_STEPS = 3,   /* of a search in hashes that are spread evenly, */
	MOST_EVEN = 7    /* and where luck is bad */
};

/* The header in a buffer of its own, so that nothing behind it can be read. */
typedef struct distant
{
	ckf_filter filter;
	uint8_t *header;
} distant;

static ckf_status
distant_open(distant *d, const uint8_t *bytes, uint64_t size)
{
	ckf_status status;

	d->header = guard_copy(bytes, CKF_HEADER_SIZE);
	guard_read_only(d->header, true);
	status = ckf_open(&d->filter, d->header, (size_t)size, CKF_STORED);
	if (status != CKF_OK)
		guard_free(d->header);
	return status;
}

/* Check that the requested bytes are in the filter, after the header. */
static void
check_range(const ckf_lookup_cursor *lookup, uint64_t size)
{
	CHECK(lookup->size >= 1 && lookup->size <= CKF_LOOKUP_BYTES, "%u bytes", lookup->size);
	CHECK(lookup->from >= CKF_HEADER_SIZE && lookup->from <= size &&
			  lookup->size <= size - lookup->from,
		  "%u bytes from %llu on of %llu", lookup->size, (unsigned long long)lookup->from,
		  (unsigned long long)size);
}

/* Ask; the steps that it took, and *copies. */
static unsigned
ask(const distant *d, const uint8_t *bytes, uint64_t hash, bool all, unsigned *copies)
{
	ckf_lookup_cursor lookup;
	ckf_status status = ckf_lookup_start(&lookup, &d->filter, hash, all);
	unsigned steps = 0;

	for (; status == CKF_MORE; steps++)
	{
		uint8_t *part;

		CHECK(steps < MOST_STEPS, "a lookup does not end");
		check_range(&lookup, d->filter.size);
		part = guard_copy(bytes + lookup.from, lookup.size);
		status = ckf_lookup_step(&lookup, &d->filter, part, lookup.size);
		guard_free(part);
	}
	CHECK(status == CKF_OK, "status %d", status);
	*copies = lookup.copies;
	return steps;
}

/* Both kinds of lookup about a hash; the steps of the longer one. */
static unsigned
check_hash(const distant *d, const ckf_filter *whole, uint64_t hash)
{
	unsigned wanted = ckf_copies(whole, hash), copies, steps, quick;

	steps = ask(d, whole->bytes, hash, true, &copies);
	CHECK(copies == wanted, "hash %#llx: %u copies, not %u", (unsigned long long)hash, copies,
		  wanted);
	quick = ask(d, whole->bytes, hash, false, &copies);
	CHECK((copies > 0) == ckf_contains(whole, hash), "hash %#llx: %u, must be %u",
		  (unsigned long long)hash, copies, wanted);
	CHECK(quick <= steps, "%u steps, for all copies %u", quick, steps);
	CHECK(whole->encoding == CKF_HASHES || whole->encoding == CKF_PREFIXES || steps == 2,
		  "%u steps to two buckets", steps);
	return steps;
}

static uint64_t
some_hash(unsigned i)
{
	static const uint64_t corners[] = {0, UINT64_MAX, 1, 2, UINT64_C(1) << 63, UINT64_MAX >> 1};

	return i < sizeof corners / sizeof *corners ? corners[i] : check_random();
}

/* ------------------------------------------------------------ sound filters */

/* Items, their neighbours, and absent items. */
static void
check_filter(const owned *o, const model *m)
{
	const ckf_filter *whole = &o->filter;
	uint64_t steps = m->truth.filled / 120, key;
	uint32_t copies;
	distant d;

	CHECK(distant_open(&d, whole->bytes, whole->size) == CKF_OK, "the header does not open");
	for (unsigned i = 0; i < 30; i++)
		(void)check_hash(&d, whole, some_hash(i));
	for (size_t at = check_below(steps + 1); map_next(&m->truth, &at, &key, &copies);)
	{
		(void)check_hash(&d, whole, key);
		(void)check_hash(&d, whole, key + check_below(3) - 1);
		at += check_below(2 * steps + 1);
	}
	guard_free(d.header);
}

static void
run_inputs(const void *arg)
{
	world w = world_new(*(const size_t *)arg);
	input in;

	w.narrow = check_chance(25);
	input_draw(&in, &w, (unsigned)check_below(2));
	if (check_chance(20))
		owned_make_old(&in.filter);
	check_filter(&in.filter, &in.model);
	input_free(&in);
}

/* -------------------------------------------- tables of any geometry, forged */

/* f of m and W: the smallest with ceil(2^W / m) <= 2^f. */
static unsigned
width_of(unsigned rho_bits, uint32_t m)
{
	uint64_t values = ((UINT64_C(1) << rho_bits) + m - 1) / m;
	unsigned f = 0;

	while (values > UINT64_C(1) << f)
		f++;
	return f;
}

/* Any geometry that opens, of few buckets. */
static forged
draw_table(void)
{
	static const uint8_t sizes[] = {2, 4, 8};
	forged x = {.fpr = check_chance(50) ? 0.5 : 0.001, .capacity = 1000, .seed = check_random()};

	do
	{
		x.encoding = check_chance(50) ? CKF_PLAIN : CKF_SEMI_SORTED;
		x.flags = x.encoding == CKF_PLAIN ? 2 : 0;
		x.flags |= check_chance(30);
		x.b = x.encoding == CKF_PLAIN ? sizes[check_below(3)] : 4;
		x.c = x.fpr == 0.5 ? 4 : 8;
		x.g = (uint8_t)check_below(4);
		x.m = 1 + (uint32_t)check_below(check_chance(50) ? 8 : 200);
		x.w = (uint8_t)(8 + check_below(49));
		x.f = x.w > x.g ? (uint8_t)width_of(x.w - x.g, x.m) : 0;
	} while (x.f < x.c || x.w < x.g + x.f);
	x.count = 1 + check_below((2 * (uint64_t)x.m * x.b) << x.g);
	x.version = check_chance(20) ? 1 : 2;
	return x;
}

/* Anything, or one byte everywhere, so that all slots of some groups are alike. */
static void
fill_body(uint8_t *bytes, size_t size)
{
	bool few = check_chance(40);
	uint8_t byte = (uint8_t)check_random();

	for (size_t i = CKF_HEADER_SIZE; i < size; i++)
		bytes[i] = few ? byte : (uint8_t)check_random();
}

static void
run_forged(const void *arg)
{
	unsigned found = 0;

	(void)arg;
	for (unsigned round = 0; round < 40; round++)
	{
		forged x = draw_table();
		size_t size = forged_size(&x);
		uint8_t *bytes = guard_new(size, 1);
		ckf_filter whole;
		distant d;

		memset(bytes, 0, size);
		forge_header(bytes, &x);
		fill_body(bytes, size);
		CHECK(ckf_open(&whole, bytes, size, CKF_STORED) == CKF_OK,
			  "a table of b %u f %u w %u g %u m %u", x.b, x.f, x.w, x.g, x.m);
		CHECK(distant_open(&d, bytes, size) == CKF_OK, "the header does not open");
		for (unsigned i = 0; i < 60; i++)
		{
			uint64_t hash = some_hash(i);

			(void)check_hash(&d, &whole, hash);
			found += ckf_contains(&whole, hash);
		}
		guard_free(d.header);
		guard_free(bytes);
	}
	check_note("%u found", found);
}

/* ------------------------------------------------------------ sorted hashes */

/* How hashes are spread. */
typedef enum spread
{
	EVEN,
	CLUMPED,    /* at a few values */
	NEIGHBOURS, /* one after the other */
	STEEP       /* as many between each power of two and the next */
} spread;

static const char *const spread_names[] = {"even", "clumped", "neighbours", "steep"};

static uint64_t
spread_hash(spread how, uint64_t base, size_t i)
{
	uint64_t random = check_random();

	switch (how)
	{
		case CLUMPED:
			return base * (1 + random % 7) + (random >> 44);
		case NEIGHBOURS:
			return base + i;
		case STEEP:
			return random >> check_below(64);
		default:
			return random;
	}
}

/* n sorted hashes, of which some have as many copies as may be. */
static uint8_t *
forge_hashes(spread how, size_t n, unsigned b)
{
	forged x = {.encoding = CKF_HASHES,
				.b = (uint8_t)b,
				.w = 64,
				.c = 7,
				.fpr = 0.01,
				.capacity = 1,
				.count = n,
				.words = n};
	uint64_t *hashes = check_alloc((n + 1) * sizeof *hashes);
	uint8_t *bytes = guard_new(forged_size(&x), 1);
	uint64_t base = check_random();

	for (size_t i = 0; i < n; i++)
		hashes[i] = spread_hash(how, base, i) | (i == 0);
	for (size_t i = 0; i < n; i += 1 + check_below(500))
		for (size_t j = i; j < n && j < i + 2 * b; j++)
			hashes[j] = hashes[i];
	qsort(hashes, n, sizeof *hashes, compare_hashes);
	forge_header(bytes, &x);
	for (size_t i = 0; i < n; i++)
	{
		memset(bytes + CKF_HEADER_SIZE + 8 * i, 0, 8);
		put(bytes + CKF_HEADER_SIZE + 8 * i, hashes[i], 8);
	}
	free(hashes);
	return bytes;
}

static void
run_hashes(const void *arg)
{
	spread how = *(const spread *)arg;
	static const size_t edges[] = {1, 2, 255, 256, 257, 513, 4096, 70000, 300000};
	size_t n = edges[check_below(sizeof edges / sizeof *edges)];
	unsigned longest = 0, long_ones = 0, asked = 0;
	uint8_t *bytes;
	ckf_filter whole;
	distant d;

	n = check_chance(50) ? n : 1 + check_below(n + 3);
	bytes = forge_hashes(how, n, 1U << (1 + check_below(3)));
	CHECK(ckf_open(&whole, bytes, CKF_HEADER_SIZE + 8 * n, CKF_STORED) == CKF_OK, "open");
	CHECK(distant_open(&d, bytes, whole.size) == CKF_OK, "the header does not open");
	for (unsigned i = 0; i < 200; i++, asked++)
	{
		size_t at = check_below(n);
		uint64_t hash = some_hash(i);
		unsigned steps;

		if (check_chance(70))
			memcpy(&hash, bytes + CKF_HEADER_SIZE + 8 * at, 8); /* any word will do */
		if (check_chance(20))
			hash += check_below(3) - 1;
		steps = check_hash(&d, &whole, hash);
		longest = steps > longest ? steps : longest;
		long_ones += steps > FEW_STEPS;
	}
	check_note("%zu hashes, %u steps at most", n, longest);
	CHECK(how != EVEN || (longest <= MOST_EVEN && long_ones <= asked / 20),
		  "%u steps, and %u of %u lookups take more than %u", longest, long_ones, asked, FEW_STEPS);
	guard_free(d.header);
	guard_free(bytes);
}

/* ------------------------------------------------------------ hostile bytes */

/* A lookup in a filter of any bytes ends, and requests no byte outside. */
static void
ask_noise(const distant *d, bool all)
{
	ckf_lookup_cursor lookup;
	ckf_status status =
		ckf_lookup_start(&lookup, &d->filter, some_hash((unsigned)check_below(12)), all);
	unsigned steps = 0;

	while (status == CKF_MORE)
	{
		uint8_t *part;
		ckf_lookup_cursor before = lookup;

		CHECK(steps++ < MOST_STEPS, "a lookup does not end");
		check_range(&lookup, d->filter.size);
		part = guard_new(lookup.size, 1);
		for (uint32_t i = 0; i < lookup.size; i++)
			part[i] = (uint8_t)check_random();
		CHECK(ckf_lookup_step(&lookup, &d->filter, part, lookup.size - 1) == CKF_BAD_BYTES &&
				  memcmp(&lookup, &before, sizeof lookup) == 0,
			  "a byte is missing");
		status = ckf_lookup_step(&lookup, &d->filter, part, lookup.size);
		guard_free(part);
	}
	CHECK(status == CKF_OK && lookup.copies <= 2U * d->filter.b, "status %d, %u copies", status,
		  lookup.copies);
}

/* Headers of every kind, with some bytes changed, of filters as long as they say. */
static void
run_hostile(const void *arg)
{
	unsigned opened = 0;

	(void)arg;
	for (unsigned round = 0; round < 2000; round++)
	{
		uint8_t header[CKF_HEADER_SIZE];
		forged x = draw_table();
		distant d;

		if (check_chance(40))
			x = (forged){.encoding = CKF_HASHES,
						 .b = 4,
						 .w = 64,
						 .c = 7,
						 .fpr = 0.01,
						 .capacity = 1,
						 .count = check_random() >> (12 + check_below(50))};
		else if (check_chance(20))
			x = (forged){.encoding = CKF_PREFIXES,
						 .b = 4,
						 .w = (uint8_t)(7 + check_below(50)),
						 .c = 7,
						 .fpr = 0.01,
						 .capacity = 1,
						 .count = check_random() >> (12 + check_below(50))};
		else if (check_chance(40))
		{
			/* as large as can be: some hundred terabytes */
			x.g = (uint8_t)check_below(33);
			x.m = 1 + (uint32_t)check_below(32768);
			x.f = (uint8_t)width_of(x.w > x.g ? x.w - x.g : 0, x.m);
		}
		x.words = (size_t)x.count;
		forge_header(header, &x);
		for (unsigned n = (unsigned)check_below(3); n > 0; n--)
			header[check_below(CKF_HEADER_SIZE)] ^= (uint8_t)(1 << check_below(8));
		if (distant_open(&d, header, forged_size(&x)) != CKF_OK)
			continue;
		opened++;
		ask_noise(&d, check_chance(50));
		guard_free(d.header);
	}
	check_note("%u opened", opened);
	CHECK(opened > 100, "%u headers open", opened);
}

int
main(void)
{
	static const size_t sizes[] = {60, 5000, 120000};
	static const spread spreads[] = {EVEN, CLUMPED, NEIGHBOURS, STEEP};

	check_begin("lookups");
	for (unsigned s = 0; s < 3; s++)
		for (uint64_t i = check_rounds(s == 2 ? 20 : 100); i > 0; i--)
			check_case(run_inputs, &sizes[s], "filters of up to %zu items, %d", sizes[s], (int)i);
	for (uint64_t i = check_rounds(20); i > 0; i--)
		check_case(run_forged, NULL, "tables of any geometry, %d", (int)i);
	for (unsigned s = 0; s < 4; s++)
		for (uint64_t i = check_rounds(30); i > 0; i--)
			check_case(run_hashes, &spreads[s], "sorted hashes, %s, %d", spread_names[s], (int)i);
	for (uint64_t i = check_rounds(5); i > 0; i--)
		check_case(run_hostile, NULL, "damaged headers and bodies, %d", (int)i);
	return check_end();
}
