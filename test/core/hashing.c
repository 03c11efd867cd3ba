/*
 * hashing.c - equal values have equal hashes; and the options text.
 */
#include "check.h"
#include "cuckoofilter.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t
reference(const void *bytes, size_t size, uint64_t seed, unsigned class_number)
{
	return XXH3_64bits_withSeed(bytes, size, seed + class_number);
}

static uint64_t
reference_word(uint64_t word, uint64_t seed, unsigned class_number)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(word >> (8 * i));
	return reference(bytes, sizeof bytes, seed, class_number);
}

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* A double whose value is an integer in int64 hashes as that integer. */
static void
check_whole(double value, int64_t integer)
{
	uint64_t seed = check_random();

	CHECK(ckf_hash_real(value, seed) == ckf_hash_integer(integer, seed), "%g is not %lld", value,
		  (long long)integer);
	CHECK(ckf_hash_integer(integer, seed) == reference_word((uint64_t)integer, seed, 1),
		  "the hash of %lld", (long long)integer);
}

static void
check_real(double value)
{
	uint64_t seed = check_random();

	CHECK(ckf_hash_real(value, seed) == reference_word(bits_of(value), seed, 2), "the hash of %a",
		  value);
}

static void
run_numbers(const void *arg)
{
	(void)arg;
	check_whole(5.0, 5);
	check_whole(0.0, 0);
	check_whole(-0.0, 0);
	check_whole(-1.0, -1);
	check_whole(9007199254740992.0, INT64_C(9007199254740992));
	check_whole(9007199254740994.0, INT64_C(9007199254740994));
	check_whole(-0x1p63, INT64_MIN);
	check_whole(0x1p63 - 1024, INT64_MAX - 1023);
	CHECK(ckf_hash_integer(INT64_C(9007199254740993), 0) != ckf_hash_real(9007199254740992.0, 0),
		  "2^53 + 1 is not 2^53");
	CHECK(ckf_hash_integer(INT64_MAX, 0) != ckf_hash_real(0x1p63, 0), "2^63 - 1 is not 2^63");
	check_real(0.5);
	check_real(-0.1);
	check_real(0x1p63); /* one past int64 */
	check_real(-0x1p63 - 2048);
	check_real(1e300);
	check_real(DBL_MIN);
	check_real(5e-324);
	check_real(-5e-324);
	check_real(INFINITY);
	check_real(-INFINITY);
	check_real(4503599627370495.5);
	for (uint64_t i = check_rounds(100000); i > 0; i--)
	{
		int64_t whole = (int64_t)(check_random() >> check_below(64));
		double value;
		uint64_t bits = check_random();

		whole = check_chance(50) ? whole : -whole;
		value = (double)whole;
		if (value < 0x1p63)
			check_whole(value, (int64_t)value);
		memcpy(&value, &bits, sizeof value);
		if (!isnan(value) && !(value >= -0x1p63 && value < 0x1p63 && value == trunc(value)))
			check_real(value);
	}
}

static void
run_nan(const void *arg)
{
	uint64_t one = ckf_hash_real(NAN, 7);

	(void)arg;
	CHECK(one == reference_word(UINT64_C(0x7ff8000000000000), 7, 2), "the one NaN");
	for (int i = 0; i < 1000; i++)
	{
		uint64_t bits = check_random() | UINT64_C(0x7ff0000000000001);
		double value;

		memcpy(&value, &bits, sizeof value);
		CHECK(ckf_hash_real(value, 7) == one, "NaN %#llx", (unsigned long long)bits);
	}
}

/* Bytes of each length near XXH3's thresholds, at any alignment. */
static void
run_bytes(const void *arg)
{
	static const size_t lengths[] = {0,   1,   3,   4,   8,    9,    16,    17,     128,
									 129, 240, 241, 512, 1024, 1025, 65537, 1 << 20};

	(void)arg;
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		for (unsigned c = CKF_CLASS_INTEGER; c <= CKF_CLASS_OTHER; c++)
		{
			uint8_t *bytes = guard_new(lengths[i], 1);
			uint64_t seed = check_random();

			CHECK(ckf_hash_bytes((ckf_class)c, bytes, lengths[i], seed) ==
					  reference(bytes, lengths[i], seed, c),
				  "%zu bytes of class %u", lengths[i], c);
			guard_free(bytes);
		}
	CHECK(ckf_hash_bytes(CKF_CLASS_TEXT, "abc", 3, 0) !=
			  ckf_hash_bytes(CKF_CLASS_BYTES, "abc", 3, 0),
		  "text equals bytes");
	CHECK(ckf_hash_bytes(CKF_CLASS_TEXT, NULL, 0, 1) == reference("", 0, 1, 3), "an empty text");
	for (unsigned c = CKF_CLASS_TIMESTAMP; c <= CKF_CLASS_OTHER; c++)
	{
		uint64_t word = check_random(), seed = check_random();

		CHECK(ckf_hash_word((ckf_class)c, word, seed) == reference_word(word, seed, c),
			  "a word of class %u", c);
	}
}

/* ---------------------------------------------------------------- options */

typedef struct option_text
{
	const char *text;
	const char *bad; /* the part at fault; NULL: none */
	uint64_t seed;
	bool set, plain;
	uint8_t bucket_size;
} option_text;

static const option_text texts[] = {
	{"", NULL, 0, false, false, 4},
	{"   ", NULL, 0, false, false, 4},
	{"kind=set", NULL, 0, true, false, 4},
	{"kind=deletable", NULL, 0, false, false, 4},
	{" kind = set ", NULL, 0, true, false, 4},
	{"layout=plain", NULL, 0, false, true, 4},
	{"layout=semi_sorted", NULL, 0, false, false, 4},
	{"layout=semi_sorted,bucket_size=4", NULL, 0, false, false, 4},
	{"layout=plain, bucket_size=2", NULL, 0, false, true, 2},
	{"bucket_size=8 ,layout=plain, kind=set,seed=1", NULL, 1, true, true, 8},
	{"bucket_size=8", NULL, 0, false, true, 8},
	{"bucket_size=2", NULL, 0, false, true, 2},
	{"seed=0", NULL, 0, false, false, 4},
	{"seed=-1", NULL, UINT64_MAX, false, false, 4},
	{"seed=18446744073709551615", NULL, UINT64_MAX, false, false, 4},
	{"seed=9223372036854775808", NULL, UINT64_C(1) << 63, false, false, 4},
	{"seed=-9223372036854775808", NULL, UINT64_C(1) << 63, false, false, 4},
	{"seed=18446744073709551616", "seed=18446744073709551616", 0, false, false, 4},
	{"seed=-9223372036854775809", "seed=-9223372036854775809", 0, false, false, 4},
	{"seed=99999999999999999999999999", "seed=99999999999999999999999999", 0, false, false, 4},
	{"seed=", "seed=", 0, false, false, 4},
	{"seed=-", "seed=-", 0, false, false, 4},
	{"seed=1x", "seed=1x", 0, false, false, 4},
	{"seed=1 2", "seed=1 2", 0, false, false, 4},
	{"seed=0x10", "seed=0x10", 0, false, false, 4},
	{"kind=sets", "kind=sets", 0, false, false, 4},
	{"kind=se", "kind=se", 0, false, false, 4},
	{"kind", "kind", 0, false, false, 4},
	{"kind=", "kind=", 0, false, false, 4},
	{"=set", "=set", 0, false, false, 4},
	{"=", "=", 0, false, false, 4},
	{"KIND=set", "KIND=set", 0, false, false, 4},
	{"kinds=set", "kinds=set", 0, false, false, 4},
	{"kin=set", "kin=set", 0, false, false, 4},
	{"color=red", "color=red", 0, false, false, 4},
	{"bucket_size=3", "bucket_size=3", 0, false, false, 4},
	{"bucket_size=16", "bucket_size=16", 0, false, false, 4},
	{"bucket_size=2,layout=semi_sorted", "bucket_size=2,layout=semi_sorted", 0, false, false, 4},
	{"layout=semi_sorted,bucket_size=8", "layout=semi_sorted,bucket_size=8", 0, false, false, 4},
	{",", "", 0, false, false, 4},
	{"kind=set,", "", 0, false, false, 4},
	{",kind=set", "", 0, false, false, 4},
	{"kind=set,,layout=plain", "", 0, false, false, 4},
	{"kind=set;layout=plain", "kind=set;layout=plain", 0, false, false, 4},
	{" kind=set , seed = 1x ,layout=plain", "seed = 1x", 0, false, false, 4},
	{"seed=+5", NULL, 5, false, false, 4},
	{"seed=184467440737095516150", "seed=184467440737095516150", 0, false, false, 4},
	{"seed=/", "seed=/", 0, false, false, 4},
	{"seed=:", "seed=:", 0, false, false, 4},
	{"\tkind\n=\rset", NULL, 0, true, false, 4},
	{"kind=set,kind=bag", "kind=bag", 0, false, false, 4},
};

/* An option is given twice. */
static const option_text twice[] = {
	{"layout=plain,layout=semi_sorted", "layout=semi_sorted", 0, false, false, 4},
	{"kind=set,kind=set", "kind=set", 0, false, false, 4},
	{"kind=set,kind=deletable", "kind=deletable", 0, false, false, 4},
	{"seed=1,kind=set, seed =1", "seed =1", 0, false, false, 4},
	{"bucket_size=2,bucket_size=4,kind=bag", "bucket_size=4", 0, false, false, 4},
};

/* The parsed options create a filter with the expected layout. */
static void
check_parsed(const ckf_params *params, const option_text *t)
{
	ckf_params created = *params;
	uint8_t bytes[CKF_HEADER_SIZE];
	ckf_filter filter;
	ckf_info info;

	CHECK(params->seed == t->seed && params->set == t->set, "'%s'", t->text);
	CHECK(params->bucket_size == t->bucket_size, "'%s'", t->text);
	created.capacity = 100;
	CHECK(ckf_create(&created, bytes) == CKF_OK, "create with '%s'", t->text);
	CHECK(ckf_open(&filter, bytes, sizeof bytes, CKF_FOREIGN) == CKF_OK, "open");
	ckf_get_info(&filter, &info);
	CHECK(strcmp(info.layout, t->plain ? "plain" : "semi_sorted") == 0, "'%s': %s", t->text,
		  info.layout);
}

static void
check_option_text(const option_text *t, ckf_status expected)
{
	size_t size = strlen(t->text), bad_size = 0;
	char *text = guard_copy(t->text, size);
	const char *bad = NULL;
	ckf_params params;
	ckf_status status;

	ckf_params_default(&params);
	status = ckf_params_parse(&params, text, size, &bad, &bad_size);
	CHECK(status == expected, "'%s': status %d", t->text, status);
	if (status == CKF_OK)
		check_parsed(&params, t);
	else
		CHECK(bad >= text && bad + bad_size <= text + size && bad_size == strlen(t->bad) &&
				  memcmp(bad, t->bad, bad_size) == 0,
			  "'%s': the part at fault", t->text);
	guard_free(text);
}

static void
run_options(const void *arg)
{
	(void)arg;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		check_option_text(&texts[i], texts[i].bad != NULL ? CKF_BAD_OPTION : CKF_OK);
	for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
		check_option_text(&twice[i], CKF_OPTION_TWICE);
}

/* Random pieces of options: the text is accepted, or the wrong part is within it. */
static void
run_random_options(const void *arg)
{
	static const char *const pieces[] = {"kind",
										 "set",
										 "=",
										 ",",
										 " ",
										 "bucket_size",
										 "2",
										 "4",
										 "8",
										 "seed",
										 "-1",
										 "plain",
										 "layout",
										 "x",
										 "",
										 "\x80",
										 "99999999999999999999",
										 "semi_sorted"};

	(void)arg;
	for (uint64_t i = check_rounds(100000); i > 0; i--)
	{
		char built[400] = "", *text;
		size_t bad_size = 0;
		const char *bad = NULL;
		ckf_params params;

		for (uint64_t n = check_below(12); n > 0; n--)
			strcat(built, pieces[check_below(sizeof pieces / sizeof *pieces)]);
		text = guard_copy(built, strlen(built));
		ckf_params_default(&params);
		if (ckf_params_parse(&params, text, strlen(built), &bad, &bad_size) != CKF_OK)
			CHECK(bad >= text && bad + bad_size <= text + strlen(built), "'%s'", built);
		guard_free(text);
	}
}

static void
run_defaults(const void *arg)
{
	ckf_params params;

	(void)arg;
	memset(&params, 0xff, sizeof params);
	ckf_params_default(&params);
	CHECK(params.capacity == 0 && params.fpr == (double)CKF_DEFAULT_FPR && params.seed == 0 &&
			  !params.set && !params.plain && params.bucket_size == 4,
		  "the defaults");
}

int
main(void)
{
	check_begin("core hashing");
	check_case(run_numbers, NULL, "numbers");
	check_case(run_nan, NULL, "one NaN");
	check_case(run_bytes, NULL, "bytes");
	check_case(run_defaults, NULL, "default parameters");
	check_case(run_options, NULL, "options");
	check_case(run_random_options, NULL, "random options");
	return check_end();
}
