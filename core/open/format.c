/*
 * format.c - create a filter, open (and validate) one, and describe it (FORMAT.md,
 * section 2).
 */
#include "open/choose.h"
#include "filter/geometry.h"
#include "filter/header.h"
#include "filter/methods.h"
#include "scan/scan.h"
#include "thresholds.h"

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

static ckf_status
ckf_write_empty(const ckf_params *params, int64_t least_capacity, uint8_t format, void *dst)
{
	ckf_status status = ckf_check_params(params, least_capacity);
	ckf_filter t;

	if (status != CKF_OK)
		return status;
	memset(&t, 0, sizeof t);
	t.bytes = dst;
	t.format = format;
	t.encoding = CKF_HASHES;
	if (params->set)
		t.flags |= CKF_FLAG_SET;
	if (params->plain)
		t.flags |= CKF_FLAG_PLAIN;
	t.b = params->bucket_size;
	t.w = 64;
	t.c = ckf_low_bits(params->fpr);
	t.seed = params->seed;
	t.capacity = params->capacity > 0 ? params->capacity : 1;
	t.fpr = params->fpr;
	ckf_write_header(&t);
	return CKF_OK;
}

ckf_status
ckf_create(const ckf_params *params, void *dst)
{
	return ckf_write_empty(params, 1, CKF_FORMAT_VERSION, dst);
}

ckf_status
ckf_create_state(const ckf_params *params, void *dst)
{
	return ckf_write_empty(params, 0, params->decimals ? CKF_FORMAT_DECIMALS : CKF_FORMAT_VERSION,
						   dst);
}

ckf_status
ckf_planned_bytes(const ckf_params *params, uint64_t *bytes)
{
	uint64_t items = (uint64_t)params->capacity;
	ckf_params any = *params;
	ckf_filter t = {0};
	ckf_status status;

	if (params->capacity < 1 || params->capacity > CKF_MAX_CAPACITY)
		return CKF_BAD_CAPACITY;
	any.capacity = 0; /* an aggregate may have no capacity yet */
	status = ckf_check_params(&any, 0);
	if (status != CKF_OK)
		return status;
	t.b = params->bucket_size;
	t.flags = params->plain ? CKF_FLAG_PLAIN : 0;
	t.fpr = params->fpr;
	t.c = ckf_low_bits(params->fpr);
	if (ckf_choose_fewest(&t, items, items))
		*bytes = ckf_table_size(&t);
	else
		*bytes = CKF_HEADER_SIZE + 8 * items;
	return CKF_OK;
}

/* ------------------------------------------------------------------- open */

/* Validate the geometry of a table, and set its bucket_bits. */
static bool
ckf_table_fits(ckf_filter *t)
{
	if (t->encoding == CKF_SEMI_SORTED && t->b != 4)
		return false;
	if (t->m < 1 || t->m > CKF_MAX_BUCKETS || t->g > CKF_MAX_SEGMENT_BITS || t->f < t->c ||
		t->f > CKF_MAX_TAG || t->w < t->g + t->f || t->w - t->g > 63 || t->w > CKF_MAX_PREFIX ||
		ckf_tag_bits((unsigned)(t->w - t->g), t->m) != t->f)
		return false;
	t->bucket_bits = ckf_bucket_bits(t->b, t->f, t->encoding == CKF_SEMI_SORTED);
	return t->count <= ((uint64_t)2 * t->m * t->b) << t->g && t->size == ckf_table_size(t);
}

/* Validate the size of the body by the header. */
static bool
ckf_body_fits(ckf_filter *t)
{
	if (ckf_is_table(t))
		return ckf_table_fits(t);
	if (t->encoding == CKF_HASHES ? t->w != 64 : t->w < t->c || t->w > CKF_MAX_PREFIX)
		return false;
	return t->f == 0 && t->g == 0 && t->m == 0 && t->size % 8 == CKF_HEADER_SIZE % 8 &&
		   t->count == (t->size - CKF_HEADER_SIZE) / 8;
}

static bool
ckf_fields_fit(const ckf_filter *t)
{
	return (t->flags & ~CKF_FLAGS_ALL) == 0 && t->encoding <= CKF_PREFIXES &&
		   t->encoding != CKF_OLD_STATE && ckf_is_bucket_size(t->b) && t->fpr > 0 && t->fpr < 1 &&
		   t->c == ckf_low_bits(t->fpr) && t->capacity >= 1 && t->capacity <= CKF_MAX_CAPACITY;
}

/* Whether the bytes are an aggregate's state of a version before 1.4: encoding 3, or a plain table
 * followed by more bytes. */
static bool
ckf_is_old_state(const ckf_filter *t)
{
	return (t->flags & CKF_FLAG_OLD_STATE) && t->flags < 16 &&
		   (t->encoding == CKF_OLD_STATE || t->encoding == CKF_PLAIN);
}

/* Read the item classes, and how numbers are held; version 1 has none.  false: they are
 * impossible. */
static bool
ckf_read_item_classes(ckf_filter *t)
{
	uint8_t classes = t->bytes[CKF_AT_ITEM_CLASSES], forms = t->bytes[CKF_AT_NUMBER_FORMS];
	bool empty = t->count == 0;

	t->item_classes = classes;
	if (t->format < CKF_FORMAT_VERSION)
		t->item_classes = empty ? 0 : CKF_ITEM_HASH | CKF_ITEM_OLD;
	t->number_forms = ckf_forms_of_old(t->item_classes);
	if (t->format < CKF_FORMAT_DECIMALS && forms != 0)
		return false;
	if (t->format < CKF_FORMAT_VERSION)
		return classes == 0;
	if (empty != (classes == 0) || ((classes & CKF_ITEM_OLD) && !(classes & CKF_ITEM_HASH)))
		return false;
	if (t->format == CKF_FORMAT_DECIMALS)
	{
		t->number_forms = forms;
		ckf_settle_format(t); /* the only bytes that say so */
	}
	return t->number_forms <= CKF_FORMS_ALL && t->format == t->bytes[CKF_AT_FORMAT] &&
		   (t->format < CKF_FORMAT_DECIMALS || t->number_forms == forms);
}

ckf_status
ckf_check_step(const ckf_filter *t, ckf_check *check)
{
	return t->methods->check(t, check);
}

ckf_status
ckf_open(ckf_filter *t, const void *bytes, size_t size, ckf_trust trust)
{
	const uint8_t *p = bytes;
	ckf_check check = {0, 0};
	ckf_status status = CKF_OK;
	uint64_t fpr;

	if (size < CKF_HEADER_SIZE || memcmp(p + CKF_AT_MAGIC, "CKF", 3) != 0)
		return CKF_BAD_BYTES;
	if (p[CKF_AT_FORMAT] < 1 || p[CKF_AT_FORMAT] > CKF_FORMAT_DECIMALS ||
		p[CKF_AT_HASH] != CKF_HASH_VERSION)
		return CKF_BAD_VERSION;
	ckf_move(t, (void *)(uintptr_t)p); /* written by ckf_add and ckf_remove only */
	t->size = size;
	t->room = size;
	t->format = p[CKF_AT_FORMAT];
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
	fpr = ckf_load64(p + CKF_AT_FPR);
	memcpy(&t->fpr, &fpr, sizeof fpr);
	if (ckf_is_old_state(t))
		return trust == CKF_FOREIGN ? CKF_BAD_BYTES : CKF_UNFINISHED;
	if (!ckf_fields_fit(t) || !ckf_body_fits(t))
		return CKF_BAD_BYTES;
	ckf_derive(t);
	if (!ckf_read_item_classes(t))
		return CKF_BAD_BYTES;
	t->deduplicated = t->deduplicated || trust == CKF_STATE;
	if (trust == CKF_FOREIGN)
		while ((status = ckf_check_step(t, &check)) == CKF_MORE)
			;
	return status;
}

ckf_status
ckf_open_like(ckf_filter *t, const void *bytes, size_t size)
{
	uint64_t count = ckf_load64((const uint8_t *)bytes + CKF_AT_COUNT);

	if (t->encoding != CKF_HASHES || size % 8 != CKF_HEADER_SIZE % 8 ||
		count != (size - CKF_HEADER_SIZE) / 8 || (count == 0) != (t->item_classes == 0))
		return CKF_BAD_BYTES;
	ckf_move(t, (void *)(uintptr_t)bytes);
	t->size = t->room = size;
	t->count = count;
	return CKF_OK;
}

/* ----------------------------------------------------------- information */

uint64_t
ckf_items(const ckf_filter *t)
{
	const ckf_source *source = t->methods->source; /* only the representation knows */

	return source->items ? source->items(t) : t->count;
}

double
ckf_fpr(const ckf_filter *t)
{
	return ckf_expected_rate(t->count, t->w, t->c);
}

static void
ckf_name_item_classes(const ckf_filter *t, const char **names)
{
	/* in the order of their bits */
	static const char *const all[] = {"number",      "text",  "bytes", "timestamp",
									  "timestamptz", "other", "hash"};
	unsigned i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (t->item_classes >> i & 1)
			*names++ = all[i];
	*names = NULL;
}

/* Copies that no memory can hold. */
#define CKF_MOST_HASHES (UINT64_C(1) << 48)

/* Whether in more than one of 1,000 tables of n random items some prefix has more copies than the
 * 2 b slots where it may be.  A set stores no copies.  The rule P|1 doubles the items of 2^-c of
 * the prefixes. */
static bool
ckf_may_lack_slots(const ckf_filter *t, uint64_t n)
{
	double prefixes = ckf_power_of_two(t->w);
	double doubled = ckf_power_of_two(2u * t->b + 1) / ckf_power_of_two(t->c);
	double expected = prefixes * (1 + doubled); /* how many prefixes have so many */
	unsigned i;

	for (i = 1; i <= 2u * t->b + 1; i++)
		expected *= (double)n / prefixes / i;
	return !(t->flags & CKF_FLAG_SET) && expected > 0.001;
}

/* How many items can be added to a filter, one by one. */
static uint64_t
ckf_items_to_limit(const ckf_filter *t)
{
	uint64_t first = t->count > CKF_MAX_HASHES ? t->count : CKF_MAX_HASHES;
	uint64_t most = CKF_MOST_HASHES;
	ckf_filter table = *t;

	/* hashes become the table that growth builds; if there is none they stay hashes */
	if (t->encoding != CKF_HASHES ||
		ckf_choose_first(&table, first + first / 2 + 8, 16 * first, 64))
		for (most = ckf_most_copies(&table); ckf_may_lack_slots(&table, most);)
			most -= most / 64 + 1;
	return most > t->count ? most - t->count : 0;
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
	info->encoding = table ? "table" : t->encoding == CKF_HASHES ? "hashes" : "prefixes";
	info->layout = t->b == 4 && !(t->flags & CKF_FLAG_PLAIN) ? "semi_sorted" : "plain";
	info->kind = t->flags & CKF_FLAG_SET ? "set" : "deletable";
	info->bucket_size = t->b;
	info->fingerprint_bits = t->f;
	info->prefix_bits = t->w;
	info->segments = segments;
	info->seed = t->seed;
	info->format_version = t->format;
	ckf_name_item_classes(t, info->item_classes);
	info->items_left =
		t->capacity > 0 && (uint64_t)t->capacity > t->count ? (uint64_t)t->capacity - t->count : 0;
	info->items_to_limit = ckf_items_to_limit(t);
}
