/*
 * probe.c - is it in?  The fast ways to ask; table.c and hashes.c define the
 * answer (paper, Algorithm 2).
 */
#include "internal.h"

void ckf_choose_probe(ckf_filter *t)
{
	t->probe = 0;
}

bool ckf_contains(const ckf_filter *t, uint64_t hash)
{
	return ckf_copies(t, hash) > 0;
}

size_t ckf_contains_many(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	size_t found = 0;
	size_t i;

	for (i = 0; i < n; i++)
	{
		bool in = ckf_contains(t, hashes[i]);

		found += in;
		if (out)
			out[i] = in;
	}
	return found;
}
