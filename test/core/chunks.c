/*
 * chunks.c - a filter in chunks, compared with an exact model: adds, removals, merges and packs in
 * any order, and its export, which has the bytes of an aggregate where this is promised.
 */
#include "shelf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thresholds.h"

enum
{
	MOST_ITEMS = 20000,
	KIND_RANDOM = 0,                /* of world_hash */
	LOWERED = CKF_CHUNK_LIMIT < 500 /* build/test/small */
};

/* Parameters of a table: a capacity is always given. */
static ckf_params
draw_table(const world *w, int64_t least)
{
	ckf_params params;
	uint8_t bytes[CKF_HEADER_SIZE];

	do
	{
		params = draw_params(w);
		if (params.capacity < least)
			params.capacity = least + (int64_t)check_below((uint64_t)least * 3 + 10);
	} while (ckf_create(&params, bytes) != CKF_OK);
	return params;
}

static void
draw_shelf(shelf *s, const ckf_params *params)
{
	uint32_t page = check_chance(50) ? 0 : 492U << check_below(5);

	CHECK(shelf_new(s, params, page, page ? 17 : 0), "no chunks of parameters that make a filter");
	guard_read_only(s->chunks, false);
	s->chunks->limit >>= check_below(2);
	guard_read_only(s->chunks, true);
}

/* Merges into smaller buckets, larger and equal ones. */
static unsigned merged[3];

/* The exports: with the parameters of the table, with a smaller c, with a larger b, as a set in
 * place of a deletable filter, and refused. */
static unsigned exported[5];

/* Bytes that an export may have. */
#define MOST_BYTES (UINT64_C(16) << 20)

/* ----------------------------------------------------------- histories */

typedef struct history
{
	shelf s;
	model m;
	world w;
	unsigned kind;
	uint64_t next; /* hashes of the world that were drawn */
} history;

/* The model loses precision when the table does. */
static void
follow(history *h)
{
	if (h->m.w == 64 && !shelf_whole(&h->s))
		model_follow(&h->m, &h->s.chunks->like);
}

static void
check_hash(const history *h, uint64_t hash)
{
	uint32_t copies = map_get(&h->m.groups, model_prefix(&h->m, hash));
	unsigned told = shelf_copies(&h->s, hash);

	CHECK(told > 0 || map_get(&h->m.truth, hash) == 0, "FALSE NEGATIVE: hash %#llx",
		  (unsigned long long)hash);
	CHECK(told == copies, "hash %#llx: %u copies, must be %u", (unsigned long long)hash, told,
		  copies);
}

static void
check_all(const history *h)
{
	uint64_t key;
	uint32_t copies;

	CHECK(h->s.count == h->m.count, "%llu copies, must be %llu", (unsigned long long)h->s.count,
		  (unsigned long long)h->m.count);
	CHECK(shelf_distinct(&h->s) == h->m.prefixes, "%llu distinct items, must be %llu",
		  (unsigned long long)shelf_distinct(&h->s), (unsigned long long)h->m.prefixes);
	if (h->s.n > 0)
		(void)shelf_check(&h->s);
	for (size_t at = 0; map_next(&h->m.truth, &at, &key, &copies);)
		check_hash(h, key);
	for (size_t at = 0; map_next(&h->m.groups, &at, &key, &copies);)
		check_hash(h, h->m.w == 64 ? key : key << (64 - h->m.w));
	for (int i = 0; i < 100; i++)
		check_hash(h, check_chance(50) ? check_random()
									   : world_hash(&h->w, h->kind, check_below(h->next + 9)));
}

/* n hashes: new ones, some that are in, some several times. */
static uint64_t *
draw_batch(history *h, size_t n)
{
	uint64_t *hashes = check_alloc((n + 1) * sizeof *hashes);

	for (size_t i = 0; i < n; i++)
		hashes[i] = world_hash(&h->w, h->kind,
							   h->next > 0 && check_chance(20) ? check_below(h->next) : h->next++);
	if (check_chance(30))
		repeat_some(hashes, n);
	qsort(hashes, n, sizeof *hashes, compare_hashes);
	return hashes;
}

static void
add_batch(history *h, size_t n)
{
	uint64_t *hashes = draw_batch(h, n);

	shelf_add(&h->s, hashes, n, true);
	for (size_t i = 0; i < n; i++)
		model_add(&h->m, hashes[i]);
	follow(h);
	free(hashes);
}

/* The same item again and again: up to 2 b copies, and then none. */
static void
add_copies(history *h)
{
	uint64_t hash = world_hash(&h->w, h->kind, check_below(h->next + 1));
	size_t n = 1 + check_below(40);

	for (size_t i = 0; i < n; i++)
	{
		shelf_add(&h->s, &hash, 1, true);
		model_add(&h->m, hash);
	}
	follow(h);
	check_hash(h, hash);
}

/* Remove items that were added, with one edit for each chunk. */
static void
remove_batch(history *h, size_t n)
{
	uint64_t *hashes = check_alloc((n + 1) * sizeof *hashes);
	size_t at = check_below(h->m.truth.slots + 1), have = 0;
	uint64_t key;
	uint32_t copies;

	while (have < n && map_next(&h->m.truth, &at, &key, &copies))
		for (uint32_t i = 0; i < copies && have < n; i++)
			if (i == 0 || check_chance(50))
				hashes[have++] = key;
	qsort(hashes, have, sizeof *hashes, compare_hashes);
	if (h->m.set)
		CHECK(shelf_remove(&h->s, hashes, have) == CKF_IS_SET || have == 0, "removed from a set");
	else
	{
		CHECK(shelf_remove(&h->s, hashes, have) == CKF_OK, "remove");
		for (size_t i = 0; i < have; i++)
			model_remove(&h->m, hashes[i], false);
	}
	free(hashes);
}

/* Remove items that were never added: nothing changes unless they share a prefix. */
static void
remove_absent(history *h)
{
	uint64_t hash = check_random();
	uint64_t before = h->s.count;

	if (h->m.set || map_get(&h->m.groups, model_prefix(&h->m, hash)) > 0)
		return;
	CHECK(shelf_remove(&h->s, &hash, 1) == CKF_OK && h->s.count == before,
		  "removed an item that was not added");
}

/* The status that a table must give for a filter that is merged into it. */
static ckf_status
expect_merge(const history *h, const input *in)
{
	const ckf_filter *like = &h->s.chunks->like, *filter = &in->filter.filter;

	if (in->model.count > 0 && filter->seed != like->seed)
		return CKF_SEED_DIFFERS;
	if (in->model.set && !h->m.set)
		return CKF_IS_SET;
	if (in->model.count > 0 &&
		(filter->w < like->w || (filter->w == like->w && filter->c < like->c)))
		return CKF_PRECISION;
	return CKF_OK;
}

/* An aggregate of the table's capacity and rate, or of one of them; each other parameter
 * is drawn. */
static void
draw_like(input *in, const history *h, const world *w, unsigned kind)
{
	const ckf_filter *like = &h->s.chunks->like;
	size_t n = check_below(check_chance(80) ? 300 : 5000);
	uint64_t *hashes = world_hashes(w, kind, n);
	ckf_params params = draw_table(w, 1);

	params.seed = like->seed;
	params.fpr = like->fpr;
	params.capacity = like->capacity;
	if (check_chance(30))
		params.capacity += params.capacity / 2;
	if (ckf_create(&params, (uint8_t[CKF_HEADER_SIZE]){0}) != CKF_OK)
		params.capacity = like->capacity;
	build_bulk(&in->filter, &params, hashes, n);
	model_of_distinct(&in->model, &in->filter, hashes, n);
	for (uint64_t some = params.set ? 0 : check_below(40); n > 0 && some > 0; some--)
	{
		uint64_t hash = hashes[check_below(n < 5 ? n : 5)];

		if (owned_add(&in->filter, hash) != CKF_OK)
			break; /* copies that crowd */
		model_add(&in->model, hash);
	}
	model_follow(&in->model, &in->filter.filter);
	free(hashes);
}

/* A filter of any parameters, and its items. */
static void
merge_filter(history *h)
{
	/* with lowered thresholds many that crowd make no table */
	bool few = LOWERED && h->kind != KIND_RANDOM;
	world w = h->w;
	input in;
	ckf_status status;

	w.seed = h->s.chunks->like.seed;
	w.other_seed = 10;
	w.most = few ? 200 : 5000;
	if (check_chance(60))
		input_draw(&in, &w, 1);
	else
		draw_like(&in, h, &w, few ? KIND_RANDOM : h->kind);
	status = shelf_merge(&h->s, &in.filter);
	CHECK(status == expect_merge(h, &in),
		  "w %d, c %d, set %d into %d, %d, %d: status %d, must be %d", in.filter.filter.w,
		  in.filter.filter.c, in.model.set, h->s.chunks->like.w, h->s.chunks->like.c, h->m.set,
		  status, expect_merge(h, &in));
	if (status == CKF_OK)
	{
		uint64_t key;
		uint32_t copies;

		follow(h);
		model_pour(&h->m, &in.model);
		for (size_t at = 0; map_next(&in.model.truth, &at, &key, &copies);)
			check_hash(h, key);
		merged[h->m.b < in.model.b ? 0 : h->m.b > in.model.b ? 1 : 2]++;
	}
	input_free(&in);
}

/* All answers are the same, and no copy is lost.  Half as many chunks begin their items with a
 * bit that the chunks before had left to their place.  Where a table that was filled one by one
 * cannot be filled anew, a list or a larger table takes up to a byte more for each item. */
static void
pack(history *h)
{
	uint64_t before = h->s.n > 0 ? shelf_check(&h->s) : 0;
	size_t rows = h->s.n;
	uint64_t after, more, bits = 0;

	shelf_pack(&h->s);
	after = h->s.n > 0 ? shelf_check(&h->s) : 0;
	while (h->s.n << bits < rows)
		bits++;
	more = before / 20 + 64 + h->s.count * bits / 8 + shelf_crowded(&h->s);
	/* where hashes crowd, what lies between them may cost more in one list than in several */
	CHECK(h->kind != KIND_RANDOM || after <= before + more || h->s.chunks->page_room > 0,
		  "a pack made %llu bytes of %llu", (unsigned long long)after, (unsigned long long)before);
}

/* Random hashes are found as often as the rate says. The rate may be higher, since it counts
 * copies. */
static void
check_rate(const model *m, const owned *o)
{
	unsigned n = 4000, found = 0;
	double told = ckf_fpr(&o->filter) * n;
	double least = m->count == m->prefixes ? told : 0;

	for (unsigned i = 0; i < n; i++)
		found += ckf_contains(&o->filter, check_random());
	CHECK(found <= 1.12 * told + 6 * sqrt(told) + 6, "%u of %u found, %g told", found, n, told);
	CHECK(found >= 0.88 * least - 6 * sqrt(least) - 6, "%u of %u found, %g told", found, n, told);
}

/* Are there so many prefixes in one segment of each table that may be built that they may have
 * no place in it?  From a bucket of half 0 most have to go to half 1, where chance lets a bucket
 * overflow long before all are full. */
static bool
may_crowd(const history *h)
{
	uint64_t half = (uint64_t)CKF_MAX_BUCKETS_BUILT * 8, key;
	uint64_t *prefixes = check_alloc((h->m.prefixes + 1) * sizeof *prefixes);
	uint32_t copies;
	size_t n = 0, fullest = 0;
	unsigned g = 0;

	while (g < 32 && (half * h->m.w / 8) << g <= MOST_BYTES)
		g++;
	for (size_t at = 0; map_next(&h->m.groups, &at, &key, &copies);)
		if (copies > 0)
			prefixes[n++] = h->m.w == 64 ? key : key << (64 - h->m.w);
	qsort(prefixes, n, sizeof *prefixes, compare_hashes);
	for (size_t i = 0, first = 0; i < n; i++)
	{
		if ((prefixes[i] ^ prefixes[first]) >> 1 >> (63 - g) != 0)
			first = i;
		fullest = i + 1 - first > fullest ? i + 1 - first : fullest;
	}
	free(prefixes);
	return fullest > half / 8;
}

/* The export has the items of the table, as a filter of its own b, c and kind. */
static void
check_export(const history *h)
{
	const ckf_filter *like = &h->s.chunks->like;
	bool easy = h->kind == KIND_RANDOM && h->m.count <= h->s.chunks->max_count / 2 &&
				model_most_copies(&h->m) <= 2;
	ckf_refusal refusal;
	ckf_status status;
	owned result;
	model m;

	status = shelf_export(&h->s, MOST_BYTES, &result, &refusal);
	if (status == CKF_PRECISION && may_crowd(h))
	{
		CHECK(refusal.cause == CKF_CROWDED_HASHES, "refused for cause %d", refusal.cause);
		exported[4]++;
		return;
	}
	CHECK(status == CKF_OK, "the export of %llu copies: status %d", (unsigned long long)h->m.count,
		  status);
	model_init(&m, &result.filter);
	/* a filter without items may be one of hashes, which have no rule that joins them */
	CHECK((m.w <= h->m.w || h->m.count == 0) && (m.b == like->b || m.b == 8) &&
			  (m.c == like->c || m.c == 4) && (m.set || !h->m.set),
		  "w %u, c %u, b %u, set %d of w %u, c %u, b %u, set %d", m.w, m.c, m.b, m.set, h->m.w,
		  like->c, like->b, h->m.set);
	CHECK(!easy || (m.b == like->b && m.c == like->c && m.set == h->m.set),
		  "w %u, c %u, b %u, set %d of few copies", m.w, m.c, m.b, m.set);
	model_pour(&m, &h->m);
	model_check(&m, &result);
	check_rate(&m, &result);
	exported[m.set != h->m.set ? 3 : m.b != like->b ? 2 : m.c != like->c ? 1 : 0]++;
	model_free(&m);
	owned_free(&result);
}

static void
change(history *h)
{
	switch (check_below(10))
	{
		case 0:
			add_batch(h, draw_size(MOST_ITEMS / 4));
			break;
		case 1:
			remove_batch(h, draw_size(MOST_ITEMS / 4));
			break;
		case 2:
			add_copies(h);
			break;
		case 3:
			if (check_chance(60))
				merge_filter(h);
			break;
		case 4:
			pack(h);
			break;
		case 5:
			remove_absent(h);
			break;
		case 6:
			remove_batch(h, 1);
			break;
		default:
			for (uint64_t n = check_below(60); n > 0; n--)
				add_batch(h, 1);
	}
}

static void
history_start(history *h, const ckf_params *params)
{
	draw_shelf(&h->s, params);
	model_init(&h->m, &h->s.chunks->exact);
}

static void
history_end(history *h)
{
	check_all(h);
	check_export(h);
	model_free(&h->m);
	shelf_free(&h->s);
}

static void
run_history(const void *arg)
{
	unsigned changes = 3 + (unsigned)check_below(20);
	history h = {.w = world_new(MOST_ITEMS)};
	ckf_params params = draw_table(&h.w, 1);

	(void)arg;
	h.kind = check_chance(60) ? KIND_RANDOM : (unsigned)check_below(HASH_KINDS);
	history_start(&h, &params);
	for (unsigned i = 0; i < changes; i++)
	{
		change(&h);
		if (check_chance(30))
			check_all(&h);
	}
	history_end(&h);
}

/* ------------------------------------------- export, byte for byte */

/* Distinct hashes in batches of any size. */
static void
add_in_batches(shelf *s, uint64_t *hashes, size_t n)
{
	for (size_t some; n > 0; hashes += some, n -= some)
	{
		some = check_chance(40) ? 1 + check_below(30) : 1 + check_below(n);
		some = some < n ? some : n;
		qsort(hashes, some, sizeof *hashes, compare_hashes);
		shelf_add(s, hashes, some, true);
		if (check_chance(5))
			shelf_pack(s);
	}
}

/* Up to `capacity` distinct items, each added once: the bytes of the aggregate. */
static void
run_export(const void *arg)
{
	world w = world_new(MOST_ITEMS);
	size_t n = draw_size(MOST_ITEMS);
	uint64_t *hashes = world_hashes(&w, KIND_RANDOM, n);
	ckf_params params = draw_table(&w, (int64_t)n + 1);
	owned aggregate, result;
	ckf_refusal refusal;
	shelf s;

	(void)arg;
	draw_shelf(&s, &params);
	build_bulk(&aggregate, &params, hashes, n);
	add_in_batches(&s, hashes, n);
	if (n > 0)
		(void)shelf_check(&s);
	CHECK(shelf_export(&s, MOST_BYTES, &result, &refusal) == CKF_OK, "export of %zu items", n);
	/* with lowered thresholds tables of an aggregate are larger, so that it keeps whole hashes
	 * longer than the chunks do */
	CHECK(owned_same_bytes(&result, &aggregate) ||
			  (LOWERED && aggregate.filter.w == 64 && !shelf_whole(&s)),
		  "n %zu of capacity %lld, fpr %g, b %d: w %d, m %u, %llu bytes; must be w %d, m %u, %llu",
		  n, (long long)params.capacity, params.fpr, params.bucket_size, result.filter.w,
		  result.filter.m, (unsigned long long)result.filter.size, aggregate.filter.w,
		  aggregate.filter.m, (unsigned long long)aggregate.filter.size);
	owned_free(&result);
	owned_free(&aggregate);
	shelf_free(&s);
	free(hashes);
}

/* ------------------------------------------------------------- borders */

/* Row numbers are in the order of the ranges, and give back the first hash. */
static void
run_ids(const void *arg)
{
	static const uint64_t edges[] = {0, 1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};

	(void)arg;
	for (int i = 0; i < 1000; i++)
	{
		uint64_t a = i < 5 ? edges[i] : check_random(), b = check_random();

		CHECK(ckf_chunk_start(ckf_chunk_id(a)) == a, "an id leads elsewhere");
		CHECK((a < b) == (ckf_chunk_id(a) < ckf_chunk_id(b)), "ids in another order");
	}
	CHECK(ckf_chunk_id(0) == INT64_MIN, "the first id");
	CHECK(ckf_chunk_last(0, 0) == UINT64_MAX && ckf_chunk_last(UINT64_C(1) << 63, 1) == UINT64_MAX,
		  "the last hash");
}

/* Many copies of many items in the same buckets: no copy is lost, and each edit ends. */
static void
run_crowd(const void *arg)
{
	history h = {.w = world_new(MOST_ITEMS)};
	ckf_params params = draw_table(&h.w, 1);

	(void)arg;
	params.set = check_chance(20);
	h.kind = 1 + (unsigned)check_below(HASH_KINDS - 1);
	history_start(&h, &params);
	for (int i = 0; i < 20; i++)
		check_chance(50) ? add_copies(&h) : add_batch(&h, check_below(400));
	check_all(&h);
	pack(&h);
	history_end(&h);
}

/* A table about as full as it may be, or somewhat fuller, of items with any number of copies. */
static void
run_full(const void *arg)
{
	history h = {.w = world_new(MOST_ITEMS)};
	ckf_params params = draw_params(&h.w);
	double share = 0.3 + (double)check_below(90) / 100; /* of the limit */
	unsigned repeats = check_chance(50) ? 1 : 2 + (unsigned)check_below(20);
	size_t n;

	(void)arg;
	params.capacity = 1 + (int64_t)check_below(check_chance(50) ? 100 : 1000);
	params.fpr = 0.001 * pow(400, (double)check_below(1001) / 1000); /* to 0.4 */
	history_start(&h, &params);
	while ((double)h.m.count < share * (double)h.s.chunks->max_count &&
		   h.next < 2 * h.s.chunks->max_count) /* there may be no more prefixes */
	{
		uint64_t hashes[500];

		n = check_chance(20) ? 500 : 1 + check_below(500);
		for (size_t i = 0; i < n; i++)
			hashes[i] = world_hash(&h.w, KIND_RANDOM, h.next++);
		qsort(hashes, n, sizeof *hashes, compare_hashes);
		for (unsigned k = 0; k < repeats; k++)
		{
			shelf_add(&h.s, hashes, n, true);
			for (size_t i = 0; i < n; i++)
				model_add(&h.m, hashes[i]);
		}
		follow(&h);
	}
	history_end(&h);
}

/* A set of most or all possible prefixes can always be built. */
static void
run_every_prefix(const void *arg)
{
	history h = {.w = world_new(MOST_ITEMS)};
	ckf_params params = draw_params(&h.w);
	unsigned percent = check_chance(20) ? 100 : 30 + (unsigned)check_below(71);

	(void)arg;
	params.capacity = 1 + (int64_t)check_below(300);
	params.fpr = 0.03 + (double)check_below(370) / 1000;
	history_start(&h, &params);
	for (uint64_t p = 0; p >> h.s.chunks->like.w == 0; p++)
	{
		uint64_t hash = p << (64 - h.s.chunks->like.w) | 1;

		if (!check_chance(percent))
			continue;
		shelf_add(&h.s, &hash, 1, true);
		model_add(&h.m, hash);
		follow(&h);
	}
	history_end(&h);
}

/* The same items give the same chunks: by one edit from nothing, and by a pack. */
static void
run_canonical(const void *arg)
{
	world w = world_new(MOST_ITEMS);
	size_t n = CKF_CHUNK_MAX + check_below(MOST_ITEMS - CKF_CHUNK_MAX); /* no longer whole */
	uint64_t *hashes = world_hashes(&w, KIND_RANDOM, n);
	ckf_params params = draw_table(&w, 1);
	shelf a, b;

	(void)arg;
	CHECK(shelf_new(&a, &params, 4084, 17) && shelf_new(&b, &params, 4084, 17), "no chunks");
	add_in_batches(&b, hashes, n);
	qsort(hashes, n, sizeof *hashes, compare_hashes);
	shelf_add(&a, hashes, n, true);
	shelf_pack(&b);
	CHECK(a.n == b.n, "%zu rows, and %zu packed", a.n, b.n);
	for (size_t i = 0; i < a.n; i++)
		CHECK(a.rows[i].start == b.rows[i].start && a.rows[i].size == b.rows[i].size &&
				  memcmp(a.rows[i].bytes, b.rows[i].bytes, a.rows[i].size) == 0,
			  "row %zu differs", i);
	shelf_free(&a);
	shelf_free(&b);
	free(hashes);
}

/*
 * Prefixes of the same w, but another c: a filter whose rule joins more prefixes than the
 * table's (c is less) is refused, as an item of it would be denied else.  Only an empty filter
 * is not, since it has no items.
 */
static void
run_other_rule(const void *arg)
{
	static const double rates[] = {0.1, 0.01, 0.001}; /* c is 4, 7, 8 */
	double filter_fpr = rates[check_below(3)];
	double table_fpr = rates[1 + check_below(2)]; /* at 0.1 chunks take a longer prefix */
	unsigned w = 20 + (unsigned)check_below(10);
	int64_t most = INT64_C(1) << w; /* little less than what prefixes of w bits keep the rate of */
	ckf_params of_table =
		params_of((int64_t)(0.9 * table_fpr * (double)most) / 8 * 7, table_fpr, false, false, 4);
	ckf_params of_filter =
		params_of((int64_t)(0.9 * filter_fpr * (double)most) / 8 * 7, filter_fpr, false, false, 4);
	uint64_t hashes[1000];
	ckf_status status;
	owned filter, empty;
	shelf s;

	(void)arg;
	for (int i = 0; i < 1000; i++) /* half of them with prefixes that get their 1 */
		hashes[i] = check_random() & ~(i % 2 ? UINT64_C(0) : UINT64_C(255) << (64 - w));
	CHECK(shelf_new(&s, &of_table, 0, 0), "no chunks");
	build_bulk(&filter, &of_filter, hashes, 1000);
	CHECK(s.chunks->like.w == w && filter.filter.w == w, "w %d and %d, must be %u",
		  s.chunks->like.w, filter.filter.w, w);
	build_bulk(&empty, &of_filter, hashes, 1000);
	CHECK(owned_rebuild_hashes(&empty, CKF_REMOVE_MANY, hashes, 1000) == CKF_OK &&
			  empty.filter.w == w && empty.filter.count == 0,
		  "1000 items removed, %llu left", (unsigned long long)empty.filter.count);
	CHECK(shelf_merge(&s, &empty) == CKF_OK, "refused an empty filter");
	status = shelf_merge(&s, &filter);
	CHECK(status == (filter.filter.c >= s.chunks->like.c ? CKF_OK : CKF_PRECISION),
		  "c %d into %d: status %d", filter.filter.c, s.chunks->like.c, status);
	for (int i = 0; i < 1000 && status == CKF_OK; i++)
		CHECK(shelf_copies(&s, hashes[i]) > 0, "FALSE NEGATIVE: an item of another rule");
	owned_free(&empty);
	owned_free(&filter);
	shelf_free(&s);
}

/* --------------------------------------------------------------- sizes */

enum
{
	ROW = 17,   /* bytes that a row takes in SQLite, beside its chunk */
	PAGE = 4084 /* bytes of a page for rows */
};

/* Bits of an item, of what those of the value are. */
static double
beside_value(const shelf *s, const uint64_t *hashes, size_t n, const ckf_params *params)
{
	owned value;
	double ratio;

	build_bulk(&value, params, hashes, n);
	ratio = (double)(shelf_check(s) + ROW * s->n) / (double)value.filter.size;
	owned_free(&value);
	return ratio;
}

/* Over a doubling of n, built at once and by random adds.  What pages leave empty comes on
 * top of it. */
static void
run_sizes(const void *arg)
{
	size_t n = *(const size_t *)arg, done = 0;
	world w = world_new(2 * n);
	uint64_t *hashes = world_hashes(&w, KIND_RANDOM, 2 * n);
	uint64_t *sorted = check_alloc(2 * n * sizeof *sorted);
	ckf_params params = params_of(1000000, 0.01, false, false, 4);
	double most_bulk = 0, most_grown = 0;
	shelf bulk, grown;

	CHECK(shelf_new(&grown, &params, PAGE, ROW), "no chunks");
	for (size_t now = n; now <= 2 * n; now += n / 12)
	{
		double ratio;

		memcpy(sorted, hashes, now * sizeof *sorted);
		qsort(sorted, now, sizeof *sorted, compare_hashes);
		CHECK(shelf_new(&bulk, &params, PAGE, ROW), "no chunks");
		shelf_add(&bulk, sorted, now, true);
		ratio = beside_value(&bulk, hashes, now, &params);
		most_bulk = ratio > most_bulk ? ratio : most_bulk;
		for (size_t some; done < now; done += some)
		{
			some = now - done < n / 100 ? now - done : n / 100;
			memcpy(sorted, hashes + done, some * sizeof *sorted);
			qsort(sorted, some, sizeof *sorted, compare_hashes);
			shelf_add(&grown, sorted, some, true);
		}
		ratio = beside_value(&grown, hashes, now, &params);
		most_grown = ratio > most_grown ? ratio : most_grown;
		shelf_free(&bulk);
	}
	check_note("n %zu to %zu: at most %.3f of the value's bytes built at once, %.3f grown", n,
			   2 * n, most_bulk, most_grown);
	CHECK(most_bulk < 1.15 && most_grown < 1.25, "too large");
	shelf_free(&grown);
	free(sorted);
	free(hashes);
}

/* ---------------------------------------------------------------- words */

/* The rates of a table, and parameters that are refused. */
static void
run_refusals(const void *arg)
{
	ckf_params params = params_of(1000, 0.01, false, false, 4);
	ckf_chunks chunks;

	(void)arg;
	CHECK(ckf_chunks_init(&chunks, &params) == CKF_OK, "init");
	CHECK(ckf_chunks_fpr(&chunks, chunks.max_count) > 0.04 &&
			  ckf_chunks_fpr(&chunks, chunks.max_count) < 0.0816,
		  "%g at the limit of 8 %%", ckf_chunks_fpr(&chunks, chunks.max_count));
	CHECK(ckf_chunks_fpr(&chunks, 1000) <= 0.01, "the rate at capacity");
	params.fpr = 1;
	CHECK(ckf_chunks_init(&chunks, &params) == CKF_BAD_FPR, "a rate of 1");
	params.capacity = 0;
	CHECK(ckf_chunks_init(&chunks, &params) == CKF_BAD_CAPACITY, "no capacity");
}

int
main(void)
{
	static const size_t sizes[] = {3000, 50000};

	check_begin("chunks");
	check_case(run_ids, NULL, "ids");
	check_case(run_refusals, NULL, "refusals");
	for (uint64_t i = 0; i < check_rounds(300); i++)
		check_case(run_history, NULL, "history %llu", (unsigned long long)i);
	for (uint64_t i = 0; i < check_rounds(300); i++)
		check_case(run_export, NULL, "export %llu", (unsigned long long)i);
	for (uint64_t i = 0; i < check_rounds(40); i++)
		check_case(run_crowd, NULL, "crowd %llu", (unsigned long long)i);
	for (uint64_t i = 0; i < check_rounds(60); i++)
		check_case(run_full, NULL, "full %llu", (unsigned long long)i);
	for (uint64_t i = 0; i < check_rounds(60); i++)
		check_case(run_every_prefix, NULL, "every prefix %llu", (unsigned long long)i);
	for (uint64_t i = 0; i < check_rounds(20); i++)
		check_case(run_canonical, NULL, "canonical %llu", (unsigned long long)i);
	for (uint64_t i = 0; i < check_rounds(30); i++)
		check_case(run_other_rule, NULL, "other rule %llu", (unsigned long long)i);
	if (!LOWERED)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			check_case(run_sizes, &sizes[i], "sizes from %zu", sizes[i]);
	check_note("%u merges into smaller buckets, %u into larger ones, %u into equal ones", merged[0],
			   merged[1], merged[2]);
	check_note(
		"%u exports like the table, %u of a smaller c, %u of a larger b, %u sets, %u refused",
		exported[0], exported[1], exported[2], exported[3], exported[4]);
	return check_end();
}
