/*
 * limits.c - which bytes ckf_open accepts and which it refuses: fields on both sides of each limit
 * in FORMAT.md.
 */
#define _GNU_SOURCE
#include "forge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void
expect(const forged *x, bool right, ckf_trust trust, const char *what)
{
	static forgery made;

	forge(&made, x);
	CHECK(opens(&made, trust) == right, "%s %s at door %d", what, right ? "refused" : "taken",
		  trust);
}

/* A filter with changed fields opens with both kinds of trust, or with none. */
#define TRY(right, change)                                                                         \
	do                                                                                             \
	{                                                                                              \
		forged x = base;                                                                           \
		change;                                                                                    \
		expect(&x, right, CKF_STORED, #change);                                                    \
		expect(&x, right, CKF_FOREIGN, #change);                                                   \
	} while (0)

/* The smallest f with ceil(2^W / m) <= 2^f. */
static uint8_t
tag_bits(unsigned rho_bits, uint32_t m)
{
	uint8_t f = 0;

	while (((UINT64_C(1) << rho_bits) + m - 1) / m > UINT64_C(1) << f)
		f++;
	return f;
}

/* ----------------------------------------------------------------- fields */

/* What holds of every filter. */
static void
try_common(const forged base)
{
	TRY(true, (void)x);
	TRY(false, x.longer = 1);
	TRY(false, x.longer = -1);
	TRY(false, x.longer = 8);
	for (unsigned flags = 0; flags < 256; flags++)
		TRY(flags < 4, x.flags = (uint8_t)flags);
	for (unsigned b = 0; b < 256; b++)
		if (b != 2 && b != 4 && b != 8)
			TRY(false, x.b = (uint8_t)b);
	TRY(false, x.c--);
	TRY(false, x.c++);
	for (unsigned bit = 0; bit < 8; bit++)
		TRY(false, x.reserved = (uint8_t)(1U << bit));
	TRY(true, x.seed = UINT64_MAX);
	TRY(true, x.capacity = 1);
	TRY(false, x.capacity = 0);
	TRY(false, x.capacity = -1);
	TRY(true, x.capacity = CKF_MAX_CAPACITY);
	TRY(false, x.capacity = CKF_MAX_CAPACITY + 1);
	for (unsigned encoding = 3; encoding < 256; encoding++)
		TRY(false, x.encoding = (uint8_t)encoding);
}

/* Byte 14 is 0 if and only if the filter is empty. There are no old items without hashes.
 * Version 1 has no classes. */
static void
try_classes(forged x, ckf_trust trust)
{
	for (unsigned byte = 0; byte < 256; byte++)
	{
		bool possible = !(byte & CKF_ITEM_OLD) || (byte & CKF_ITEM_HASH);

		x.classes = 256 + (int)byte;
		x.version = 2;
		expect(&x, possible && (byte == 0) == (x.count == 0), trust, "classes");
		x.version = 1;
		expect(&x, byte == 0, trust, "classes of version 1");
	}
}

/* c follows from the target rate. */
static void
try_rates(const forged base)
{
	static const struct
	{
		double fpr;
		uint8_t c; /* 0: no rate */
	} rates[] = {
		{0.999, 4},
		{0.5, 4},
		{0x1p-4, 4},
		{0x0.ffffffffffffp-4, 5},
		{0x1p-5, 5},
		{0x1p-6, 6},
		{0x1.1p-7, 7},
		{0x1p-7, 7},
		{0x0.ffffffffffffp-7, 8},
		{0x1p-8, 8},
		{1e-9, 8},
		{0x1p-1022, 8},
		{4e-324, 8},
		{0, 0},
		{1, 0},
		{-0.0, 0},
		{-0.5, 0},
		{2, 0},
		{INFINITY, 0},
		{NAN, 0},
	};

	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		for (unsigned c = 3; c < 10; c++)
			TRY(c == rates[i].c, x.fpr = rates[i].fpr; x.c = (uint8_t)c);
}

static forged
forged_table(ckf_encoding encoding, uint8_t b, double fpr, uint8_t c)
{
	return (forged){.encoding = (uint8_t)encoding,
					.b = b,
					.f = 9,
					.w = 10,
					.c = c,
					.m = 3,
					.capacity = 1000,
					.fpr = fpr};
}

static void
try_geometry(const forged base)
{
	/* f follows from W and m; W is w - g */
	for (unsigned g = 0; g < 3; g++)
		for (uint32_t m = 1; m < 20; m++)
			for (unsigned w = 16; w < 30; w += 13)
				for (int f = 4; f <= 30; f++)
					TRY(f == tag_bits(w - g, m), x.g = (uint8_t)g; x.m = m; x.w = (uint8_t)w;
						x.f = (uint8_t)f);
	/* and is not below c, nor above 56 */
	for (uint8_t f = 4; f < 10; f++)
		TRY(f >= base.c, x.m = 1; x.f = x.w = f);
	for (uint8_t f = 54; f < 60; f++)
		TRY(f <= 56, x.m = 1; x.f = x.w = f);
	TRY(false, x.m = 2; x.f = 56; x.w = 57);
	TRY(false, x.m = 1; x.g = 1; x.f = 56; x.w = 57);
	TRY(true, x.m = 1; x.g = 1; x.f = 55; x.w = 56);
	TRY(false, x.m = 0);
	TRY(true, x.m = 32768; x.w = 24; x.f = 9);
	TRY(false, x.m = 32769; x.w = 24; x.f = 9);
	if (base.encoding == CKF_SEMI_SORTED)
	{
		TRY(false, x.b = 2);
		TRY(false, x.b = 8);
	}
}

/* As many copies as slots, and one more, opened without counting them. */
static void
try_count(const forged base)
{
	forged x = base;

	x.g = 2;
	x.w += 2;
	x.count = (2 * x.m * x.b) << x.g;
	expect(&x, true, CKF_STORED, "a full count");
	expect(&x, false, CKF_FOREIGN, "a full count of nothing");
	x.count++;
	expect(&x, false, CKF_STORED, "more copies than slots");
}

/* The rate is at most 1, however full the table is. */
static void
run_full_rate(const void *arg)
{
	forged x = forged_table(CKF_PLAIN, 8, 0.3, 4);
	static forgery made;
	ckf_filter filter;

	(void)arg;
	x.f = 4;
	x.m = 1 << (x.w - x.f);
	x.count = 2 * x.m * x.b;
	forge(&made, &x);
	CHECK(ckf_open(&filter, made.bytes, made.size, CKF_STORED) == CKF_OK, "open");
	CHECK(ckf_fpr(&filter) == 1, "a rate of %g", ckf_fpr(&filter));
}

/* No bit behind the buckets is set. */
static void
try_tail(const forged base)
{
	static forgery made;

	forge(&made, &base);
	for (size_t bit = CKF_HEADER_SIZE * 8 + 2 * base.m * forged_bucket_bits(&base);
		 bit < 8 * made.size; bit++)
	{
		made.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CHECK(!opens(&made, CKF_FOREIGN), "bit %zu of the tail is set", bit);
		made.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/*
 * A table so large that with half as many items more it would be past what a
 * 32-bit machine can address: growth finds one that is smaller, or refuses.  Its
 * pages are never touched; the door that reads no slot believes the count.
 */
static void
run_largest(const void *arg)
{
	forged x = forged_table(CKF_PLAIN, 8, 0.01, 7);
	unsigned g = 11;
	size_t size = CKF_HEADER_SIZE + 8 + ((size_t)2 * 26000 * 16 << g);
	static forgery made;
	ckf_filter filter;
	uint64_t *rebuild = check_alloc(CKF_REBUILD_SIZE(1));
	ckf_buffers buffers = {0};
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)arg;
	CHECK(bytes != MAP_FAILED, "no address space for %zu bytes", size);
	x.m = 26000;
	x.f = 16;
	x.w = 30;
	x.count = 780000000;
	forge(&made, &x);
	memcpy(bytes, made.bytes, CKF_HEADER_SIZE);
	bytes[9] = (uint8_t)(x.w + g);
	bytes[10] = (uint8_t)g;
	CHECK(ckf_open(&filter, bytes, size, CKF_STORED) == CKF_OK, "open");
	CHECK(ckf_rebuild_start((ckf_rebuild *)rebuild, CKF_GROW, &filter, NULL) == CKF_OK, "start");
	CHECK(ckf_rebuild_step((ckf_rebuild *)rebuild, &buffers) == CKF_ROOM, "room for nothing");
	CHECK(buffers.dst_size > size && buffers.dst_size <= SIZE_MAX / 2, "%zu bytes grow to %zu",
		  size, buffers.dst_size);
	free(rebuild);
	munmap(bytes, size);
}

static void
run_tables(const void *arg)
{
	static const uint8_t sizes[] = {4, 2, 4, 8};

	(void)arg;
	for (int i = 0; i < 4; i++)
	{
		ckf_encoding encoding = i == 0 ? CKF_SEMI_SORTED : CKF_PLAIN;
		forged base = forged_table(encoding, sizes[i], 0.01, 7);

		try_common(base);
		try_classes(base, CKF_FOREIGN);
		base.count = 1;
		try_classes(base, CKF_STORED);
		base.count = 0;
		try_rates(base);
		try_geometry(base);
		try_geometry(forged_table(encoding, sizes[i], 0.3, 4));
		try_count(base);
		try_tail(base);
	}
}

/* ----------------------------------------------------------------- hashes */

/* Whether these words open, as hashes or as prefixes of 12 bits. */
static void
expect_words(bool right, const forged *base, bool set, unsigned b, const uint64_t *words, size_t n)
{
	forged x = *base;
	static forgery made;

	x.b = (uint8_t)b;
	x.flags = set;
	x.words = x.count = n;
	forge(&made, &x);
	for (size_t i = 0; i < n; i++)
		put(made.bytes + CKF_HEADER_SIZE + 8 * i, words[i], 8);
	CHECK(opens(&made, CKF_FOREIGN) == right, "%zu words from %llu on, set %d, b %u", n,
		  (unsigned long long)words[0], set, b);
}

static void
run_hashes(const void *arg)
{
	const forged base = {.b = 4, .w = 64, .c = 7, .capacity = 1, .fpr = 0.01};
	forged one = base;

	(void)arg;
	one.words = one.count = 1;
	try_common(base);
	try_classes(base, CKF_FOREIGN);
	try_classes(one, CKF_STORED);
	try_rates(base);
	TRY(false, x.count++);
	TRY(false, x.w = 63);
	TRY(false, x.w = 56);
	TRY(false, x.w = 0);
	TRY(false, x.f = 9);
	TRY(false, x.g = 1);
	TRY(false, x.m = 1);
	for (unsigned b = 2; b <= 8; b *= 2)
	{
		uint64_t same[20];

		for (int i = 0; i < 20; i++)
			same[i] = 5;
		expect_words(true, &base, false, b, same, 2 * b);
		expect_words(false, &base, false, b, same, 2 * b + 1);
		expect_words(true, &base, true, b, same, 1);
		expect_words(false, &base, true, b, same, 2);
		same[2 * b] = 6;
		expect_words(true, &base, false, b, same, 2 * b + 1);
		same[0] = 4;
		expect_words(true, &base, false, b, same, 2 * b + 1);
		same[1] = 3;
		expect_words(false, &base, false, b, same, 2 * b + 1);
	}
	expect_words(true, &base, false, 4, (uint64_t[]){1, UINT64_MAX}, 2);
	expect_words(false, &base, false, 4, (uint64_t[]){0, UINT64_MAX}, 2);
	expect_words(false, &base, false, 4, (uint64_t[]){UINT64_MAX, 1}, 2);
}

/* ---------------------------------------------------------------- prefixes */

/* The state of a merge that no table has room for. */
static void
run_prefixes(const void *arg)
{
	const forged base = {
		.encoding = CKF_PREFIXES, .b = 4, .w = 12, .c = 7, .capacity = 1, .fpr = 0.01};

	(void)arg;
	TRY(true, (void)x);
	for (unsigned flags = 0; flags < 256; flags++)
		TRY(flags < 4, x.flags = (uint8_t)flags);
	for (unsigned w = 0; w < 256; w++)
		TRY(w >= 7 && w <= CKF_MAX_PREFIX, x.w = (uint8_t)w);
	TRY(false, x.count++);
	TRY(false, x.longer = 8);
	TRY(false, x.f = 9);
	TRY(false, x.g = 1);
	TRY(false, x.m = 1);
	for (unsigned b = 2; b <= 8; b *= 2)
	{
		uint64_t same[20];

		for (int i = 0; i < 20; i++)
			same[i] = UINT64_C(5) << 52;
		expect_words(true, &base, false, b, same, 2 * b);
		expect_words(false, &base, false, b, same, 2 * b + 1);
		expect_words(true, &base, true, b, same, 1);
		expect_words(false, &base, true, b, same, 2);
	}
	expect_words(true, &base, false, 4, (uint64_t[]){UINT64_C(1) << 52, UINT64_C(0xfff) << 52}, 2);
	expect_words(false, &base, false, 4, (uint64_t[]){UINT64_C(0xfff) << 52, UINT64_C(1) << 52}, 2);
	expect_words(false, &base, false, 4, (uint64_t[]){UINT64_C(1) << 51}, 1);     /* 13 bits */
	expect_words(false, &base, false, 4, (uint64_t[]){UINT64_C(0x180) << 52}, 1); /* low c bits 0 */
	expect_words(false, &base, false, 4, (uint64_t[]){0}, 1);
}

/* ------------------------------------------------------------------ states */

/* The states of versions before 1.4: a stored one is told from damaged bytes. */
static void
run_states(const void *arg)
{
	const forged state = {
		.encoding = 3, .flags = 4, .b = 4, .w = 64, .c = 7, .fpr = 0.01, .words = 9};

	(void)arg;
	for (unsigned encoding = 0; encoding < 256; encoding++)
		for (unsigned flags = 0; flags < 256; flags++)
		{
			forged x = state;
			forgery *made = check_alloc(sizeof *made);
			bool is_state = (encoding == 2 || encoding == 3) && flags < 16 && (flags & 4);
			ckf_filter filter;

			x.encoding = (uint8_t)encoding;
			x.flags = (uint8_t)flags;
			forge(made, &x);
			for (int door = 0; door < 3; door++)
			{
				static const ckf_trust doors[] = {CKF_FOREIGN, CKF_STORED, CKF_STATE};
				ckf_status expected =
					is_state && doors[door] != CKF_FOREIGN ? CKF_UNFINISHED : CKF_BAD_BYTES;
				ckf_status status = ckf_open(&filter, made->bytes, made->size, doors[door]);

				CHECK(status == expected, "encoding %u, flags %u: status %d, not %d", encoding,
					  flags, status, expected);
			}
			free(made);
		}
}

int
main(void)
{
	check_begin("core limits");
	check_case(run_tables, NULL, "fields of tables");
	check_case(run_largest, NULL, "a table as large as a machine can address");
	check_case(run_full_rate, NULL, "a rate of 1");
	check_case(run_hashes, NULL, "fields of hashes");
	check_case(run_prefixes, NULL, "fields of prefixes");
	check_case(run_states, NULL, "fields of states");
	return check_end();
}
