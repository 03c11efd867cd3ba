/*
 * bytes.c - fuzz target: any bytes through every function that opens a filter, then every
 * operation.
 */
#include "hostile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sound filter to merge with. */
static void
build_other(owned *other)
{
	ckf_params params = params_of(0, 0.01, false, false, 4);
	uint64_t hashes[60];

	for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
		hashes[i] = check_random();
	build_aggregate(other, &params, hashes, sizeof hashes / sizeof *hashes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const ckf_trust doors[] = {CKF_FOREIGN, CKF_STORED, CKF_STATE};
	owned other;

	check_feed(NULL, 0);
	build_other(&other);
	for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
		(void)hostile_try(data, size, doors[i], &other);
	owned_free(&other);
	return 0;
}
