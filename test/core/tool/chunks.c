/*
 * chunks.c - random chunks for the comparison with reader.py.
 *
 *   chunks N   the chunks of N random tables, a line each:
 *              chunk W C B LAYOUT SET SEED START HEX HASH:COPIES ...
 */
#include "shelf.h"

#include <math.h>
#include <stdlib.h>

enum
{
	MOST_ITEMS = 3000,
	MOST_PROBES = 40
};

static ckf_params
random_params(void)
{
	static const uint8_t sizes[] = {2, 4, 4, 8};
	ckf_params params;
	int precision = (int)check_below(20);
	unsigned shift = 30 + (unsigned)check_below(34);

	/* one draw a statement: every machine draws the same */
	ckf_params_default(&params);
	params.capacity = 1 + (int64_t)(check_random() >> shift);
	params.set = check_chance(30);
	params.plain = check_chance(50);
	params.bucket_size = sizes[check_below(4)];
	params.fpr = fmin(0.95, ldexp((double)(1 + check_below(255)) / 256, -precision));
	params.seed = check_chance(50) ? 0 : check_random();
	return params;
}

/* Parameters that make a filter. */
static ckf_params
draw_params_of_filter(void)
{
	uint8_t bytes[CKF_HEADER_SIZE];
	ckf_params params;

	do
		params = random_params();
	while (ckf_create(&params, bytes) != CKF_OK);
	return params;
}

/* Hashes often enough near each other to share buckets and prefixes. */
static uint64_t
random_hash(void)
{
	uint64_t hash = check_random();

	return check_chance(90) ? hash : hash >> check_below(64);
}

static void
fill(shelf *s, uint64_t *hashes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hashes[i] = i > 0 && check_chance(10) ? hashes[check_below(i)] : random_hash();
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
	for (size_t i = 0; i < r->size; i++)
		printf("%02x", r->bytes[i]);
	for (unsigned i = 0; i < MOST_PROBES; i++)
	{
		uint64_t hash = i % 4 == 0 ? hashes[check_below(n)] : random_hash();

		if (i % 4 < 3) /* into the range */
			hash = chunk.start | (hash & (UINT64_MAX >> chunk.depth));
		printf(" %llx:%u", (unsigned long long)hash, ckf_chunk_copies(&chunk, hash));
	}
	printf("\n");
}

static void
emit(const void *arg)
{
	uint64_t hashes[MOST_ITEMS];

	for (long i = atol(arg); i > 0; i--)
	{
		ckf_params params = draw_params_of_filter();
		size_t n = 1 + check_below(check_chance(50) ? 30 : MOST_ITEMS);
		shelf s;

		CHECK(shelf_new(&s, &params, 0, 0), "no chunks");
		fill(&s, hashes, n);
		for (size_t k = 0; k < s.n && k < 6; k++)
			print_row(&s, &s.rows[check_below(s.n)], hashes, n);
		shelf_free(&s);
	}
}

int
main(int argc, char **argv)
{
	check_begin("chunks for reader.py");
	if (argc == 2)
		check_case(emit, argv[1], "emit");
	return check_end();
}
