/*
 * format.c - the header: create, open (which is to validate), and what a
 * filter tells of itself (FORMAT.md, section 2).
 */
#include "internal.h"

static double
ckf_load_double(const uint8_t *p)
{
	uint64_t bits = ckf_load64(p);
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static void
ckf_store_double(uint8_t *p, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	ckf_store64(p, bits);
}

void
ckf_write_header(const ckf_filter *t)
{
	uint8_t *p = t->bytes;

	memcpy(p + CKF_AT_MAGIC, "CKF", 3);
	p[CKF_AT_FORMAT] = CKF_FORMAT_VERSION;
	p[CKF_AT_HASH] = CKF_HASH_VERSION;
	p[CKF_AT_ENCODING] = t->encoding;
	p[CKF_AT_FLAGS] = t->flags;
	p[CKF_AT_B] = t->b;
	p[CKF_AT_F] = t->f;
	p[CKF_AT_W] = t->w;
	p[CKF_AT_G] = t->g;
	p[CKF_AT_C] = t->c;
	p[CKF_AT_M] = (uint8_t)t->m;
	p[CKF_AT_M + 1] = (uint8_t)(t->m >> 8);
	p[CKF_AT_MERGED_W] = t->flags & CKF_FLAG_STATE ? t->merged_w : 0;
	p[CKF_AT_MERGED_B] = t->flags & CKF_FLAG_STATE ? t->merged_b : 0;
	ckf_store64(p + CKF_AT_COUNT, t->count);
	ckf_store64(p + CKF_AT_SEED, t->seed);
	ckf_store64(p + CKF_AT_CAPACITY, (uint64_t)t->capacity);
	ckf_store_double(p + CKF_AT_FPR, t->fpr);
}

/* Masks for questions asked of several slots at once. */
static void
ckf_derive_lanes(ckf_filter *t)
{
	unsigned i;

	t->chunk = t->b;
	if (t->way->how == CKF_BY_SLOT)
		while (t->chunk * t->f > 57) /* 64 bits less a shift */
			t->chunk /= 2;
	t->lanes = 0;
	for (i = 0; i < t->chunk; i++)
		t->lanes |= UINT64_C(1) << (i * t->f);
	t->tops = t->lanes << (t->f - 1);
	t->rests = t->lanes * (t->tag_mask >> 4);
	t->nibbles = t->lanes * (t->tag_mask & ~(t->tag_mask >> 4));
}

void
ckf_derive(ckf_filter *t)
{
	t->low_mask = (UINT64_C(1) << t->c) - 1;
	t->max_count = UINT64_MAX;
	t->once = ckf_stores_once(t);
	t->rest = (uint8_t)(t->w - t->g);
	t->bucket_bits = 0;
	t->plain_bytes = false;
	if (!ckf_is_table(t))
	{
		t->way = t->encoding == CKF_HASHES ? &ckf_hashes_way : &ckf_collect_way;
		return;
	}
	t->bucket_bits = ckf_bucket_bits(t->b, t->f, t->encoding == CKF_SEMI_SORTED);
	t->half_bits = (uint64_t)t->m * t->bucket_bits;
	t->prefix_shift = (uint8_t)(64 - t->w);
	t->rest_shift = (uint8_t)(64 - t->rest);
	t->tag_mask = (UINT64_C(1) << t->f) - 1;
	t->full_count = ckf_full_count(t);
	t->golden = (CKF_GOLDEN >> (64 - t->rest)) | 1;
	if (!(t->flags & CKF_FLAG_STATE))
		t->max_count = ckf_count_limit(t->w, t->fpr);
	t->way = ckf_table_way(t);
	t->plain_bytes = ckf_is_bytes(t->way->how) && t->encoding == CKF_PLAIN;
	t->bucket_step = ckf_is_bytes(t->way->how) ? t->bucket_bits / 8 : t->bucket_bits;
	t->half_step = (uint64_t)t->m * t->bucket_step;
	t->segment_step = 2 * t->half_step;
	ckf_derive_lanes(t);
}

/* ----------------------------------------------------------------- create */

static bool
ckf_is_bucket_size(unsigned b)
{
	return b == 2 || b == 4 || b == 8;
}

static ckf_status
ckf_check_params(const ckf_params *params, int64_t least_capacity)
{
	if (params->capacity < least_capacity || params->capacity > CKF_MAX_CAPACITY)
		return CKF_BAD_CAPACITY;
	if (!(params->fpr > 0 && params->fpr < 1))
		return CKF_BAD_FPR;
	if (!ckf_is_bucket_size(params->bucket_size))
		return CKF_BAD_OPTION;
	if (ckf_prefix_bits((double)params->capacity, params->fpr, ckf_low_bits(params->fpr)) >
		CKF_MAX_PREFIX)
		return CKF_BAD_TARGET;
	return CKF_OK;
}

static void
ckf_write_empty(const ckf_params *params, ckf_encoding encoding, uint8_t flags, void *dst)
{
	ckf_filter t;

	memset(&t, 0, sizeof t);
	t.bytes = dst;
	t.encoding = (uint8_t)encoding;
	t.flags = flags;
	if (params->set)
		t.flags |= CKF_FLAG_SET;
	if (params->plain)
		t.flags |= CKF_FLAG_PLAIN;
	t.b = params->bucket_size;
	t.w = 64;
	t.merged_w = 64;
	t.merged_b = t.b;
	t.c = ckf_low_bits(params->fpr);
	t.seed = params->seed;
	t.capacity = params->capacity;
	t.fpr = params->fpr;
	ckf_write_header(&t);
}

ckf_status
ckf_create(const ckf_params *params, void *dst)
{
	ckf_status status = ckf_check_params(params, 1);

	if (status == CKF_OK)
		ckf_write_empty(params, CKF_HASHES, 0, dst);
	return status;
}

ckf_status
ckf_collect_create(const ckf_params *params, void *dst)
{
	ckf_status status = ckf_check_params(params, 0);

	if (status != CKF_OK)
		return status;
	memset(dst, 0, CKF_STATE_SIZE);
	ckf_write_empty(params, CKF_COLLECTING, CKF_FLAG_STATE, dst);
	return CKF_OK;
}

/* ------------------------------------------------------------------- open */

/* The body of a filter in hashes: sorted, no zero, at most 2 b copies. */
static bool
ckf_hashes_check(const ckf_filter *t)
{
	uint64_t most = t->flags & CKF_FLAG_SET ? 1 : 2 * (uint64_t)t->b;
	uint64_t last = 0;
	uint64_t run = 0;
	uint64_t i;

	for (i = 0; i < t->count; i++)
	{
		uint64_t hash = ckf_word(t, i);

		run = hash == last ? run + 1 : 1;
		if (hash < last || hash == 0 || run > most)
			return false;
		last = hash;
	}
	return true;
}

static bool
ckf_body_fits(const ckf_filter *t)
{
	uint64_t slots;

	switch (t->encoding)
	{
		case CKF_HASHES:
			return t->f == 0 && t->g == 0 && t->m == 0 && t->w == 64 &&
				   t->size % 8 == CKF_HEADER_SIZE % 8 && t->count == ckf_body_words(t);
		case CKF_COLLECTING:
			return t->f == 0 && t->g == 0 && t->m == 0 && t->size % 8 == CKF_HEADER_SIZE % 8 &&
				   ckf_collect_fits(t);
		case CKF_SEMI_SORTED:
		case CKF_PLAIN:
			if (t->encoding == CKF_SEMI_SORTED && t->b != 4)
				return false;
			if (t->m < 1 || t->m > CKF_MAX_BUCKETS || t->g > CKF_MAX_SEGMENT_BITS || t->f < t->c ||
				t->f > CKF_MAX_TAG || t->w < t->g + t->f || t->w - t->g > 63 ||
				ckf_tag_bits((unsigned)(t->w - t->g), t->m) != t->f)
				return false;
			slots = ((uint64_t)2 * t->m * t->b) << t->g;
			return t->count <= slots &&
				   t->size ==
					   ckf_table_size(t->g, t->m,
									  ckf_bucket_bits(t->b, t->f, t->encoding == CKF_SEMI_SORTED));
		default:
			return false;
	}
}

/* What only a running state has; in other filters these bytes are reserved. */
static bool
ckf_state_fields_fit(const ckf_filter *t)
{
	if (!(t->flags & CKF_FLAG_STATE))
		return t->merged_w == 0 && t->merged_b == 0 && t->encoding != CKF_COLLECTING;
	return (t->merged_w == 64 || (t->merged_w >= t->c && t->merged_w <= CKF_MAX_PREFIX)) &&
		   ckf_is_bucket_size(t->merged_b) && t->encoding != CKF_HASHES;
}

static bool
ckf_fields_fit(const ckf_filter *t, ckf_trust trust)
{
	bool state = (t->flags & CKF_FLAG_STATE) != 0;
	uint8_t known = trust == CKF_STATE ? CKF_FLAGS_ALL : CKF_FLAGS_AT_REST;

	return (t->flags & ~known) == 0 && ckf_state_fields_fit(t) && ckf_is_bucket_size(t->b) &&
		   t->w >= 1 && t->w <= 64 && (t->w <= CKF_MAX_PREFIX || state || !ckf_is_table(t)) &&
		   t->fpr > 0 && t->fpr < 1 && t->c == ckf_low_bits(t->fpr) &&
		   t->capacity >= (state ? 0 : 1) && t->capacity <= CKF_MAX_CAPACITY;
}

ckf_status
ckf_open(ckf_filter *t, const void *bytes, size_t size, ckf_trust trust)
{
	const uint8_t *p = bytes;

	if (size < CKF_HEADER_SIZE || memcmp(p + CKF_AT_MAGIC, "CKF", 3) != 0)
		return CKF_BAD_BYTES;
	if (p[CKF_AT_FORMAT] != CKF_FORMAT_VERSION || p[CKF_AT_HASH] != CKF_HASH_VERSION)
		return CKF_BAD_VERSION;
	t->bytes = (uint8_t *)(uintptr_t)p; /* written by ckf_add and ckf_remove only */
	t->size = size;
	t->room = size;
	t->encoding = p[CKF_AT_ENCODING];
	t->flags = p[CKF_AT_FLAGS];
	t->b = p[CKF_AT_B];
	t->f = p[CKF_AT_F];
	t->w = p[CKF_AT_W];
	t->g = p[CKF_AT_G];
	t->c = p[CKF_AT_C];
	t->m = (uint32_t)p[CKF_AT_M] | (uint32_t)p[CKF_AT_M + 1] << 8;
	t->count = ckf_load64(p + CKF_AT_COUNT);
	t->seed = ckf_load64(p + CKF_AT_SEED);
	t->capacity = (int64_t)ckf_load64(p + CKF_AT_CAPACITY);
	t->fpr = ckf_load_double(p + CKF_AT_FPR);
	t->merged_w = p[CKF_AT_MERGED_W];
	t->merged_b = p[CKF_AT_MERGED_B];
	if (!ckf_fields_fit(t, trust) || !ckf_body_fits(t))
		return CKF_BAD_BYTES;
	t->inverse[2] = 0;
	ckf_derive(t);
	if (trust != CKF_FOREIGN)
		return CKF_OK;
	if (ckf_is_table(t) ? !ckf_table_check(t) : !ckf_hashes_check(t))
		return CKF_BAD_BYTES;
	return CKF_OK;
}

/* --------------------------------------------------------- what it tells */

double
ckf_fpr(const ckf_filter *t)
{
	double rate = (double)t->count;

	if (ckf_is_table(t)) /* prefixes joined by the rule of tag 0 count twice */
		rate += rate * 2 / (double)(t->low_mask + 1);
	rate /= ckf_power_of_two(t->flags & CKF_FLAG_STATE ? t->merged_w : t->w);
	return rate < 1 ? rate : 1;
}

void
ckf_get_info(const ckf_filter *t, ckf_info *info)
{
	bool table = ckf_is_table(t);
	uint64_t segments = table ? UINT64_C(1) << t->g : 0;

	info->count = t->count;
	info->capacity = t->capacity;
	info->target_fpr = t->fpr;
	info->fpr = ckf_fpr(t);
	info->bytes = t->size;
	info->bits_per_item = t->count ? 8.0 * (double)t->size / (double)t->count : 0;
	info->load_factor = table ? (double)t->count / ((double)segments * 2 * t->m * t->b) : 1;
	info->encoding = table ? "table" : t->encoding == CKF_HASHES ? "hashes" : "collecting";
	info->layout = t->b == 4 && !(t->flags & CKF_FLAG_PLAIN) ? "semi_sorted" : "plain";
	info->kind = t->flags & CKF_FLAG_SET ? "set" : "deletable";
	info->bucket_size = t->b;
	info->fingerprint_bits = t->f;
	info->prefix_bits = t->w;
	info->segments = segments;
	info->seed = t->seed;
	info->format_version = CKF_FORMAT_VERSION;
}
