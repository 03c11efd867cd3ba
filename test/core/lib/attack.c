/*
 * attack.c - see attack.h.  Prefixes and buckets are computed as in FORMAT.md, section 1.
 */
#include "attack.h"

const char *const attack_names[ATTACKS] = {
	"equal items", "equal prefixes", "prefixes side by side", "one pair of buckets", "one bucket",
	"equal tags",  "equal low bits", "equal high bits",       "low entropy",         "sequential",
	"backwards",
};

enum
{
	FEW_ITEMS = 16,
	ASSUMED_W = 27, /* of a filter that is not a table yet */
	ASSUMED_F = 10,
	WIDEST = 48 /* W * m fits 64 bits */
};

void
attacker_start(attacker *a, attack how)
{
	a->how = how;
	a->base = check_random();
	a->sent = 0;
	a->next = 0;
	a->aimed = 0;
}

static uint64_t
low_bits(uint64_t value, unsigned bits)
{
	return value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t
golden(unsigned rho_bits)
{
	return UINT64_C(0x9e3779b97f4a7c15) >> (64 - rho_bits) | 1;
}

/* The hash of a prefix in segment 0. */
static uint64_t
hash_of_rho(const ckf_filter *t, uint64_t rho)
{
	return rho << (64 - t->w);
}

/* rho of the next prefix in the pair of buckets that base has. */
static uint64_t
search_pair(attacker *a, const ckf_filter *t)
{
	unsigned rho_bits = t->rho_bits;
	uint64_t c = golden(rho_bits), rho = low_bits(a->base, rho_bits);
	uint64_t q0 = (rho * t->m) >> rho_bits, q1 = (low_bits(rho * c, rho_bits) * t->m) >> rho_bits;

	if (a->aimed != t->m)
		a->next = ((q0 << rho_bits) + t->m - 1) / t->m;
	a->aimed = t->m;
	for (; (a->next * t->m) >> rho_bits == q0; a->next++)
		if ((low_bits(a->next * c, rho_bits) * t->m) >> rho_bits == q1)
			return a->next++;
	/* no more of them: another pair */
	a->base = check_random();
	a->aimed = 0;
	return low_bits(a->base, rho_bits);
}

/* The inverse of C modulo 2^64; each round doubles the bits that are right. */
static uint64_t
inverse_of(uint64_t c)
{
	uint64_t inverse = c;

	for (int i = 0; i < 5; i++)
		inverse *= 2 - c * inverse;
	return inverse;
}

uint64_t
attacker_next(attacker *a, const ckf_filter *filter)
{
	uint64_t i = a->sent++, random = check_random();
	bool table = filter->m > 0 && filter->rho_bits <= WIDEST;
	unsigned w = filter->w < 64 ? filter->w : ASSUMED_W;
	unsigned f = table ? filter->f : ASSUMED_F;

	switch (a->how)
	{
		case EQUAL_ITEMS:
			return a->base;
		case EQUAL_PREFIXES:
			return (a->base >> (64 - w) << (64 - w)) | random >> w;
		case SIDE_BY_SIDE:
			return a->base + (i / (2 * filter->b) << (64 - w));
		case ONE_PAIR:
			return table ? hash_of_rho(filter, search_pair(a, filter)) : a->base + (i << (64 - w));
		case ONE_BUCKET:
			/* side by side in half 1 */
			return table ? hash_of_rho(filter, low_bits((low_bits(a->base, filter->rho_bits) + i) *
															inverse_of(golden(filter->rho_bits)),
														filter->rho_bits))
						 : a->base - (i << (64 - w));
		case EQUAL_TAGS:
			return (random >> (64 - w) >> f << f | 3) << (64 - w);
		case EQUAL_LOW_BITS:
			return random << 32 | low_bits(a->base, 32);
		case EQUAL_HIGH_BITS:
			return a->base << 32 | low_bits(random, 32);
		case LOW_ENTROPY:
			return a->base * (1 + random % FEW_ITEMS);
		case COUNTING_DOWN:
			return a->base - i;
		default:
			return i << 40;
	}
}
