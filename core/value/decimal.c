/*
 * decimal.c - hashes of numbers that are written in decimal digits (FORMAT.md, section 6).
 *
 * The nearest double, and whether a decimal is its shortest text, are computed here in integers of
 * any length: the C library's strtod follows the locale, and not every host has one.
 */
#include "cuckoofilter.h"

#include <string.h>

/* Digits that are read.  Halfway between two doubles lie decimals of at most 767 digits, so the
 * digits after these only tell whether the number is larger than the ones before. */
#define CKF_MOST_DIGITS 800

/* 10^-1146 is the least unit of so many digits in a double, and 5^1146 has 2661 bits. */
#define CKF_LIMBS 88

/* Integers of so many digits have at most 63 bits. */
#define CKF_WHOLE_DIGITS 18

/* Every decimal of so few digits is the shortest text of its nearest double, unless this is
 * subnormal; every shortest text has at most so many. */
#define CKF_SURE_DIGITS 15
#define CKF_SHORTEST_DIGITS 17

#define CKF_FRACTION_BITS 52
#define CKF_HIDDEN_BIT (UINT64_C(1) << CKF_FRACTION_BITS)
#define CKF_INFINITE (UINT64_C(0x7FF) << CKF_FRACTION_BITS)

/* Above every exponent of a host. */
#define CKF_HUGE_EXPONENT INT64_C(2000000000000000000)

/* A number: its digits from the first to the last that is not 0, times 10^exponent. */
typedef struct ckf_decimal
{
	const char *first, *end; /* the digits, and perhaps a point among them */
	const char *point;       /* that point, or NULL */
	size_t digits;           /* 0: the number is `whole` */
	int64_t exponent;
	int64_t whole; /* a number of few digits, and no others: most are that */
	bool negative;
} ckf_decimal;

/* ------------------------------------------------------------------- reading */

static bool
ckf_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Read an exponent, after its e. */
static bool
ckf_read_exponent(const char *at, const char *end, int64_t *exponent)
{
	bool negative = at < end && *at == '-';

	*exponent = 0;
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end)
		return false;
	for (; at < end && ckf_is_digit(*at); at++)
		if (*exponent < CKF_HUGE_EXPONENT / 10)
			*exponent = *exponent * 10 + (*at - '0');
	if (negative)
		*exponent = -*exponent;
	return at == end;
}

/* Read a number.  false: the text is none. */
static bool
ckf_read_decimal(ckf_decimal *d, const char *at, const char *end)
{
	const char *last = NULL, *point = NULL, *start, *stop;
	uint64_t sum = 0;
	bool any;

	*d = (ckf_decimal){.negative = at < end && *at == '-'};
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	for (start = at; at < end && ckf_is_digit(*at); at++)
		sum = sum * 10 + (uint64_t)(*at - '0'); /* unused if there are too many */
	any = at > start;
	if (any && at == end && at - start <= CKF_WHOLE_DIGITS)
	{
		d->whole = d->negative ? -(int64_t)sum : (int64_t)sum;
		return true;
	}
	for (stop = at; stop > start && !last; stop--)
		if (stop[-1] != '0')
			last = stop - 1;
	while (last && *start == '0')
		start++;
	d->first = start;
	for (; at < end && (ckf_is_digit(*at) || (*at == '.' && !point)); at++)
	{
		if (*at == '.')
		{
			point = at;
			continue;
		}
		any = true;
		if (*at == '0')
			continue;
		if (!last)
			d->first = at;
		last = at;
	}
	stop = point ? point : at;
	if (!any ||
		(at < end && ((*at != 'e' && *at != 'E') || !ckf_read_exponent(at + 1, end, &d->exponent))))
		return false;
	if (!last)
		return true;
	d->end = last + 1;
	d->exponent += last < stop ? stop - last - 1 : stop - last;
	if (point && d->first < point && point < last)
		d->point = point;
	d->digits = (size_t)(d->end - d->first) - (d->point != NULL);
	return true;
}

/* The number as an integer of 64 bits.  false: it is none. */
static bool
ckf_decimal_integer(const ckf_decimal *d, int64_t *value)
{
	uint64_t most = (uint64_t)INT64_MAX + d->negative, sum = 0;
	const char *at;
	int64_t zeros;

	if (d->exponent < 0 || d->exponent > 18 || d->digits > 19)
		return false;
	for (at = d->first; at != d->end; at++)
		if (at != d->point)
			sum = sum * 10 + (uint64_t)(*at - '0'); /* below 10^19 */
	for (zeros = d->exponent; zeros > 0 && sum <= most / 10; zeros--)
		sum *= 10;
	*value = (int64_t)(d->negative ? 0 - sum : sum);
	return zeros == 0 && sum <= most;
}

/* ------------------------------------------------------- integers of any length */

typedef struct ckf_big
{
	unsigned n; /* limbs in use; the last one is not 0 */
	uint32_t limb[CKF_LIMBS];
} ckf_big;

static void
ckf_big_multiply(ckf_big *x, uint32_t by, uint32_t plus)
{
	uint64_t carry = plus;
	unsigned i;

	for (i = 0; i < x->n; i++)
	{
		carry += (uint64_t)x->limb[i] * by;
		x->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	if (carry)
		x->limb[x->n++] = (uint32_t)carry;
}

static void
ckf_big_times_five(ckf_big *x, unsigned power)
{
	uint32_t rest = 1;

	for (; power >= 13; power -= 13)
		ckf_big_multiply(x, 1220703125, 0); /* 5^13 */
	while (power-- > 0)
		rest *= 5;
	ckf_big_multiply(x, rest, 0);
}

static unsigned
ckf_big_bits(const ckf_big *x)
{
	unsigned bits = 32 * x->n;
	uint32_t top = x->limb[x->n - 1];

	for (; !(top >> 31); top <<= 1)
		bits--;
	return bits;
}

static void
ckf_big_shift(ckf_big *x, unsigned bits)
{
	unsigned limbs = bits / 32;

	ckf_big_multiply(x, UINT32_C(1) << bits % 32, 0);
	if (limbs == 0)
		return;
	memmove(x->limb + limbs, x->limb, x->n * sizeof *x->limb);
	memset(x->limb, 0, limbs * sizeof *x->limb);
	x->n += limbs;
}

/* x - y if that is not negative; else false, and x stays. */
static bool
ckf_big_subtract(ckf_big *x, const ckf_big *y)
{
	int64_t carry = 0;
	unsigned i = x->n;

	if (x->n != y->n)
	{
		if (x->n < y->n)
			return false;
	}
	else
	{
		while (i > 0 && x->limb[i - 1] == y->limb[i - 1])
			i--;
		if (i > 0 && x->limb[i - 1] < y->limb[i - 1])
			return false;
	}
	for (i = 0; i < x->n; i++)
	{
		carry += (int64_t)x->limb[i] - (i < y->n ? y->limb[i] : 0);
		x->limb[i] = (uint32_t)carry;
		carry = carry < 0 ? -1 : 0;
	}
	while (x->n > 0 && x->limb[x->n - 1] == 0)
		x->n--;
	return true;
}

/* A number above 0: at least top * 2^exponent, at most less than one unit of top above it. */
typedef struct ckf_scaled
{
	uint64_t top; /* its highest bit is set */
	int exponent;
	bool exact;
} ckf_scaled;

/* The 64 highest bits of x. */
static ckf_scaled
ckf_big_top(const ckf_big *x)
{
	unsigned bits = ckf_big_bits(x), i;
	ckf_scaled s = {0, (int)bits - 64, true};

	for (i = x->n; i-- > 0;)
	{
		int at = 32 * (int)i - s.exponent; /* of the limb, in s.top */

		if (at >= 0)
			s.top |= (uint64_t)x->limb[i] << at;
		else if (at > -32)
			s.top |= x->limb[i] >> -at;
		if (at < 0 && (at <= -32 ? x->limb[i] : x->limb[i] << (32 + at)) != 0)
			s.exact = false;
	}
	return s;
}

/* x / y, bit by bit. */
static ckf_scaled
ckf_big_divide(ckf_big *x, ckf_big *y)
{
	int shift = (int)ckf_big_bits(y) - (int)ckf_big_bits(x), i;
	ckf_scaled s = {0, -shift - 63, false};

	ckf_big_shift(shift > 0 ? x : y, (unsigned)(shift > 0 ? shift : -shift));
	for (i = 0; i < 64; i++)
	{
		bool fits = x->n > 0 && ckf_big_subtract(x, y);

		if (i == 0 && !fits) /* so the highest bit becomes 1 */
		{
			s.exponent--;
			ckf_big_shift(x, 1);
			fits = ckf_big_subtract(x, y);
		}
		s.top = s.top << 1 | fits;
		if (x->n > 0)
			ckf_big_shift(x, 1);
	}
	s.exact = x->n == 0;
	return s;
}

/* x * 10^exponent; x is lost. */
static ckf_scaled
ckf_big_scale(ckf_big *x, int exponent)
{
	ckf_big y = {1, {1}};
	ckf_scaled s;

	if (exponent >= 0)
	{
		ckf_big_times_five(x, (unsigned)exponent);
		s = ckf_big_top(x);
	}
	else
	{
		ckf_big_times_five(&y, (unsigned)-exponent);
		s = ckf_big_divide(x, &y);
	}
	s.exponent += exponent;
	return s;
}

/* --------------------------------------------------------- the nearest double */

/* The nearest double of a number above 0, of a tie the even one. */
static uint64_t
ckf_round(ckf_scaled s, bool *exact)
{
	int first = s.exponent + 63; /* the exponent of the highest bit */
	unsigned drop = 63 - CKF_FRACTION_BITS;
	uint64_t bits = 0, half, below;

	*exact = false;
	if (first > 1023)
		return CKF_INFINITE;
	if (first < -1022) /* subnormal */
		drop += (unsigned)(-1022 - first);
	if (drop > 64)
		return 0;
	half = s.top >> (drop - 1) & 1;
	below = (drop > 1 ? s.top << (65 - drop) : 0) | !s.exact;
	if (drop < 64)
		bits = s.top >> drop;
	*exact = !half && !below;
	if (first >= -1022) /* the hidden bit adds 1 to the exponent */
		bits += (uint64_t)(first + 1022) << CKF_FRACTION_BITS;
	return bits + (half && (below || (bits & 1)));
}

static uint64_t
ckf_decimal_nearest(const ckf_decimal *d, bool *exact)
{
	int64_t exponent = d->exponent + (int64_t)d->digits; /* the number is below 10^exponent */
	ckf_big x = {0, {0}};
	const char *at;
	uint32_t part = 0, scale = 1; /* up to nine digits, which are added at once */
	unsigned digits = 0;

	*exact = false;
	if (exponent > 310)
		return CKF_INFINITE;
	if (exponent < -330)
		return 0;
	for (at = d->first; at != d->end && digits < CKF_MOST_DIGITS; at++)
		if (at != d->point)
		{
			part = part * 10 + (uint32_t)(*at - '0');
			scale *= 10;
			digits++;
			if (scale < 1000000000)
				continue;
			ckf_big_multiply(&x, scale, part);
			part = 0;
			scale = 1;
		}
	ckf_big_multiply(&x, scale, part);
	if (digits < d->digits) /* the last digit is not 0 */
	{
		ckf_big_multiply(&x, 10, 1);
		digits++;
	}
	return ckf_round(ckf_big_scale(&x, (int)(exponent - (int64_t)digits)), exact);
}

/* ------------------------------------------------------------ the shortest text */

/* The number m * 2^two in units of 10^ten, rounded down. */
static uint64_t
ckf_units(uint64_t m, int two, int ten, bool *whole)
{
	ckf_big x = {2, {(uint32_t)m, (uint32_t)(m >> 32)}};
	ckf_scaled s;
	int drop;

	while (x.limb[x.n - 1] == 0)
		x.n--;
	s = ckf_big_scale(&x, -ten);
	drop = -(s.exponent + two);
	*whole = s.exact && drop < 64 && (drop == 0 || s.top << (64 - drop) == 0);
	return drop < 64 ? s.top >> drop : 0;
}

/*
 * Whether a decimal is the shortest text of its nearest double: none that is nearer to this double
 * than to all others, without a tie, has fewer digits, or as many and is nearer.  Programs differ
 * in whether a tie may be the shortest text, so it is one here, and so is the shortest text without
 * a tie.
 */
static bool
ckf_is_shortest(const ckf_decimal *d, uint64_t bits)
{
	uint64_t fraction = bits & (CKF_HIDDEN_BIT - 1);
	int two = (int)(bits >> CKF_FRACTION_BITS), ten = (int)d->exponent;
	uint64_t m = fraction | (two > 0 ? CKF_HIDDEN_BIT : 0), n = 0, least, most, twice;
	bool whole;
	const char *at;

	if (bits == 0 || bits >= CKF_INFINITE || d->digits > CKF_SHORTEST_DIGITS)
		return false;
	if (d->digits <= CKF_SURE_DIGITS && two > 0)
		return true;
	for (at = d->first; at != d->end; at++)
		if (at != d->point)
			n = n * 10 + (uint64_t)(*at - '0');
	two = (two > 0 ? two : 1) - 1075; /* the double is m * 2^two */
	least = ckf_units(4 * m - (fraction == 0 && two > -1074 ? 1 : 2), two - 2, ten, &whole) + 1;
	most = ckf_units(4 * m + 2, two - 2, ten, &whole) - whole;
	if (most / 10 * 10 >= least) /* fewer digits; 0 is not among them, since least is 1 or more */
		return false;
	twice = ckf_units(2 * m, two, ten, &whole);
	if (twice < 2 * n - 1 && n - 1 >= least)
		return false;
	return !(twice + !whole > 2 * n + 1 && n + 1 <= most);
}

/* ---------------------------------------------------------------------- hashes */

/* The hash of a number by its exact value. */
static uint64_t
ckf_hash_digits(const ckf_decimal *d, uint64_t seed)
{
	uint64_t digits;
	uint64_t words[3];
	unsigned i;

	if (d->point)
	{
		XXH3_state_t state;

		(void)XXH3_64bits_reset_withSeed(&state, seed + (uint64_t)CKF_CLASS_TEXT);
		(void)XXH3_64bits_update(&state, d->first, (size_t)(d->point - d->first));
		(void)XXH3_64bits_update(&state, d->point + 1, (size_t)(d->end - d->point - 1));
		digits = XXH3_64bits_digest(&state);
	}
	else
		digits = ckf_hash_bytes(CKF_CLASS_TEXT, d->first, d->digits, seed);
	words[0] = d->negative;
	words[1] = (uint64_t)d->exponent;
	words[2] = digits;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (i = 0; i < 3; i++)
		words[i] = __builtin_bswap64(words[i]);
#else
	(void)i;
#endif
	return ckf_hash_bytes(CKF_CLASS_DECIMAL, words, sizeof words, seed);
}

static ckf_hashes
ckf_hash_bits(uint64_t bits, bool negative, uint64_t seed)
{
	double real;
	uint64_t hash;

	bits |= (uint64_t)negative << 63;
	memcpy(&real, &bits, sizeof real);
	hash = ckf_hash_real(real, seed);
	return (ckf_hashes){hash, hash};
}

#if __FLT_EVAL_METHOD__ + 0 == 0 && defined(__FLT_EVAL_METHOD__)
/* The nearest double of a number of few digits: one operation on two doubles that are exact. */
static bool
ckf_decimal_easy(const ckf_decimal *d, double *real)
{
	static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
									1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
									1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	int64_t sum = 0;
	const char *at;

	if (d->digits > CKF_SURE_DIGITS || d->exponent < -22 || d->exponent > 22)
		return false;
	for (at = d->first; at != d->end; at++)
		if (at != d->point)
			sum = sum * 10 + (*at - '0');
	*real = (double)(d->negative ? -sum : sum);
	*real = d->exponent < 0 ? *real / powers[-d->exponent] : *real * powers[d->exponent];
	return true;
}
#endif

bool
ckf_hash_decimal(const char *text, size_t size, uint64_t seed, ckf_hashes *hashes)
{
	ckf_decimal d;
	int64_t integer;
	uint64_t bits;
	bool exact;

	if (!ckf_read_decimal(&d, text, text + size))
		return false;
	integer = d.whole;
	if (d.digits == 0 || ckf_decimal_integer(&d, &integer))
	{
		hashes->hash = hashes->rounded = ckf_hash_integer(integer, seed);
		return true;
	}
#if __FLT_EVAL_METHOD__ + 0 == 0 && defined(__FLT_EVAL_METHOD__)
	double real;

	if (ckf_decimal_easy(&d, &real))
	{
		hashes->hash = hashes->rounded = ckf_hash_real(real, seed);
		return true;
	}
#endif
	bits = ckf_decimal_nearest(&d, &exact);
	*hashes = ckf_hash_bits(bits, d.negative, seed);
	if (!exact && !ckf_is_shortest(&d, bits))
		hashes->hash = ckf_hash_digits(&d, seed);
	return true;
}

ckf_hashes
ckf_hash_unsigned(uint64_t value, uint64_t seed)
{
	char digits[20];
	size_t at = sizeof digits;
	ckf_hashes hashes;

	do
		digits[--at] = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	(void)ckf_hash_decimal(digits + at, sizeof digits - at, seed, &hashes);
	return hashes;
}
