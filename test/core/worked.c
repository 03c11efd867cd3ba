/*
 * worked.c - replays the worked bytes of core/FORMAT.md, section 9: page and
 * code cannot drift apart.
 */
#include "drive.h"

#include <stdlib.h>
#include <string.h>

enum
{
	LINE = 1024,
	MOST_BYTES = 1024,
	BLOCKS = 3
};

/* The blocks of the section, in its order. */
static const struct
{
	const char *name;
	int64_t items;
	const char *options;
} blocks[BLOCKS] = {
	{"hashes", 3, ""},
	{"semi-sorted", 20, ""},
	{"plain", 20, "layout=plain, bucket_size=2, kind=set, seed=7"},
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
	size_t n = strspn(line, "0123456789abcdef \n");
	unsigned byte;

	if (strncmp(line, "    ", 4) != 0 || line[n] != '\0')
		return false;
	for (line += 4; sscanf(line, "%2x", &byte) == 1; line += 2)
	{
		CHECK(b->size < MOST_BYTES, "a worked block of more than %d bytes", MOST_BYTES);
		b->bytes[b->size++] = (uint8_t)byte;
	}
	return true;
}

/* The hex blocks of section 9; how many there are. */
static size_t
read_page(const char *path, block *found)
{
	FILE *page = fopen(path, "r");
	char line[LINE];
	bool in_section = false, in_block = false;
	size_t n = 0;

	CHECK(page != NULL, "%s: not there (run from the repository's root)", path);
	while (fgets(line, sizeof line, page) != NULL)
	{
		block *next = &found[in_block ? n - 1 : n];

		in_section = in_section || strncmp(line, "## 9.", 5) == 0;
		if (!in_section)
			continue;
		if (!in_block && n < BLOCKS)
			next->size = 0;
		if (line[0] == ' ' && (in_block || n < BLOCKS) && read_hex_line(line, next))
		{
			n += !in_block;
			in_block = true;
		}
		else
			in_block = false;
	}
	fclose(page);
	return n;
}

static void
run_worked(const void *arg)
{
	block found[BLOCKS];
	size_t n = read_page(arg, found);

	CHECK(n == BLOCKS, "%zu worked blocks", n);
	for (size_t i = 0; i < BLOCKS; i++)
	{
		ckf_params params;
		const char *bad;
		size_t bad_size;
		uint64_t hashes[64];
		owned o;

		ckf_params_default(&params);
		CHECK(ckf_params_parse(&params, blocks[i].options, strlen(blocks[i].options), &bad,
							   &bad_size) == CKF_OK,
			  "options");
		for (int64_t item = 1; item <= blocks[i].items; item++)
			hashes[item - 1] = ckf_hash_integer(item, params.seed);
		build_aggregate(&o, &params, hashes, (size_t)blocks[i].items);
		CHECK(o.filter.size == found[i].size && memcmp(o.bytes, found[i].bytes, found[i].size) == 0,
			  "the worked bytes of %s are not what the code builds", blocks[i].name);
		owned_free(&o);
		owned_open(&o, found[i].bytes, found[i].size, CKF_FOREIGN);
		for (int64_t item = 0; item < blocks[i].items; item++)
			CHECK(ckf_contains(&o.filter, hashes[item]), "a worked item is not in");
		owned_free(&o);
	}
}

int
main(void)
{
	check_begin("core worked bytes");
	check_case(run_worked, "core/FORMAT.md", "FORMAT.md, section 9");
	return check_end();
}
