/*
 * history.c - the operations of random histories, see history.h.
 */
#include "history.h"

uint64_t
history_hash(const shape *s)
{
	uint64_t random = check_random();

	if (s->from == CLUSTERED)
		return (random % 50) * UINT64_C(0x0523456789abcdef) ^ check_random() >> (24 + random % 30);
	if (s->from == SEQUENTIAL)
		return (random % HISTORY_ITEMS) << 40 ^ check_random() >> 40;
	return random;
}

static ckf_params
shape_params(const shape *s, uint64_t seed)
{
	ckf_params params = params_of(s->capacity, s->fpr, s->set, s->plain, s->bucket_size);

	params.seed = seed;
	return params;
}

ckf_status
history_add(history *h, uint64_t hash)
{
	ckf_status status = owned_add(&h->filter, hash);

	model_follow(&h->model, &h->filter.filter);
	if (status == CKF_OK)
		model_add(&h->model, hash);
	CHECK(h->filter.filter.count == h->model.count, "count %llu after an add, must be %llu",
		  (unsigned long long)h->filter.filter.count, (unsigned long long)h->model.count);
	model_check_hash(&h->model, &h->filter, hash);
	return status;
}

void
history_add_new(history *h)
{
	uint64_t n = 1 + check_below(h->shape->burst);

	for (; n > 0 && h->model.count < HISTORY_ITEMS; n--)
		history_add(h, history_hash(h->shape));
}

void
history_add_again(history *h)
{
	uint64_t hash;

	for (uint64_t n = check_below(40); n > 0; n--)
		if (model_member(&h->model, &hash))
			history_add(h, hash);
}

void
history_remove(history *h, uint64_t hash)
{
	bool found = true, stays = stays_in(&h->filter.filter, hash);
	bool expected = !stays && model_removes(&h->model, hash);
	ckf_status status = owned_remove(&h->filter, hash, &found);

	if (h->model.set)
	{
		CHECK(status == CKF_IS_SET, "removal from a set: status %d", status);
		return;
	}
	CHECK(status == CKF_OK, "remove: status %d", status);
	CHECK(found == expected, "remove found %d, must be %d", found, expected);
	model_remove(&h->model, hash, stays);
	CHECK(h->filter.filter.count == h->model.count, "count after a removal");
	model_check_hash(&h->model, &h->filter, hash);
}

void
history_remove_some(history *h)
{
	uint64_t n = check_below(check_chance(20) ? h->model.count + 1 : h->shape->burst);
	uint64_t hash;

	for (; n > 0 && model_member(&h->model, &hash); n--)
		history_remove(h, hash);
}

enum
{
	MOST_MANY = 600
};

void
history_add_many(history *h)
{
	uint64_t hashes[MOST_MANY];
	size_t n = check_below(h->shape->burst < MOST_MANY ? h->shape->burst : MOST_MANY);
	bool few = ckf_few(&h->filter.filter, n);
	ckf_status status;

	if (h->model.count + n > HISTORY_ITEMS)
		return;
	for (size_t i = 0; i < n; i++)
		if (check_chance(70) || !model_member(&h->model, &hashes[i]))
			hashes[i] = history_hash(h->shape);
	if (few && check_chance(50))
	{
		for (size_t i = 0; i < n; i++)
			history_add(h, hashes[i]);
		return;
	}
	status = owned_rebuild_hashes(&h->filter, CKF_ADD_MANY, hashes, n);
	CHECK(status == CKF_OK || status == CKF_PRECISION, "add many: status %d", status);
	model_follow(&h->model, &h->filter.filter);
	for (size_t i = 0; i < n && status == CKF_OK; i++)
		model_add(&h->model, hashes[i]);
	CHECK(h->filter.filter.count == h->model.count, "count %llu after many, must be %llu",
		  (unsigned long long)h->filter.filter.count, (unsigned long long)h->model.count);
}

void
history_remove_many(history *h)
{
	uint64_t hashes[MOST_MANY], n = 0, key;
	bool stays[MOST_MANY];
	uint32_t copies;
	size_t at = h->model.truth.slots > 0 ? check_below(h->model.truth.slots) : 0;
	ckf_status status;

	while (n < MOST_MANY && map_next(&h->model.truth, &at, &key, &copies))
		for (uint64_t some = check_below(copies + 1); some > 0 && n < MOST_MANY; some--)
		{
			stays[n] = stays_in(&h->filter.filter, key);
			hashes[n++] = key;
		}
	status = owned_rebuild_hashes(&h->filter, CKF_REMOVE_MANY, hashes, n);
	if (h->model.set)
	{
		CHECK(status == CKF_IS_SET, "removal of many from a set: status %d", status);
		return;
	}
	CHECK(status == CKF_OK, "remove many: status %d", status);
	model_follow(&h->model, &h->filter.filter);
	for (size_t i = 0; i < n; i++)
		model_remove(&h->model, hashes[i], stays[i]);
	CHECK(h->filter.filter.count == h->model.count, "count %llu after many removals, must be %llu",
		  (unsigned long long)h->filter.filter.count, (unsigned long long)h->model.count);
}

/* An older version adds a number to a filter that it can read. */
static void
add_rounded(history *h)
{
	ckf_hashes item;

	do
		item = item_of_hash(history_hash(h->shape));
	while (driven_numbers && !ckf_is_decimal(item));
	if (!driven_numbers || h->filter.filter.format > CKF_FORMAT_VERSION ||
		owned_add(&h->filter, item.rounded) != CKF_OK)
		return;
	model_follow(&h->model, &h->filter.filter);
	model_add_rounded(&h->model, item);
	model_check_number(&h->filter, item.hash);
}

/* Removing an item that was never added and is not found changes nothing. */
static void
remove_absent(history *h)
{
	uint64_t hash = history_hash(h->shape);
	bool found = true;

	if (h->model.set || map_get(&h->model.groups, model_prefix(&h->model, hash)) > 0)
		return;
	CHECK(owned_remove(&h->filter, hash, &found) == CKF_OK && !found,
		  "an item was removed that was not added");
}

void
history_rehouse(history *h, ckf_operation operation)
{
	size_t before = h->filter.filter.size;
	ckf_status status = owned_rebuild(&h->filter, operation, NULL);

	CHECK(status == CKF_OK || (operation == CKF_GROW && status == CKF_PRECISION),
		  "rebuild %d: status %d", operation, status);
	CHECK(operation != CKF_COMPACT || h->filter.filter.size <= before,
		  "compaction: %zu to %zu bytes", before, h->filter.filter.size);
	model_follow(&h->model, &h->filter.filter);
}

static void
reopen(history *h)
{
	owned copy;

	owned_copy(&copy, &h->filter);
	if (check_chance(20) && !(copy.filter.number_forms & ~CKF_FORM_ROUNDED))
		owned_make_old(&copy);
	owned_free(&h->filter);
	h->filter = copy;
}

shape
history_unlike(const shape *s, bool set)
{
	static const uint8_t sizes[] = {2, 4, 4, 8};
	static const double rates[] = {0.3, 0.05, 0.01, 0.001, 1e-6, 1e-9};
	shape other = *s;

	other.set = set;
	if (check_chance(30))
		return other;
	other.capacity = INT64_C(1) << check_below(20);
	other.fpr = rates[check_below(6)];
	other.plain = check_chance(50);
	other.bucket_size = sizes[check_below(4)];
	other.from = (source)check_below(3);
	return other;
}

/* An aggregate's state that has merged the filter. It may be sent as a filter, and received
 * again. */
static ckf_status
partial_state(owned *state, const owned *in, ckf_operation operation)
{
	ckf_params params;
	ckf_status status;

	ckf_params_default(&params);
	owned_state(state, &params);
	status = owned_collect(state, in, operation);
	if (status == CKF_OK && check_chance(30))
		status = owned_send(state);
	return status;
}

/* union_agg or sum_agg of two, over one state or two. */
static ckf_status
aggregate_two(owned *result, bool sum, const owned *a, const owned *b)
{
	ckf_operation operation = sum ? CKF_MERGE_SUM : CKF_MERGE_UNION;
	ckf_status status = partial_state(result, a, operation);
	owned other;

	if (status == CKF_OK && check_chance(50))
	{
		status = partial_state(&other, b, operation);
		if (status == CKF_OK)
			status = owned_collect(result, &other, operation);
		owned_free(&other);
	}
	else if (status == CKF_OK)
		status = owned_collect(result, b, operation);
	if (status == CKF_OK)
		status = owned_rebuild(result, CKF_FINISH_SUM, NULL);
	if (status != CKF_OK)
		owned_free(result);
	return status;
}

static ckf_status
merge_two(owned *result, bool sum, const owned *a, const owned *b)
{
	if (check_chance(40))
		return aggregate_two(result, sum, a, b);
	return run_rebuild(result, sum ? CKF_SUM : CKF_UNION, a, b);
}

void
history_merge(history *h, bool sum, const shape *s)
{
	history other;

	history_start(&other, s, h->seed);
	for (int i = 0; i < 3; i++)
		history_add_new(&other);
	if (check_chance(50))
		history_add_again(&other);
	if (h->model.count + other.model.count <= HISTORY_ITEMS)
	{
		owned result;
		bool with_itself = check_chance(10);
		const owned *in = with_itself ? &h->filter : &other.filter;
		model inputs[2] = {h->model, with_itself ? h->model : other.model};
		ckf_status status = merge_two(&result, sum, &h->filter, in);

		CHECK(status == CKF_OK || status == CKF_PRECISION, "merge: status %d", status);
		if (status == CKF_OK)
		{
			model_merge(&h->model, inputs, 2, sum, &result.filter);
			model_free(&inputs[0]);
			owned_free(&h->filter);
			h->filter = result;
		}
	}
	history_free(&other);
}

void
history_start(history *h, const shape *s, uint64_t seed)
{
	ckf_params params = shape_params(s, seed);

	h->shape = s;
	h->seed = seed;
	if (check_chance(50))
		owned_create(&h->filter, &params);
	else
	{
		if (check_chance(50))
			params.capacity = 0;
		build_aggregate(&h->filter, &params, NULL, 0);
	}
	model_init(&h->model, &h->filter.filter);
	CHECK(h->model.set == s->set && h->model.b == s->bucket_size, "kind or bucket size");
}

void
history_free(history *h)
{
	owned_free(&h->filter);
	model_free(&h->model);
}

void
history_operate(history *h)
{
	uint64_t choice = check_below(100);
	shape other;

	if (check_chance(20))
		add_rounded(h);
	if (choice < 26)
		history_add_new(h);
	else if (choice < 34)
		history_add_again(h);
	else if (choice < 40)
		history_add_many(h);
	else if (choice < 54)
		history_remove_some(h);
	else if (choice < 60)
		history_remove_many(h);
	else if (choice < 65)
		remove_absent(h);
	else if (choice < 72)
		history_rehouse(h, CKF_GROW);
	else if (choice < 82)
		history_rehouse(h, CKF_COMPACT);
	else if (choice < 87)
		reopen(h);
	else if (choice < 92 && !h->model.set)
	{
		other = history_unlike(h->shape, false);
		history_merge(h, true, &other);
	}
	else if (choice < 94 && h->model.set)
	{
		other = history_unlike(h->shape, check_chance(50));
		history_merge(h, check_chance(50), &other);
	}
	else
		model_check(&h->model, &h->filter);
}
