/*
 * worked.c - replays the worked examples of core/FORMAT.md, so that page and code agree.
 */
#include "shelf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	LINE = 1024,
	MOST_BYTES = 1024,
	MOST_HASHES = 64
};

/* The hexadecimal blocks of the page in their order, beginning with section 5. */
enum
{
	GEOMETRY_FEW, /* headers */
	GEOMETRY_MANY,
	BUILD_HASHES, /* of the items */
	BUILD,
	MERGE_HASHES,
	MERGE_FIRST,
	MERGE_EMPTY,
	MERGE_UNION,
	MERGE_SUM,
	INTERSECT_TWO,
	INTERSECT_ALL,
	READ, /* and those after it */
	READS = 3,
	CHUNK_HASHES = READ + READS,
	CHUNK_TABLE,
	CHUNK_PREFIXES,
	BLOCKS
};

typedef struct block
{
	uint8_t bytes[MOST_BYTES];
	size_t size;
} block;

/* Hex of a line indented by four blanks; false where it is anything else. */
static bool
read_hex_line(const char *line, block *b)
{
	unsigned byte;

	if (strncmp(line, "    ", 4) != 0 || line[strspn(line, "0123456789abcdef \n")] != '\0')
		return false;
	for (line += strspn(line, " "); sscanf(line, "%2x", &byte) == 1; line += strspn(line, " \n"))
	{
		CHECK(b->size < MOST_BYTES, "a worked block of more than %d bytes", MOST_BYTES);
		b->bytes[b->size++] = (uint8_t)byte;
		line += 2;
	}
	return true;
}

/* The hex blocks from section 5 on; how many there are. */
static size_t
read_blocks(const char *path, block *found)
{
	FILE *page = fopen(path, "r");
	char line[LINE];
	bool in_sections = false, in_block = false;
	size_t n = 0;

	CHECK(page != NULL, "%s: not there (run from the repository's root)", path);
	memset(found, 0, (BLOCKS + 1) * sizeof *found);
	while (n <= BLOCKS && fgets(line, sizeof line, page) != NULL)
	{
		bool hex;

		in_sections = in_sections || strncmp(line, "## 5.", 5) == 0;
		hex = in_sections && read_hex_line(line, &found[in_block ? n - 1 : n]);
		n += hex && !in_block;
		in_block = hex;
	}
	fclose(page);
	return n;
}

static void
read_page(const char *path, block *found)
{
	size_t n = read_blocks(path, found);

	CHECK(n == BLOCKS, "%zu worked blocks", n);
}

/* A block of hashes, written as numbers: the highest digit first. */
static size_t
read_hashes(const block *b, uint64_t *hashes)
{
	size_t n = b->size / 8;

	CHECK(b->size % 8 == 0 && n <= MOST_HASHES, "%zu bytes of hashes", b->size);
	for (size_t i = 0; i < n; i++)
	{
		hashes[i] = 0;
		for (size_t k = 0; k < 8; k++)
			hashes[i] = hashes[i] << 8 | b->bytes[8 * i + k];
	}
	return n;
}

static void
check_bytes(const owned *o, const block *b, const char *what)
{
	CHECK(o->filter.size == b->size && memcmp(o->bytes, b->bytes, b->size) == 0,
		  "the worked bytes of %s are not what the code builds", what);
}

static ckf_params
worked_params(int64_t capacity, double fpr, const char *options)
{
	ckf_params params;
	const char *bad;
	size_t bad_size;

	ckf_params_default(&params);
	params.capacity = capacity;
	params.fpr = fpr;
	CHECK(ckf_params_parse(&params, options, strlen(options), &bad, &bad_size) == CKF_OK,
		  "options");
	return params;
}

/* -------------------------------------------------------------- geometry */

static void
check_header(const block *header, size_t items)
{
	ckf_params params = worked_params((int64_t)items, CKF_DEFAULT_FPR, "");
	uint64_t *hashes = check_alloc(items * sizeof *hashes);
	owned o;

	/* evenly spread, so that no build fails */
	driven_class = CKF_ITEM_HASH;
	for (size_t i = 0; i < items; i++)
		hashes[i] = (i + 1) * (UINT64_MAX / (items + 1)) + check_below(UINT16_MAX);
	build_aggregate(&o, &params, hashes, items);
	CHECK(header->size == CKF_HEADER_SIZE && memcmp(o.bytes, header->bytes, header->size) == 0,
		  "the worked header for %zu items is not what the code writes", items);
	owned_free(&o);
	free(hashes);
}

static void
run_geometry(const void *arg)
{
	block found[BLOCKS + 1];

	read_page(arg, found);
	check_header(&found[GEOMETRY_FEW], 108);
	check_header(&found[GEOMETRY_MANY], 600000);
}

/* ----------------------------------------------------- building, merging */

static void
build_worked(owned *o, const block *found)
{
	ckf_params params = worked_params(0, 0.1, "bucket_size=2");
	uint64_t hashes[MOST_HASHES];
	size_t n = read_hashes(&found[BUILD_HASHES], hashes);

	CHECK(n == 6, "%zu hashes", n);
	driven_class = CKF_ITEM_HASH;
	build_aggregate(o, &params, hashes, n);
}

static void
run_building(const void *arg)
{
	block found[BLOCKS + 1];
	owned o;

	read_page(arg, found);
	build_worked(&o, found);
	check_bytes(&o, &found[BUILD], "section 7");
	owned_free(&o);
}

static void
check_merge(owned *inputs, size_t n, bool sum, const block *expected)
{
	ckf_params params = worked_params(0, CKF_DEFAULT_FPR, "");
	owned o;

	CHECK(run_rebuild(&o, sum ? CKF_SUM : CKF_UNION, &inputs[0], &inputs[1]) == CKF_OK, "merge");
	check_bytes(&o, expected, sum ? "sum" : "union");
	owned_free(&o);
	owned_state(&o, &params);
	for (size_t i = n; i > 0; i--)
		CHECK(owned_collect(&o, &inputs[i - 1], sum ? CKF_MERGE_SUM : CKF_MERGE_UNION) == CKF_OK,
			  "merge");
	CHECK(owned_rebuild(&o, CKF_FINISH_SUM, NULL) == CKF_OK, "finish");
	check_bytes(&o, expected, sum ? "sum_agg" : "union_agg");
	owned_free(&o);
}

static void
check_intersections(const owned *inputs, const block *found)
{
	ckf_comparison comparison;
	owned two, all;

	CHECK(run_rebuild(&two, CKF_INTERSECT, &inputs[1], &inputs[0]) == CKF_OK, "intersect");
	check_bytes(&two, &found[INTERSECT_TWO], "an intersection");
	CHECK(run_rebuild(&all, CKF_INTERSECT, &two, &inputs[2]) == CKF_OK, "intersect");
	check_bytes(&all, &found[INTERSECT_ALL], "an intersection of all");
	CHECK(run_comparison(&comparison, &inputs[0], &inputs[1]) == CKF_OK, "compare");
	CHECK(fabs(comparison.overlap - 0.9565) < 5e-5 && fabs(comparison.jaccard - 0.1175) < 5e-5,
		  "%g items in both, %g", comparison.overlap, comparison.jaccard);
	owned_free(&two);
	owned_free(&all);
}

static void
run_merging(const void *arg)
{
	ckf_params first = worked_params(100, CKF_DEFAULT_FPR, "");
	ckf_params empty = worked_params(1000000, 0.5, "layout=plain, bucket_size=8, seed=7");
	block found[BLOCKS + 1];
	uint64_t hashes[MOST_HASHES];
	owned inputs[3];
	size_t n;

	read_page(arg, found);
	n = read_hashes(&found[MERGE_HASHES], hashes);
	CHECK(n == 3, "%zu hashes", n);
	driven_class = CKF_ITEM_TEXT;
	build_aggregate(&inputs[0], &first, hashes, n);
	check_bytes(&inputs[0], &found[MERGE_FIRST], "the first input");
	build_worked(&inputs[1], found);
	owned_create(&inputs[2], &empty);
	check_bytes(&inputs[2], &found[MERGE_EMPTY], "the empty input");
	check_merge(inputs, 3, false, &found[MERGE_UNION]);
	check_merge(inputs, 3, true, &found[MERGE_SUM]);
	check_intersections(inputs, found);
	for (size_t i = 0; i < 3; i++)
		owned_free(&inputs[i]);
}

/* --------------------------------------------------------------- reading */

static const struct
{
	const char *name;
	int64_t items;
	const char *options;
} reads[READS] = {
	{"hashes", 3, ""},
	{"semi-sorted", 20, ""},
	{"plain", 20, "layout=plain, bucket_size=2, kind=set, seed=7"},
};

static void
run_reading(const void *arg)
{
	block found[BLOCKS + 1];

	read_page(arg, found);
	for (size_t i = 0; i < READS; i++)
	{
		const block *b = &found[READ + i];
		ckf_params params = worked_params(0, CKF_DEFAULT_FPR, reads[i].options);
		uint64_t hashes[MOST_HASHES];
		owned o;

		for (int64_t item = 1; item <= reads[i].items; item++)
			hashes[item - 1] = ckf_hash_integer(item, params.seed);
		driven_class = CKF_ITEM_NUMBER;
		build_aggregate(&o, &params, hashes, (size_t)reads[i].items);
		check_bytes(&o, b, reads[i].name);
		owned_free(&o);
		owned_open(&o, b->bytes, b->size, CKF_FOREIGN);
		for (int64_t item = 0; item < reads[i].items; item++)
			CHECK(ckf_contains(&o.filter, hashes[item]), "a worked item is not in");
		owned_free(&o);
	}
}

/* ---------------------------------------------------------------- chunks */

/* The only chunk of a table of the items 1 .. n. */
static void
check_chunk(const block *expected, int64_t n)
{
	ckf_params params = worked_params(1000, CKF_DEFAULT_FPR, "");
	uint64_t hashes[MOST_HASHES];
	shelf s;

	for (int64_t item = 1; item <= n; item++)
		hashes[item - 1] = ckf_hash_integer(item, 0);
	qsort(hashes, (size_t)n, sizeof *hashes, compare_hashes);
	CHECK(shelf_new(&s, &params, 0, 0), "no chunks");
	CHECK(s.chunks->like.w == 17 && s.chunks->most_whole == 12 &&
			  s.chunks->check == UINT64_C(0x93389eb76cbc898d),
		  "w %d, N %u, salt %llx", s.chunks->like.w, s.chunks->most_whole,
		  (unsigned long long)s.chunks->check);
	shelf_add(&s, hashes, (size_t)n, true);
	CHECK(s.n == 1 && s.rows[0].start == 0 && s.rows[0].size == expected->size &&
			  memcmp(s.rows[0].bytes, expected->bytes, expected->size) == 0,
		  "the chunk of %lld items differs", (long long)n);
	for (int64_t i = 0; i < n; i++)
		CHECK(shelf_copies(&s, hashes[i]) == 1, "a worked item is not in");
	shelf_free(&s);
}

static void
run_chunks(const void *arg)
{
	ckf_params params = worked_params(1000, CKF_DEFAULT_FPR, "");
	block found[BLOCKS + 1];
	ckf_chunk chunk;
	shelf s;

	read_page(arg, found);
	check_chunk(&found[CHUNK_HASHES], 3);
	check_chunk(&found[CHUNK_TABLE], 60);
	CHECK(shelf_new(&s, &params, 0, 0), "no chunks");
	CHECK(ckf_chunk_open(&chunk, s.chunks, UINT64_C(1) << 63, found[CHUNK_PREFIXES].bytes,
						 found[CHUNK_PREFIXES].size) == CKF_OK &&
			  ckf_chunk_check(&chunk) == CKF_OK,
		  "the chunk of prefixes");
	CHECK(ckf_chunk_copies(&chunk, ckf_hash_integer(1, 0)) == 2, "copies of item 1");
	shelf_free(&s);
}

int
main(void)
{
	const char *page = "core/FORMAT.md";

	check_begin("core worked bytes");
	check_case(run_geometry, page, "FORMAT.md, section 5");
	check_case(run_building, page, "FORMAT.md, section 7");
	check_case(run_merging, page, "FORMAT.md, section 8");
	check_case(run_reading, page, "FORMAT.md, section 9");
	check_case(run_chunks, page, "FORMAT.md, section 10");
	return check_end();
}
