/*
 * inputs.c - see inputs.h.
 */
#include "inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thresholds.h"

enum
{
	FLAG_SET = 1, /* FORMAT.md, section 2 */
	FLAG_PLAIN = 2,
	LARGEST_CAPACITY = 41,
	MOST_SINGLE = 4000, /* items that are added or removed one by one */
	MOST_CROWDED = 20000
};

world
world_new(size_t most)
{
	world w = {.most = most};

	/* one draw a statement: every compiler draws the same */
	w.base = check_random();
	w.seed = check_chance(30) ? 0 : check_random();
	w.other_seed = check_chance(15) ? 30 : 0;
	w.crowds = check_chance(30);
	w.whole = check_chance(15);
	return w;
}

static uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t
world_hash(const world *w, unsigned kind, uint64_t i)
{
	uint64_t random = mix(w->base + i);

	if (kind > 0 && i < 3) /* the corners */
		return i == 0 ? 0 : i == 1 ? UINT64_MAX : 1;
	switch (kind)
	{
		case 1: /* 30 equal bits at the top */
			return w->base >> 34 << 34 | random >> 30;
		case 2: /* neighbours */
			return w->base + i;
		case 3: /* at the end of the range: what overflows there has nowhere to go */
			return UINT64_MAX - (random >> 44) - i;
		case 4: /* prefixes side by side */
			return w->base + (i << 36);
		default:
			return random;
	}
}

uint64_t *
world_hashes(const world *w, unsigned kind, size_t n)
{
	uint64_t *hashes = check_alloc(n * sizeof *hashes);
	uint64_t first = check_chance(50) ? 0 : check_below(n + 1);

	for (size_t i = 0; i < n; i++)
		hashes[i] = world_hash(w, kind, first + i);
	return hashes;
}

void
repeat_some(uint64_t *hashes, size_t n)
{
	for (size_t i = n / 8; i > 0; i--)
	{
		size_t from = check_below(n), to = check_below(n);

		hashes[to] = hashes[from];
	}
}

size_t
most_items(size_t most, unsigned kind)
{
	uint64_t limit = MOST_CROWDED;

	return kind > 0 && most > limit ? (size_t)limit : most;
}

size_t
draw_size(size_t most)
{
	static const uint64_t edges[] = {9,
									 CKF_FEW_WORDS,
									 CKF_FIRST_BLOCK,
									 2 * CKF_FIRST_BLOCK,
									 CKF_MOST_BLOCK,
									 4 * CKF_MOST_BLOCK,
									 CKF_MAX_HASHES,
									 CKF_MAX_BUCKETS_BUILT,
									 UINT64_C(8) * CKF_MAX_BUCKETS_BUILT,
									 CKF_STEP,
									 CKF_LARGEST_PART};
	uint64_t edge, size;

	if (check_chance(25))
		return check_below(20);
	do
		edge = edges[check_below(sizeof edges / sizeof *edges)];
	while (edge > most);
	size = check_chance(25) ? edge + check_below(5) - 2 : edge * (50 + check_below(100)) / 100;
	return size < most ? size : most;
}

ckf_params
draw_params(const world *w)
{
	static const uint8_t sizes[] = {2, 4, 4, 8};
	static const double rates[] = {0.7,  0.3,  0.1,  0.03,  0.01,  0.01,  0.01, 0.001,
								   1e-4, 1e-5, 1e-7, 1e-10, 1e-13, 1e-15, 1e-18};
	ckf_params params;
	uint8_t bytes[CKF_HEADER_SIZE];

	ckf_params_default(&params);
	params.fpr = rates[check_below(check_chance(80) ? 9 : 15)];
	if (w->narrow)
		params.fpr = rates[check_chance(8) ? check_below(2) : 2 + check_below(7)];
	params.set = check_chance(w->narrow ? 5 : 30);
	params.plain = check_chance(40);
	params.bucket_size = sizes[check_below(4)];
	params.seed = check_chance(w->other_seed) ? check_random() : w->seed;
	if (check_chance(w->narrow && params.fpr < 0.3 ? 90 : 40))
		return params;
	params.capacity = INT64_C(1) << check_below(check_chance(80) ? 20 : LARGEST_CAPACITY);
	if (check_chance(70))
		params.capacity += (int64_t)check_below((uint64_t)params.capacity);
	if (ckf_create(&params, bytes) != CKF_OK)
		params.capacity = 0;
	return params;
}

/* --------------------------------------------------------------- one input */

/* Add them as `status` says that they went in. */
static void
note_added(input *in, const uint64_t *hashes, size_t n, ckf_status status)
{
	CHECK(status == CKF_OK || status == CKF_PRECISION, "add: status %d", status);
	model_follow(&in->model, &in->filter.filter);
	for (size_t i = 0; i < n && status == CKF_OK; i++)
		model_add(&in->model, hashes[i]);
}

/* A filter that was created empty: items at once, or one by one. */
static void
build_created(input *in, ckf_params *params, const uint64_t *hashes, size_t n)
{
	if (params->capacity == 0)
		params->capacity = 1 + (int64_t)check_below(n + 1);
	if (ckf_create(params, (uint8_t[CKF_HEADER_SIZE]){0}) != CKF_OK)
		params->capacity = 1;
	if (ckf_create(params, (uint8_t[CKF_HEADER_SIZE]){0}) != CKF_OK)
		params->fpr = 0.01;
	owned_create(&in->filter, params);
	model_init(&in->model, &in->filter.filter);
	if (n > MOST_SINGLE || check_chance(50))
	{
		note_added(in, hashes, n, owned_rebuild_hashes(&in->filter, CKF_ADD_MANY, hashes, n));
		return;
	}
	for (size_t i = 0; i < n; i++)
		note_added(in, hashes + i, 1, owned_add(&in->filter, hashes[i]));
}

/* More copies of some, up to saturation and past it. */
static void
add_copies(input *in, const uint64_t *hashes, size_t n)
{
	for (uint64_t some = check_below(60); n > 0 && some > 0; some--)
	{
		uint64_t hash = hashes[check_below(n < 30 ? n : 30)];

		note_added(in, &hash, 1, owned_add(&in->filter, hash));
	}
	if (n > 0 && check_chance(30))
		note_added(in, hashes, n, owned_rebuild_hashes(&in->filter, CKF_ADD_MANY, hashes, n));
}

/* Remove some or all of the hashes. The table may be empty then. */
static void
take_out(input *in, const uint64_t *hashes, size_t n)
{
	for (size_t some = check_chance(50) ? n : check_below(n + 1); some > 0; some--)
	{
		uint64_t hash = hashes[some - 1];
		bool found, stays = stays_in(&in->filter.filter, hash);

		/* 0 and 1 are one item */
		if (hash <= 1 || map_get(&in->model.truth, hash) == 0)
			continue;
		CHECK(owned_remove(&in->filter, hash, &found) == CKF_OK, "remove");
		CHECK(found == (!stays && model_removes(&in->model, hash)), "found %d", found);
		model_remove(&in->model, hash, stays);
	}
}

/* Change a filter: add copies, remove items, compact. A rebuild may be refused, but loses no
 * item. */
static void
change_input(input *in, const uint64_t *hashes, size_t n)
{
	if (!in->model.set && check_chance(30))
		add_copies(in, hashes, n);
	if (!in->model.set && n <= MOST_SINGLE && check_chance(25))
		take_out(in, hashes, n);
	if (check_chance(15))
		CHECK(owned_rebuild(&in->filter, CKF_COMPACT, NULL) == CKF_OK, "compact");
	if (check_chance(10))
		(void)owned_rebuild(&in->filter, CKF_GROW, NULL);
	model_follow(&in->model, &in->filter.filter);
}

/* The filter has the parameters that it was created with. */
static void
check_params(const owned *o, const ckf_params *params)
{
	const ckf_filter *filter = &o->filter;

	CHECK(filter->seed == params->seed && filter->fpr == params->fpr &&
			  filter->b == params->bucket_size && filter_is_set(filter) == params->set &&
			  ((filter->flags & FLAG_PLAIN) != 0) == params->plain,
		  "a filter's parameters");
	CHECK(filter->capacity >= params->capacity, "a filter's capacity");
}

/* Choose parameters with which a filter stays in hashes. Returns the largest number of items:
 * few, or `most` if no table keeps the rate. */
static size_t
stay_whole(ckf_params *params, size_t most)
{
	if (check_chance(50))
	{
		if (check_chance(50))
		{
			params->fpr = 0.01;
			params->capacity = INT64_C(1) << (20 + check_below(LARGEST_CAPACITY - 20));
		}
		return most < 9 ? most : 9;
	}
	params->fpr = 1e-18;
	params->capacity = 0;
	return most;
}

/* Move the numbers of class 8 to the end.  Returns how many there are of the others. */
static size_t
decimals_last(uint64_t *hashes, size_t n)
{
	size_t others = 0;

	for (size_t i = 0; i < n; i++)
		if (!ckf_is_decimal(item_of_hash(hashes[i])))
		{
			uint64_t hash = hashes[i];

			hashes[i] = hashes[others];
			hashes[others++] = hash;
		}
	return others;
}

/* An older version adds numbers. */
static void
add_rounded(input *in, const uint64_t *hashes, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		ckf_hashes item = item_of_hash(hashes[i]);
		ckf_status status = owned_add(&in->filter, item.rounded);

		model_follow(&in->model, &in->filter.filter);
		if (status == CKF_OK)
			model_add_rounded(&in->model, item);
	}
}

static void
draw_one(input *in, const world *w)
{
	ckf_params params = draw_params(w);
	unsigned kind = w->crowds && check_chance(40) ? (unsigned)check_below(HASH_KINDS) : 0;
	size_t most = w->whole ? stay_whole(&params, w->most) : w->most;
	size_t n = check_chance(15) ? 0 : draw_size(most_items(most, kind));
	uint64_t *hashes = world_hashes(w, kind, n);
	size_t all = n;

	if (driven_numbers && check_chance(20)) /* a caller's hashes of numbers, exact ones or not */
		driven_class = CKF_ITEM_HASH;
	else if (driven_numbers && check_chance(40))
		n = decimals_last(hashes, n);
	else if (!driven_numbers &&
			 check_chance(50)) /* as a column's are, where it has no other filter's */
		driven_class = 1U << check_below(7);
	in->crowded = kind > 0;
	if (check_chance(40))
		build_created(in, &params, hashes, n);
	else
	{
		if (n < 1000 || check_chance(50))
			build_aggregate(&in->filter, &params, hashes, n);
		else
			build_bulk(&in->filter, &params, hashes, n);
		model_of_distinct(&in->model, &in->filter, hashes, n);
	}
	change_input(in, hashes, n);
	add_rounded(in, hashes + n, all - n < 500 ? all - n : 500);
	check_params(&in->filter, &params);
	if (check_chance(15) && !(in->filter.filter.number_forms & ~CKF_FORM_ROUNDED))
		owned_make_old(&in->filter);
	driven_class = 0;
	free(hashes);
}

/* A merge's promise, or a filter's own. */
typedef struct promise
{
	uint64_t seed;
	int64_t capacity;
	double fpr;
	unsigned b, c;
	unsigned w; /* 64: whole hashes */
	bool plain, set;
	bool seeds_differ; /* of inputs that are not empty */
} promise;

static unsigned
low_bits_of(double fpr)
{
	unsigned c = 4;

	while (c < 8 && ldexp(fpr, (int)c) < 1)
		c++;
	return c;
}

static void
ask(promise *p, const ckf_filter *in)
{
	p->seed = in->seed > p->seed ? in->seed : p->seed;
	p->capacity = in->capacity > p->capacity ? in->capacity : p->capacity;
	p->fpr = in->fpr > p->fpr ? in->fpr : p->fpr;
	p->b = in->b < p->b ? in->b : p->b;
	if (in->encoding != CKF_HASHES && in->count > 0)
		p->w = in->w < p->w ? in->w : p->w;
	p->plain = p->plain || (in->flags & FLAG_PLAIN);
}

static promise
promise_of(const input *const *in, size_t n, bool sum)
{
	promise p = {.b = 8, .w = 64, .set = !sum};
	const input *first = NULL; /* that is not empty */

	for (size_t i = 0; i < n; i++)
	{
		p.set = p.set || in[i]->model.set;
		if (in[i]->model.count == 0)
			continue;
		if (first == NULL)
			first = in[i];
		p.seeds_differ = p.seeds_differ || in[i]->filter.filter.seed != first->filter.filter.seed;
	}
	for (size_t i = 0; i < n; i++)
		if (first == NULL || in[i]->model.count > 0)
			ask(&p, &in[i]->filter.filter);
	p.c = low_bits_of(p.fpr);
	return p;
}

/* Copies that a filter of w bits may hold at most. */
static double
most_of_precision(double fpr, unsigned w)
{
	return floor(ldexp(fmin(1, fmax(8 * fpr, 0.03)), (int)w));
}

static void
check_rate(const ckf_filter *filter)
{
	double rate = ldexp((double)filter->count, -(int)filter->w);

	if (filter->encoding == CKF_HASHES)
		CHECK(filter->w == 64, "hashes of %d bits", filter->w);
	else
		rate *= 1 + ldexp(2, -(int)filter->c);
	rate = fmin(rate, 1);
	CHECK(fabs(ckf_fpr(filter) - rate) <= 1e-12 * rate, "a rate of %g, must be %g", ckf_fpr(filter),
		  rate);
	CHECK(filter->count == 0 || filter->encoding == CKF_HASHES ||
			  (double)filter->count <= most_of_precision(filter->fpr, filter->w),
		  "%llu copies at w %d pass the precision", (unsigned long long)filter->count, filter->w);
}

static void
check_parameters(const promise *p, const ckf_filter *filter)
{
	CHECK(filter->seed == p->seed, "seed %#llx, must be %#llx", (unsigned long long)filter->seed,
		  (unsigned long long)p->seed);
	CHECK(filter->capacity == p->capacity, "capacity %lld, must be %lld",
		  (long long)filter->capacity, (long long)p->capacity);
	CHECK(filter->fpr == p->fpr && filter->c == p->c, "fpr %g, c %d, must be %g, %u", filter->fpr,
		  filter->c, p->fpr, p->c);
	CHECK(filter->b == p->b, "b %d, must be %u", filter->b, p->b);
	CHECK(((filter->flags & FLAG_SET) != 0) == p->set, "the kind, must be %d", p->set);
	CHECK(((filter->flags & FLAG_PLAIN) != 0) == p->plain, "the layout, must be %d", p->plain);
	CHECK(filter->count == 0 || p->w == 64 || filter->w == p->w, "w %d, must be %u", filter->w,
		  p->w);
}

/* A union or sum of two others, or the state of such an aggregate, where there is one. */
static void
draw_merger(input *in, const world *w, unsigned depth)
{
	input parts[2];
	const input *all[2] = {&parts[0], &parts[1]};
	bool sum = check_chance(60);
	ckf_status status;
	ckf_operation operation;
	bool state;

	for (int i = 0; i < 2; i++)
		input_draw(&parts[i], w, depth - 1);
	state = w->narrow && check_chance(60);
	operation = state ? (sum ? CKF_MERGE_SUM : CKF_MERGE_UNION) : sum ? CKF_SUM : CKF_UNION;
	status = run_rebuild(&in->filter, operation, &parts[0].filter, &parts[1].filter);
	in->crowded = parts[0].crowded || parts[1].crowded;
	if (status == CKF_OK)
	{
		model models[2] = {parts[0].model, parts[1].model};
		promise p = promise_of(all, 2, sum);

		CHECK(!p.seeds_differ, "unlike seeds were merged");
		check_parameters(&p, &in->filter.filter);
		if (!state) /* the items of a state may be more than its rate allows */
			check_rate(&in->filter.filter);
		model_merge(&in->model, models, 2, sum, &in->filter.filter);
	}
	else
	{
		CHECK(status == CKF_PRECISION || status == CKF_SEED_DIFFERS, "merge: status %d", status);
		*in = parts[0];
	}
	for (int i = status == CKF_OK ? 0 : 1; i < 2; i++)
		input_free(&parts[i]);
}

void
input_draw(input *in, const world *w, unsigned depth)
{
	if (depth > 0 && check_chance(w->narrow ? 30 : 15))
		draw_merger(in, w, depth);
	else
		draw_one(in, w);
	CHECK(in->filter.filter.count == in->model.count, "an input of %llu copies, must be %llu",
		  (unsigned long long)in->filter.filter.count, (unsigned long long)in->model.count);
}

void
input_free(input *in)
{
	owned_free(&in->filter);
	model_free(&in->model);
}

/* ---------------------------------------------------------------- precision */

unsigned
prefix_bits(double n, double fpr, unsigned c)
{
	unsigned w = 8;

	while (w <= CKF_MAX_PREFIX && n * (1 + ldexp(2, -(int)c)) > ldexp(fpr, (int)w))
		w++;
	return w;
}

/* ----------------------------------------------------------------- overlaps */

/* e^x - 1 - x, which is x x / 2 where x is small. */
static double
rest_of_exp(double x)
{
	return expm1(x) - x;
}

/*
 * By its definition the estimate is a sum of three, of the items of A, of B and of both
 * together, each from the prefixes that are free: e^(I / 2^w) - 1 - I / 2^w is what two such
 * share, that have I items in common.
 */
double
overlap_error(double only_a, double only_b, double both, unsigned w, unsigned c)
{
	double cells = ldexp(1, (int)w);
	double a = only_a / cells, b = only_b / cells, s = both / cells;

	/* the rule P|1 joins prefixes */
	return sqrt(
		cells * (1 + ldexp(2, -(int)c)) *
		(rest_of_exp(a + b + s) - rest_of_exp(a + s) - rest_of_exp(b + s) + 2 * rest_of_exp(s)));
}

/* Of 2^w prefixes one in 1 + a must be free beside the larger filter's items (FORMAT.md,
 * section 8).  How many are is chance, and so is what a is taken to be. */
static bool
free_prefixes(double a, double b, unsigned w, double sign)
{
	double least = a < b ? a : b, most = a < b ? b : a;
	double wanted = ldexp(1, (int)w) / (1 + least * (1 - 0.4 * sign));

	return sign * (ldexp(1, (int)w) * exp(-most * ldexp(1, -(int)w)) - wanted) <
		   6 * sqrt(wanted) + 6;
}

bool
may_be_unlike(double a, double b, unsigned w)
{
	return w < 64 && free_prefixes(a, b, w, 1);
}

bool
may_be_alike(double a, double b, unsigned w)
{
	return w == 64 || free_prefixes(a, b, w, -1);
}

void
inputs_shuffle(const input **order, size_t n)
{
	for (size_t i = n; i > 1; i--)
	{
		size_t j = check_below(i);
		const input *swap = order[j];

		order[j] = order[i - 1];
		order[i - 1] = swap;
	}
}
