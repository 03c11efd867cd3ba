/*
 * answers.c - the C side of the comparison with reader.py.
 *
 *   answers emit N   N random filters, a line each: filter HEX HASH:COPIES ...
 *   answers read     for each input line "HEX HASH ..." the line "FOREIGN STORED", each of which
 *                    is "refused" or COUNT:CLASSES:COPIES:...
 */
#include "drive.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	LINE = 1 << 22,
	MOST_ITEMS = 400,
	MOST_PROBES = 48
};

/* ------------------------------------------------------------------- emit */

static ckf_params
random_params(void)
{
	static const uint8_t sizes[] = {2, 4, 4, 8};
	ckf_params params;
	unsigned shift = 24 + (unsigned)check_below(40);
	int precision = (int)check_below(20);

	/* one draw a statement: every machine draws the same */
	ckf_params_default(&params);
	params.capacity = 1 + (int64_t)(check_random() >> shift);
	params.set = check_chance(30);
	params.plain = check_chance(50);
	params.bucket_size = sizes[check_below(4)];
	params.fpr = fmin(0.95, ldexp((double)(1 + check_below(255)) / 256, -precision));
	while (params.capacity > 1 && (double)params.capacity / params.fpr > 0x1p50)
		params.capacity /= 2;
	params.seed = check_chance(50) ? 0 : check_random();
	return params;
}

/* Hashes often enough near each other to share buckets and prefixes. */
static uint64_t
random_hash(void)
{
	uint64_t hash = check_random();

	return check_chance(90) ? hash : hash >> check_below(64);
}

static size_t
random_filter(owned *o, const ckf_params *params, uint64_t *hashes)
{
	size_t n = check_below(check_chance(30) ? 12 : MOST_ITEMS), added = 0;

	for (size_t i = 0; i < n; i++)
		hashes[i] = random_hash();
	if (check_chance(50))
	{
		build_aggregate(o, params, hashes, n);
		return n;
	}
	owned_create(o, params);
	for (; added < n; added++)
		if (owned_add(o, hashes[added]) != CKF_OK)
			break;
	return added;
}

static void
change(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	uint64_t others[MOST_ITEMS];
	bool found;

	for (size_t i = 0; n > 0 && i < check_below(60); i++)
		(void)owned_add(o, hashes[check_below(n < 5 ? n : 5)]);
	for (size_t i = 0; n > 0 && !params->set && i < check_below(100); i++)
		(void)owned_remove(o, hashes[i % n], &found);
	if (check_chance(20))
	{
		owned other;

		(void)random_filter(&other, params, others);
		(void)owned_rebuild(o, check_chance(50) ? CKF_UNION : CKF_SUM, &other);
		owned_free(&other);
	}
	if (check_chance(30))
		(void)owned_rebuild(o, check_chance(50) ? CKF_GROW : CKF_COMPACT, NULL);
}

static void
print_filter(const owned *o, const uint64_t *hashes, size_t n)
{
	printf("filter ");
	for (size_t i = 0; i < o->filter.size; i++)
		printf("%02x", o->bytes[i]);
	for (unsigned i = 0; i < MOST_PROBES; i++)
	{
		uint64_t hash = n > 0 && i % 4 < 2 ? hashes[check_below(n)] : random_hash();

		if (i % 4 == 1)
			hash ^= UINT64_C(1) << check_below(64);
		printf(" %llx:%u", (unsigned long long)hash, ckf_copies(&o->filter, hash));
		CHECK(ckf_contains(&o->filter, hash) == (ckf_copies(&o->filter, hash) > 0), "contains");
	}
	printf("\n");
}

static void
emit(const void *arg)
{
	uint64_t hashes[MOST_ITEMS];

	for (long i = atol(arg); i > 0; i--)
	{
		ckf_params params = random_params();
		owned o;
		size_t n = random_filter(&o, &params, hashes);

		if (check_chance(60))
			change(&o, &params, hashes, n);
		if (check_chance(20))
			owned_make_old(&o);
		print_filter(&o, hashes, n);
		owned_free(&o);
	}
}

/* Tables of several segments. */
static void
emit_large(const void *arg)
{
	static const uint8_t sizes[] = {2, 4};
	enum
	{
		ITEMS = 280000
	};
	uint64_t *hashes = random_hashes(ITEMS);

	(void)arg;
	for (size_t i = 0; i < sizeof sizes; i++)
	{
		ckf_params params = params_of(0, 0.01, false, false, sizes[i]);
		owned o;

		build_aggregate(&o, &params, hashes, ITEMS);
		CHECK(o.filter.g > 0, "one segment");
		print_filter(&o, hashes, ITEMS);
		owned_free(&o);
	}
	free(hashes);
}

/* ------------------------------------------------------------------- read */

static size_t
read_hex(const char *hex, uint8_t *bytes)
{
	size_t n = 0;

	for (; isxdigit((unsigned char)hex[0]); hex += 2)
		bytes[n++] = (uint8_t)strtoul((char[]){hex[0], hex[1], '\0'}, NULL, 16);
	return n;
}

static void
answer(const uint8_t *bytes, size_t size, ckf_trust trust, const char *hashes)
{
	uint8_t *guarded = guard_copy(bytes, size);
	ckf_filter filter;
	char *next;

	if (ckf_open(&filter, guarded, size, trust) != CKF_OK)
		printf("refused");
	else
	{
		printf("%llu:%u", (unsigned long long)filter.count, filter.item_classes);
		for (uint64_t hash = strtoull(hashes, &next, 16); next != hashes;
			 hash = strtoull(hashes, &next, 16))
		{
			unsigned copies = ckf_copies(&filter, hash);

			CHECK(ckf_contains(&filter, hash) == (copies > 0), "contains");
			printf(":%u", copies);
			hashes = next;
		}
	}
	guard_free(guarded);
}

static void
read_all(const void *arg)
{
	char *line = check_alloc(LINE);
	uint8_t *bytes = check_alloc(LINE / 2);

	(void)arg;
	while (fgets(line, LINE, stdin) != NULL)
	{
		char *blank = line + strcspn(line, " \n");
		size_t size;

		size = read_hex(line, bytes);
		answer(bytes, size, CKF_FOREIGN, blank);
		printf(" ");
		answer(bytes, size, CKF_STORED, blank);
		printf("\n");
		fflush(stdout);
	}
	free(bytes);
	free(line);
}

int
main(int argc, char **argv)
{
	check_begin("answers");
	if (argc == 3 && strcmp(argv[1], "emit") == 0)
	{
		check_case(emit, argv[2], "emit");
		check_case(emit_large, NULL, "emit large");
	}
	else if (argc == 2 && strcmp(argv[1], "read") == 0)
		check_case(read_all, NULL, "read");
	else
		fprintf(stderr, "usage: answers emit N | answers read\n");
	return check_end();
}
