/*
 * common.c - comparison of filters that differ in size, capacity, rate, bucket size, layout, kind,
 * classes of items, and sometimes in the seed.
 *
 * The exact model says what an intersection must have, in any order and through any tree of partial
 * intersections, and how many items the filters share.
 */
#include "forge.h"
#include "inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct plan
{
	const char *name;
	size_t most;     /* items of an input */
	unsigned inputs; /* of an intersection, at most */
	unsigned rounds;
} plan;

enum
{
	MOST_INPUTS = 6,
	TREES = 3
};

/* The inputs of an intersection. */
typedef struct common_case
{
	world world;
	input inputs[MOST_INPUTS];
	const input *order[MOST_INPUTS];
	size_t n;
	bool crowded, old;
	promise promise;
	unsigned classes; /* of the result */
	model common;     /* at the promise's precision */
} common_case;

/* Are there two filters of which one has items of class 7, and the other has them as
 * version 1 hashed them if it has any? */
static bool
hashed_otherwise(const common_case *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t j = 0; j < m->n; j++)
			if (i != j && (m->inputs[i].filter.item_classes & CKF_ITEM_OLD) &&
				(m->inputs[j].filter.item_classes & CKF_ITEM_OTHER))
				return true;
	return false;
}

static void
common_case_draw(common_case *m, const plan *p, size_t least)
{
	model models[MOST_INPUTS];
	ckf_filter like = {0};
	bool empty = false;

	m->world = world_new(p->most);
	m->n = least + check_below(p->inputs - least + 1);
	m->crowded = false;
	for (size_t i = 0; i < m->n; i++)
	{
		input_draw(&m->inputs[i], &m->world, 2);
		m->order[i] = &m->inputs[i];
		m->crowded = m->crowded || m->inputs[i].crowded;
		models[i] = m->inputs[i].model;
		m->classes = i == 0 ? m->inputs[i].filter.item_classes
							: classes_in_common(m->classes, m->inputs[i].filter.item_classes);
		empty = empty || models[i].count == 0;
	}
	m->old = hashed_otherwise(m);
	m->promise = promise_in_common(m->order, m->n);
	like.w = (uint8_t)m->promise.w;
	like.c = (uint8_t)m->promise.c;
	like.b = (uint8_t)m->promise.b;
	like.flags = 1; /* a set */
	model_common(&m->common, models, m->n, &like);
	if (m->classes != 0 && !empty)
		return;
	model_free(&m->common); /* by their classes they share no item, whatever their hashes */
	model_init(&m->common, &like);
}

static void
common_case_free(common_case *m)
{
	for (size_t i = 0; i < m->n; i++)
		input_free(&m->inputs[i]);
	model_free(&m->common);
}

/* The status of an intersection that was refused. */
static void
check_refused(const common_case *m, ckf_status status)
{
	if (status == CKF_SEED_DIFFERS)
		CHECK(m->promise.seeds_differ, "seeds do not differ");
	else if (status == CKF_OLD_ITEMS)
		CHECK(m->old, "no class is hashed otherwise");
	else
		CHECK(status == CKF_PRECISION && (m->crowded || may_refuse(&m->promise, &m->common)),
			  "status %d of %llu items at w %u", status, (unsigned long long)m->common.count,
			  m->promise.w);
}

/* The result must contain each item that is in all inputs, and may have items of each class
 * that all inputs may have. */
static void
check_nothing_lost(const common_case *m, const owned *result)
{
	uint64_t hash;
	uint32_t copies;

	for (size_t at = 0; map_next(&m->common.truth, &at, &hash, &copies);)
		CHECK(ckf_contains(&result->filter, hash), "LOST: hash %#llx", (unsigned long long)hash);
	for (unsigned bit = 1; bit < CKF_ITEM_HASH; bit *= 2)
	{
		bool asked = true;

		for (size_t i = 0; i < m->n; i++)
			asked = asked && ckf_may_hold(&m->inputs[i].filter.filter, bit);
		CHECK(!asked || ckf_may_hold(&result->filter, bit), "items of class bit %u are refused",
			  bit);
	}
}

static void
check_exact(const common_case *m, const owned *result)
{
	const ckf_filter *filter = &result->filter;

	promise_check(&m->promise, result);
	CHECK(filter->count == m->common.count, "%llu items, must be %llu",
		  (unsigned long long)filter->count, (unsigned long long)m->common.count);
	if (filter->count == 0)
		CHECK(filter->size == CKF_HEADER_SIZE && filter->w == 64, "%zu bytes for nothing",
			  filter->size);
	else
	{
		CHECK((filter->encoding == CKF_HASHES) == (m->promise.w == 64), "encoding %d",
			  filter->encoding);
		model_check(&m->common, result);
	}
	check_nothing_lost(m, result);
}

/* ------------------------------------------------------------- two at a time */

static void
run_pairs(const void *arg)
{
	const plan *p = arg;

	for (uint64_t i = check_rounds(p->rounds); i > 0; i--)
	{
		common_case m;
		owned ab, ba, again;
		ckf_status status;

		common_case_draw(&m, p, 2);
		status = run_rebuild(&ab, CKF_INTERSECT, &m.inputs[0].filter, &m.inputs[1].filter);
		CHECK(run_rebuild(&ba, CKF_INTERSECT, &m.inputs[1].filter, &m.inputs[0].filter) == status,
			  "the other way round is not status %d", status);
		CHECK(status == CKF_SEED_DIFFERS || !m.promise.seeds_differ, "unlike seeds");
		CHECK(status == CKF_OLD_ITEMS || m.promise.seeds_differ || !m.old, "unlike hashes");
		if (status == CKF_OK)
		{
			check_exact(&m, &ab);
			CHECK(owned_same_bytes(&ab, &ba), "the other way round has other bytes");
			CHECK(run_rebuild(&again, CKF_INTERSECT, &ab, NULL) == CKF_OK, "of one filter");
			CHECK(owned_same_bytes(&ab, &again), "an intersection is not its own");
			owned_free(&ab);
			owned_free(&ba);
			owned_free(&again);
		}
		else
			check_refused(&m, status);
		common_case_free(&m);
	}
}

/* -------------------------------------------------------------------- trees */

/* Partial intersections of some inputs, each an ordinary filter. */
static ckf_status
run_tree(owned *result, const input *const *in, size_t n)
{
	size_t left = n > 1 ? 1 + check_below(n - 1) : 0;
	ckf_status status;
	owned a, b;

	if (n == 1)
		return run_rebuild(result, CKF_INTERSECT, &in[0]->filter, NULL);
	status = run_tree(&a, in, left);
	if (status != CKF_OK)
		return status;
	status = run_tree(&b, in + left, n - left);
	if (status == CKF_OK)
	{
		status = run_rebuild(result, CKF_INTERSECT, &a, &b);
		owned_free(&b);
	}
	owned_free(&a);
	return status;
}

/* Do all inputs that count have the same precision? */
static bool
one_precision(const common_case *m)
{
	for (size_t i = 0; i < m->n; i++)
	{
		const ckf_filter *filter = &m->inputs[i].filter.filter;

		if (filter->count > 0 && filter->w != m->promise.w)
			return false;
		if (filter->w < 64 && filter->c != m->promise.c)
			return false;
	}
	return true;
}

/* If the precision differs, an intersection of the more precise inputs first gives fewer chance
 * matches. Each item of the result is in all inputs at the lowest precision. */
static void
check_within(const common_case *m, const owned *result)
{
	const ckf_filter *filter = &result->filter;
	uint64_t prefix;
	uint32_t copies;
	uint64_t in = 0;

	promise_check(&m->promise, result);
	for (size_t at = 0; map_next(&m->common.groups, &at, &prefix, &copies);)
		if (copies > 0)
			in += ckf_contains(filter, m->common.w == 64 ? prefix : prefix << (64 - m->common.w));
	CHECK(in == filter->count, "%llu of %llu items are in all", (unsigned long long)in,
		  (unsigned long long)filter->count);
	check_nothing_lost(m, result);
}

static void
run_trees(const void *arg)
{
	const plan *p = arg;

	for (uint64_t i = check_rounds(p->rounds); i > 0; i--)
	{
		common_case m;
		owned first, other;
		bool has_first = false;

		common_case_draw(&m, p, 1);
		for (int tree = 0; tree < TREES; tree++)
		{
			ckf_status status = run_tree(&other, m.order, m.n);

			inputs_shuffle(m.order, m.n);
			if (status != CKF_OK)
			{
				/* of parts the precision may end, which then have no items but these */
				CHECK(status != CKF_PRECISION || m.crowded || m.promise.w < 64, "refused");
				if (status != CKF_PRECISION)
					check_refused(&m, status);
				continue;
			}
			if (one_precision(&m))
				check_exact(&m, &other);
			else
				check_within(&m, &other);
			if (!has_first)
				first = other;
			else
			{
				CHECK(!one_precision(&m) || owned_same_bytes(&first, &other), "other bytes");
				owned_free(&other);
			}
			has_first = true;
		}
		if (has_first)
			owned_free(&first);
		common_case_free(&m);
	}
}

/* --------------------------------------------------------------- comparisons */

static double
count_truth(const map *truth)
{
	uint64_t hash;
	uint32_t copies;
	double n = 0;
	bool corner = false; /* 0 and 1 are one hash */

	for (size_t at = 0; map_next(truth, &at, &hash, &copies);)
		if (copies > 0)
		{
			n += !(hash <= 1 && corner);
			corner = corner || hash <= 1;
		}
	return n;
}

/* A comparison that is refused because the sizes are too unlike: the larger one's items
 * leave few of the prefixes free. */
static void
check_unlike(const common_case *m)
{
	double a = count_truth(&m->inputs[0].model.truth), b = count_truth(&m->inputs[1].model.truth);

	CHECK(m->promise.w < 64 && (m->crowded || may_be_unlike(a, b, m->promise.w)),
		  "%g and %g items are refused, w %u", a, b, m->promise.w);
}

static void
check_comparison(const common_case *m, const ckf_comparison *found)
{
	double a = count_truth(&m->inputs[0].model.truth), b = count_truth(&m->inputs[1].model.truth);
	double both = count_truth(&m->common.truth), any = a + b - both;
	double error = fabs(found->overlap - both);
	double unit = overlap_error(a - both, b - both, both, m->promise.w, m->promise.c);

	CHECK(found->empty == (m->inputs[0].model.count + m->inputs[1].model.count == 0), "empty");
	CHECK(found->overlap >= 0 && found->jaccard >= 0 && found->jaccard <= 1, "%g items, %g",
		  found->overlap, found->jaccard);
	if (m->promise.w == 64)
	{
		CHECK(error == 0, "%g items in both, must be %g", found->overlap, both);
		CHECK(found->jaccard == (any > 0 ? both / any : 0), "%g", found->jaccard);
		return;
	}
	/* a deletable filter has a copy of each item, unless more items than it keeps share a
	 * prefix */
	for (unsigned i = 0; i < 2; i++)
		CHECK(filter_is_set(&m->inputs[i].filter.filter) ||
				  found->overlap <= (double)m->inputs[i].filter.filter.count,
			  "%.17g items in both, one has %llu copies", found->overlap,
			  (unsigned long long)m->inputs[i].filter.filter.count);
	CHECK(m->crowded || both == 0 || may_be_alike(a, b, m->promise.w), "%g and %g items, w %u", a,
		  b, m->promise.w);
	/* eight standard errors, and a few items more for small numbers */
	if (!m->crowded)
		CHECK(error <= 8 * unit + 4, "%g items in both, must be %g (of %g and %g, w %u)",
			  found->overlap, both, a, b, m->promise.w);
}

static void
run_comparisons(const void *arg)
{
	const plan *p = arg;

	for (uint64_t i = check_rounds(p->rounds); i > 0; i--)
	{
		common_case m;
		ckf_comparison ab, ba;
		ckf_status status;

		common_case_draw(&m, p, 2);
		status = run_comparison(&ab, &m.inputs[0].filter, &m.inputs[1].filter);
		CHECK(run_comparison(&ba, &m.inputs[1].filter, &m.inputs[0].filter) == status, "status");
		CHECK(status == CKF_SEED_DIFFERS || !m.promise.seeds_differ, "unlike seeds");
		if (status == CKF_UNLIKE_SIZES)
			check_unlike(&m);
		else if (status == CKF_OK)
		{
			CHECK(ab.overlap == ba.overlap && ab.jaccard == ba.jaccard && ab.empty == ba.empty,
				  "the other way round is %g, not %g", ba.overlap, ab.overlap);
			check_comparison(&m, &ab);
		}
		else
			check_refused(&m, status);
		common_case_free(&m);
	}
}

/* ------------------------------------------------------------------- classes */

/* A filter of these hashes, all of a class. */
static void
build_of(owned *o, unsigned item_class, const uint64_t *hashes, size_t n)
{
	ckf_params params = params_of(0, 0.01, false, false, 4);

	driven_class = item_class;
	build_aggregate(o, &params, hashes, n);
	driven_class = 0;
}

/* Every pair of classes, also as version 1 has them. */
static void
run_classes(const void *arg)
{
	size_t n = *(const size_t *)arg;
	uint64_t *hashes = random_hashes(n);

	for (unsigned x = 0; x < 16; x++)
		for (unsigned y = 0; y < 16; y++)
		{
			unsigned class_x = 1U << x % 8, class_y = 1U << y % 8;
			owned a, b, both;
			ckf_comparison comparison;
			ckf_status status;

			build_of(&a, class_x == CKF_ITEM_OLD ? CKF_ITEM_HASH : class_x, hashes, n);
			build_of(&b, class_y == CKF_ITEM_OLD ? CKF_ITEM_HASH : class_y, hashes, n);
			if (class_x == CKF_ITEM_OLD)
				owned_make_old(&a);
			if (class_y == CKF_ITEM_OLD)
				owned_make_old(&b);
			status = run_rebuild(&both, CKF_INTERSECT, &a, &b);
			CHECK(run_comparison(&comparison, &a, &b) == status, "status");
			if ((class_x == CKF_ITEM_OLD && class_y == CKF_ITEM_OTHER) ||
				(class_y == CKF_ITEM_OLD && class_x == CKF_ITEM_OTHER))
				CHECK(status == CKF_OLD_ITEMS, "status %d", status);
			else
			{
				bool may =
					class_x == class_y || class_x >= CKF_ITEM_HASH || class_y >= CKF_ITEM_HASH;

				CHECK(status == CKF_OK, "status %d", status);
				CHECK((both.filter.count > 0) == may, "classes %#x and %#x", class_x, class_y);
				CHECK((comparison.overlap > 0) == may, "classes %#x and %#x", class_x, class_y);
				CHECK(!comparison.empty, "empty");
				owned_free(&both);
			}
			owned_free(&a);
			owned_free(&b);
		}
	free(hashes);
}

int
main(void)
{
	static const size_t few = 20, many = 3000;
	static const plan plans[] = {
		{"few items", 60, 2, 1500},
		{"some", 3000, 2, 150},
		{"many", 100000, 2, 12},
	};
	static const plan trees[] = {
		{"few items", 60, MOST_INPUTS, 600},
		{"some", 3000, MOST_INPUTS, 60},
		{"many", 60000, 4, 6},
	};

	check_begin("core common");
	for (size_t i = 0; i < 3; i++)
	{
		check_case(run_pairs, &plans[i], "pairs, %s", plans[i].name);
		check_case(run_trees, &trees[i], "trees, %s", trees[i].name);
		check_case(run_comparisons, &plans[i], "comparisons, %s", plans[i].name);
	}
	check_case(run_classes, &few, "classes, hashes");
	check_case(run_classes, &many, "classes, tables");
	return check_end();
}
