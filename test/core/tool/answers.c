/*
 * answers.c - the C side of the comparison with reader.py.
 *
 *   answers emit N   N random filters, a line each: filter HEX HASH:COPIES ...
 *   answers chunks N the worked chunks and those of N random tables, a line each:
 *                    chunk W C B LAYOUT SET SEED START HEX HASH:COPIES ...
 *   answers read     for each input line "HEX HASH ..." the line "FOREIGN STORED", each of which
 *                    is "refused" or COUNT:CLASSES:COPIES:...
 */
#include "shelf.h"
#include "tsv.h"

#include <stdlib.h>
#include <string.h>

enum
{
	LINE = 1 << 22,
	MOST_ITEMS = 400,
	MOST_PROBES = 48
};

/* ------------------------------------------------------------------- emit */

/* Near 0 now and then. */
static uint64_t
random_hash(void)
{
	uint64_t hash = check_random();

	return check_chance(90) ? hash : hash >> check_below(64);
}

/* A filter and the copies of some hashes: items of the model, near ones, and random hashes. */
static void
print_filter(const owned *o, const model *m)
{
	printf("filter ");
	print_hex(o->bytes, o->filter.size);
	for (unsigned i = 0; i < MOST_PROBES; i++)
	{
		uint64_t hash;

		if (i % 4 >= 2 || !model_member(m, &hash))
			hash = random_hash();
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
	for (long i = atol(arg); i > 0; i--)
	{
		world w = world_new(MOST_ITEMS);
		input in;

		input_draw(&in, &w, 1);
		print_filter(&in.filter, &in.model);
		input_free(&in);
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
		model m;

		build_aggregate(&o, &params, hashes, ITEMS);
		CHECK(o.filter.g > 0, "one segment");
		model_of_distinct(&m, &o, hashes, ITEMS);
		print_filter(&o, &m);
		model_free(&m);
		owned_free(&o);
	}
	free(hashes);
}

/* ----------------------------------------------------------------- chunks */

/* Items and copies of them, added in several edits; some are removed. */
static void
fill(shelf *s, uint64_t *hashes, size_t n)
{
	repeat_some(hashes, n);
	qsort(hashes, n, sizeof *hashes, compare_hashes);
	for (size_t done = 0, some; done < n; done += some)
	{
		some = 1 + check_below(n - done);
		shelf_add(s, hashes + done, some, true);
	}
	for (size_t i = 0; i < n && check_chance(95); i++)
		(void)shelf_remove(s, &hashes[check_below(n)], 1);
}

static void
print_row(const shelf *s, const row *r, const uint64_t *hashes, size_t n)
{
	const ckf_filter *like = &s->chunks->like;
	ckf_chunk chunk;

	CHECK(ckf_chunk_open(&chunk, s->chunks, r->start, r->bytes, r->size) == CKF_OK, "a row");
	printf("chunk %d %d %d %d %d %llu %llu ", like->w, like->c, like->b, like->encoding,
		   filter_is_set(like), (unsigned long long)like->seed, (unsigned long long)r->start);
	print_hex(r->bytes, r->size);
	for (unsigned i = 0; i < MOST_PROBES; i++)
	{
		uint64_t hash = i % 4 == 0 ? hashes[check_below(n)] : random_hash();

		if (i % 4 < 3) /* into the range */
			hash = chunk.start | (hash & (UINT64_MAX >> chunk.depth));
		printf(" %llx:%u", (unsigned long long)hash, ckf_chunk_copies(&chunk, hash));
	}
	printf("\n");
}

/* The only chunks of the tables of 3 and of 60 integers, FORMAT.md's worked ones. */
static void
emit_worked(void)
{
	ckf_params params = params_of(1000, CKF_DEFAULT_FPR, false, false, 4);
	uint64_t hashes[60];

	for (size_t n = 3; n <= 60; n += 57)
	{
		shelf s;

		for (size_t i = 0; i < n; i++)
			hashes[i] = ckf_hash_integer((int64_t)i + 1, 0);
		qsort(hashes, n, sizeof *hashes, compare_hashes);
		CHECK(shelf_new(&s, &params, 0, 0), "no chunks");
		shelf_add(&s, hashes, n, true);
		CHECK(s.n == 1, "%zu chunks", s.n);
		print_row(&s, s.rows, hashes, n);
		shelf_free(&s);
	}
}

static void
emit_chunks(const void *arg)
{
	emit_worked();
	for (long i = atol(arg); i > 0; i--)
	{
		world w = world_new(MOST_ITEMS);
		size_t n = 1 + check_below(check_chance(50) ? 30 : 3000);
		uint64_t *hashes = world_hashes(&w, check_chance(80) ? 0 : 1, n);
		shelf s;

		shelf_draw(&s, &w);
		fill(&s, hashes, n);
		for (size_t k = 0; k < s.n && k < 6; k++)
			print_row(&s, &s.rows[check_below(s.n)], hashes, n);
		shelf_free(&s);
		free(hashes);
	}
}

/* ------------------------------------------------------------------- read */

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
		printf("%llu:%u:%u", (unsigned long long)filter.count, filter.item_classes,
			   filter.number_forms);
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
		char *hashes = line + strcspn(line, " \n");
		size_t size;

		*hashes++ = '\0';
		size = read_hex(line, bytes, LINE / 2);
		answer(bytes, size, CKF_FOREIGN, hashes);
		printf(" ");
		answer(bytes, size, CKF_STORED, hashes);
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
	else if (argc == 3 && strcmp(argv[1], "chunks") == 0)
		check_case(emit_chunks, argv[2], "emit chunks");
	else if (argc == 2 && strcmp(argv[1], "read") == 0)
		check_case(read_all, NULL, "read");
	else
		fprintf(stderr, "usage: answers emit N | answers chunks N | answers read\n");
	return check_end();
}
