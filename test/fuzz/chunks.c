/*
 * chunks.c - fuzz target: any bytes as a chunk with the right check, then every operation.
 *
 * The first byte chooses the parameters of the table, and the next eight the start of the row.  The
 * chunk follows; its check is computed.
 */
#include "chunk_ops.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct
{
	int64_t capacity;
	double fpr;
	bool set, plain;
	uint8_t b;
} tables[] = {
	{1000, 0.01, false, false, 4},   {1000000, 0.001, true, false, 4},
	{1000000, 0.01, false, true, 2}, {100000000, 1e-5, false, true, 8},
	{1, 0.5, false, false, 4},       {INT64_C(1) << 40, 1e-4, false, true, 2},
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t number = size > 0 ? data[0] % (sizeof tables / sizeof *tables) : 0;
	ckf_params params = params_of(tables[number].capacity, tables[number].fpr, tables[number].set,
								  tables[number].plain, tables[number].b);
	uint8_t bytes[CKF_CHUNK_MAX];
	uint64_t start = 0;
	shelf s;

	if (size < 9 + 8 || size - 9 > sizeof bytes)
		return 0;
	check_feed(NULL, 0);
	for (int i = 0; i < 8; i++)
		start |= (uint64_t)data[1 + i] << (8 * i);
	size -= 9;
	memcpy(bytes, data + 9, size);
	CHECK(shelf_new(&s, &params, 0, 0), "no chunks");
	start &= ~(UINT64_MAX >> (bytes[size - 8] & 63)); /* where a range of its depth begins */
	chunk_make_check(&s, start, bytes, size);
	(void)chunk_try(&s, start, bytes, size);
	shelf_free(&s);
	return 0;
}
