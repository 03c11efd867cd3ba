/*
 * tags.c - every tag in every bucket of small tables: ckf_open accepts it exactly if FORMAT.md has
 * a prefix with this tag in this bucket, and then this prefix is in the filter.
 */
#include "forge.h"
#include "filter/operations.h"

#include <stdlib.h>
#include <string.h>

enum
{
	CODES = 3876 /* of four nibbles in order */
};

static uint64_t
low_bits(uint64_t value, unsigned bits)
{
	return value & ((UINT64_C(1) << bits) - 1);
}

/* One tag in the last slot of a bucket that is free otherwise. */
static void
put_tag(const forged *x, uint8_t *body, uint64_t bucket, uint64_t tag)
{
	uint64_t at = bucket * forged_bucket_bits(x), n = tag % 16;

	if (x->encoding == CKF_PLAIN)
		put_bits(body, at + (x->b - 1U) * x->f, tag, x->f);
	else
	{
		put_bits(body, at, n * (n + 1) * (n + 2) * (n + 3) / 24, 12);
		put_bits(body, at + 12 + 3 * (x->f - 4U), tag / 16, x->f - 4U);
	}
}

/* rho of a tag in a bucket of a half, by looking at each; false: none has it. */
static bool
find_rho(const forged *x, unsigned half, uint64_t q, uint64_t tag, uint64_t *rho)
{
	unsigned rho_bits = x->w - x->g;
	uint64_t c = UINT64_C(0x9e3779b97f4a7c15) >> (64 - rho_bits) | 1;

	for (*rho = 0; *rho < UINT64_C(1) << rho_bits; ++*rho)
	{
		uint64_t like = half ? low_bits(*rho * c, rho_bits) : *rho;

		if (low_bits(*rho, x->f) == tag && (like * x->m) >> rho_bits == q)
			return low_bits(tag, x->c) != 0;
	}
	return false;
}

/* After opening, and after a rebuild, the table has this prefix and no other. */
static void
expect_only(owned *o, uint64_t prefix)
{
	unsigned w = o->filter.w;
	owned moved;

	for (uint64_t p = 0; p < UINT64_C(1) << w; p++)
	{
		bool joined = (p & o->filter.low_mask) == 0;
		unsigned copies = (joined ? p | 1 : p) == prefix;

		CHECK(ckf_contains(&o->filter, p << (64 - w)) == (copies > 0) &&
				  ckf_copies(&o->filter, p << (64 - w)) == copies,
			  "prefix %llu of the one that is %llu", (unsigned long long)p,
			  (unsigned long long)prefix);
	}
	CHECK(run_rebuild(&moved, CKF_UNION, o, o) == CKF_OK, "union");
	CHECK(moved.filter.count == 1 && ckf_contains(&moved.filter, prefix << (64 - w)), "it moved");
	owned_free(&moved);
}

/* Every tag in every bucket: it opens if, and only if, a prefix has it there. */
static void
run_tags(const void *arg)
{
	const forged *x = arg;
	static forgery made;
	unsigned taken = 0, refused = 0;

	for (uint64_t bucket = 0; bucket < (2 * (uint64_t)x->m) << x->g; bucket++)
		for (uint64_t tag = 1; tag < UINT64_C(1) << x->f; tag++)
		{
			uint64_t q = bucket % (2 * x->m), rho;
			bool half = q >= x->m;
			bool right = find_rho(x, half, half ? q - x->m : q, tag, &rho);
			owned o;

			forge(&made, x);
			put_tag(x, made.bytes + CKF_HEADER_SIZE, bucket, tag);
			CHECK(opens(&made, CKF_FOREIGN) == right, "tag %llu in bucket %llu is %s",
				  (unsigned long long)tag, (unsigned long long)bucket, right ? "refused" : "taken");
			CHECK(opens(&made, CKF_STORED), "the other door counts tags");
			taken += right;
			refused += !right;
			if (!right || !check_chance(5))
				continue;
			owned_open(&o, made.bytes, made.size, CKF_FOREIGN);
			expect_only(&o, (bucket / (2 * x->m)) << (x->w - x->g) | rho);
			owned_free(&o);
		}
	check_note("%u tags taken, %u refused", taken, refused);
}

/* Four tags in a bucket where each one is possible: they are in order, or refused. */
static void
expect_bucket(bool right, unsigned code, unsigned uppers, uint64_t count)
{
	static const forged x = {
		.encoding = 1, .b = 4, .f = 8, .w = 8, .c = 4, .m = 1, .capacity = 9, .fpr = .3};
	static forgery made;
	forged counted = x;

	counted.count = count;
	forge(&made, &counted);
	put_bits(made.bytes + CKF_HEADER_SIZE, 0, code, 12);
	put_bits(made.bytes + CKF_HEADER_SIZE, 12, uppers, 16);
	CHECK(opens(&made, CKF_FOREIGN) == right, "code %u, uppers %#x, count %llu", code, uppers,
		  (unsigned long long)count);
}

static void
run_order(const void *arg)
{
	(void)arg;
	/* the last code's nibbles are all 15: the upper bits rise; there is none after it */
	for (unsigned code = CODES - 1; code < 4096; code++)
	{
		expect_bucket(code < CODES, code, 0x2222, 4);
		expect_bucket(code < CODES, code, 0x3222, 4);
		expect_bucket(code < CODES, code, 0x5432, 4);
		expect_bucket(false, code, 0x2223, 4);
		expect_bucket(false, code, 0x2232, 4);
		expect_bucket(false, code, 0x2322, 4);
	}
	/* nibbles 1, 2, 3, 4: upper bits in any order */
	expect_bucket(true, 1 + 3 + 10 + 35, 0x0a5f, 4);
	expect_bucket(false, 1 + 3 + 10 + 35, 0x0a5f, 3);
	expect_bucket(false, 1 + 3 + 10 + 35, 0x0a5f, 5);
	expect_bucket(true, 0, 0, 0);
}

static const forged small_tables[] = {
	{.encoding = 1, .b = 4, .f = 9, .w = 10, .c = 7, .m = 3, .count = 1, .capacity = 9, .fpr = .01},
	{.encoding = 1, .b = 4, .f = 4, .w = 7, .c = 4, .m = 11, .count = 1, .capacity = 9, .fpr = .3},
	{.encoding = 1,
	 .b = 4,
	 .f = 7,
	 .w = 11,
	 .g = 2,
	 .c = 7,
	 .m = 7,
	 .count = 1,
	 .capacity = 9,
	 .fpr = .01},
	{.encoding = 1, .b = 4, .f = 8, .w = 8, .c = 8, .m = 1, .count = 1, .capacity = 9, .fpr = .001},
	{.encoding = 2, .b = 2, .f = 9, .w = 10, .c = 7, .m = 3, .count = 1, .capacity = 9, .fpr = .01},
	{.encoding = 2, .b = 4, .f = 7, .w = 9, .c = 5, .m = 5, .count = 1, .capacity = 9, .fpr = .04},
	{.encoding = 2, .b = 8, .f = 8, .w = 9, .c = 8, .m = 2, .count = 1, .capacity = 9, .fpr = .001},
	{.encoding = 2,
	 .b = 8,
	 .f = 6,
	 .w = 9,
	 .g = 1,
	 .c = 4,
	 .m = 6,
	 .count = 1,
	 .capacity = 9,
	 .fpr = .3},
};

/* CUCKOOFILTER_PORTABLE=1, with which suites run a second time, must have an effect. */
static void
run_portable(const void *arg)
{
	const char *portable = getenv("CUCKOOFILTER_PORTABLE");

	(void)arg;
	CHECK(portable == NULL || strcmp(portable, "1") != 0 || !ckf_use_pdep(),
		  "CUCKOOFILTER_PORTABLE=1 was not heard");
}

int
main(void)
{
	check_begin("core tags");
	check_case(run_portable, NULL, "portable paths, if asked for");
	check_case(run_order, NULL, "order of semi-sorted slots");
	for (size_t i = 0; i < sizeof small_tables / sizeof *small_tables; i++)
	{
		const forged *x = &small_tables[i];

		check_case(run_tags, x, "tags, encoding %d, b %d, f %d, w %d, g %d, m %u", x->encoding,
				   x->b, x->f, x->w, x->g, x->m);
	}
	return check_end();
}
