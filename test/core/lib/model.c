/*
 * model.c - the exact model, see model.h.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

static uint32_t
most_copies(const model *m)
{
	return m->set ? 1 : 2 * m->b;
}

void
model_init(model *m, const ckf_filter *filter)
{
	memset(m, 0, sizeof *m);
	m->w = filter->w;
	m->c = filter->c;
	m->b = filter->b;
	m->set = filter_is_set(filter);
}

void
model_free(model *m)
{
	map_free(&m->truth);
	map_free(&m->groups);
	map_free(&m->rounded);
}

uint64_t
cut_prefix(uint64_t hash, unsigned w, unsigned c)
{
	uint64_t prefix;

	if (w == 64)
		return hash == 0 ? 1 : hash;
	prefix = hash >> (64 - w);
	return (prefix & ((UINT64_C(1) << c) - 1)) == 0 ? prefix | 1 : prefix;
}

uint64_t
model_prefix(const model *m, uint64_t hash)
{
	return cut_prefix(hash, m->w, m->c);
}

/* A hash with that prefix. */
static uint64_t
hash_of(const model *m, uint64_t prefix)
{
	return m->w == 64 ? prefix : prefix << (64 - m->w);
}

static void
set_group(model *m, uint64_t prefix, uint32_t copies)
{
	uint32_t before = map_get(&m->groups, prefix);

	if (copies > most_copies(m))
		copies = most_copies(m);
	map_set(&m->groups, prefix, copies);
	m->count += copies;
	m->count -= before;
	m->prefixes += copies > 0;
	m->prefixes -= before > 0;
}

void
model_add(model *m, uint64_t hash)
{
	uint64_t prefix = model_prefix(m, hash);

	map_set(&m->truth, hash, m->set ? 1 : map_get(&m->truth, hash) + 1);
	set_group(m, prefix, map_get(&m->groups, prefix) + 1);
}

void
model_of_distinct(model *m, const owned *result, const uint64_t *hashes, size_t n)
{
	bool first = true; /* 0 and 1 are one hash, which has one copy to be removed */

	model_init(m, &result->filter);
	for (size_t i = 0; i < n; i++)
	{
		if (map_get(&m->truth, hashes[i]) > 0)
			continue;
		if (hashes[i] > 1 || first)
			model_add(m, hashes[i]);
		first = first && hashes[i] > 1;
	}
}

bool
model_removes(const model *m, uint64_t hash)
{
	uint32_t copies = map_get(&m->groups, model_prefix(m, hash));

	return copies > 0 && copies < most_copies(m);
}

void
model_add_rounded(model *m, ckf_hashes item)
{
	uint64_t prefix = model_prefix(m, item.rounded);

	map_set(&m->rounded, item.hash, 1);
	set_group(m, prefix, map_get(&m->groups, prefix) + 1);
}

void
model_remove(model *m, uint64_t hash, bool stays)
{
	uint64_t prefix = model_prefix(m, hash);

	map_set(&m->truth, hash, map_get(&m->truth, hash) - 1);
	if (!stays && model_removes(m, hash))
		set_group(m, prefix, map_get(&m->groups, prefix) - 1);
}

/* Pour groups into m, cut to its precision.  What was saturated stays so. */
static void
pour_groups(model *m, const map *groups, unsigned from_w, uint32_t saturated)
{
	uint64_t prefix;
	uint32_t copies;

	for (size_t at = 0; map_next(groups, &at, &prefix, &copies);)
	{
		uint64_t cut = cut_prefix(prefix << (64 - from_w), m->w, m->c);

		if (saturated > 0 && copies == saturated)
			copies = most_copies(m);
		set_group(m, cut, copies + map_get(&m->groups, cut));
	}
}

void
model_follow(model *m, const ckf_filter *filter)
{
	map old = m->groups;
	uint32_t saturated = m->set ? 0 : most_copies(m);
	unsigned old_w = m->w;

	CHECK(m->set == filter_is_set(filter), "the kind changed");
	CHECK(m->b == filter->b, "the bucket size changed");
	if (m->w == filter->w && m->c == filter->c)
		return;
	CHECK(m->count == 0 || filter->w <= m->w, "w grew from %u to %u", m->w, filter->w);
	CHECK(m->count == 0 || m->w == 64 || filter->c <= m->c, "c grew from %u to %u", m->c,
		  filter->c);
	memset(&m->groups, 0, sizeof m->groups);
	m->count = m->prefixes = 0;
	m->w = filter->w;
	m->c = filter->c;
	pour_groups(m, &old, old_w, saturated);
	map_free(&old);
}

static void
pour_truth(model *m, const map *truth)
{
	uint64_t hash;
	uint32_t copies;

	for (size_t at = 0; map_next(truth, &at, &hash, &copies);)
		map_set(&m->truth, hash, m->set ? 1 : map_get(&m->truth, hash) + copies);
}

static void
pour_rounded(model *m, const map *rounded)
{
	uint64_t hash;
	uint32_t copies;

	for (size_t at = 0; map_next(rounded, &at, &hash, &copies);)
		map_set(&m->rounded, hash, 1);
}

void
model_pour(model *m, const model *in)
{
	pour_groups(m, &in->groups, in->w, in->set ? 0 : most_copies(in));
	pour_truth(m, &in->truth);
	pour_rounded(m, &in->rounded);
}

void
model_merge(model *m, const model *inputs, size_t n, bool sum, const ckf_filter *result)
{
	bool set = !sum;
	unsigned w = 64, b = 8;

	model_init(m, result);
	for (size_t i = 0; i < n; i++)
	{
		const model *in = &inputs[i];

		set = set || in->set;
		if (in->count > 0)
		{
			w = in->w < w ? in->w : w;
			b = in->b < b ? in->b : b;
		}
		model_pour(m, in);
	}
	CHECK(m->set == set, "the kind of a union or sum");
	CHECK(m->count == 0 || m->b == b, "b %u of a union or sum, must be %u", m->b, b);
	CHECK(m->w <= w, "w %u of a union or sum, may be %u", m->w, w); /* a large set is cut */
}

uint32_t
model_most_copies(const model *m)
{
	uint64_t prefix;
	uint32_t copies, most = 0;

	for (size_t at = 0; map_next(&m->groups, &at, &prefix, &copies);)
		most = copies > most ? copies : most;
	return most;
}

bool
model_member(const model *m, uint64_t *hash)
{
	uint32_t copies;
	size_t at = m->truth.slots > 0 ? check_below(m->truth.slots) : 0;

	if (map_next(&m->truth, &at, hash, &copies))
		return true;
	at = 0;
	return map_next(&m->truth, &at, hash, &copies);
}

void
model_check_hash(const model *m, const owned *o, uint64_t hash)
{
	uint32_t copies = map_get(&m->groups, model_prefix(m, hash));
	bool in = ckf_contains(&o->filter, hash);

	CHECK(in || map_get(&m->truth, hash) == 0, "FALSE NEGATIVE: hash %#llx",
		  (unsigned long long)hash);
	CHECK(in == (copies > 0), "hash %#llx: contains %d, copies must be %u",
		  (unsigned long long)hash, in, copies);
	CHECK(ckf_copies(&o->filter, hash) == copies, "hash %#llx: %u copies, must be %u",
		  (unsigned long long)hash, ckf_copies(&o->filter, hash), copies);
}

/* A number of class 8 is never denied, and none that an older version added is removed. */
void
model_check_number(const owned *o, uint64_t hash)
{
	ckf_hashes item = item_of_hash(hash);
	bool found = true;

	CHECK(ckf_contains_item(&o->filter, item), "FALSE NEGATIVE: number %#llx, forms %u",
		  (unsigned long long)hash, o->filter.number_forms);
	CHECK(ckf_copies_of_item(&o->filter, item) > 0, "number %#llx without copies",
		  (unsigned long long)hash);
	if (ckf_contains(&o->filter, item.hash) || filter_is_set(&o->filter))
		return;
	CHECK(stays_in(&o->filter, hash), "a removal takes number %#llx", (unsigned long long)hash);
	CHECK(ckf_remove_item((ckf_filter *)&o->filter, item, &found) == CKF_OK && !found,
		  "number %#llx is removed", (unsigned long long)hash);
}

/* The batched lookup against the single one. */
static void
check_many(const owned *o, const uint64_t *hashes, size_t n)
{
	uint8_t *answers = guard_new(n, 1);
	size_t in = ckf_contains_many(&o->filter, hashes, n, answers);
	size_t expected = 0;

	for (size_t i = 0; i < n; i++)
	{
		bool single = ckf_contains(&o->filter, hashes[i]);

		CHECK(answers[i] == single, "contains_many[%zu] of %zu", i, n);
		expected += single;
	}
	CHECK(in == expected, "contains_many counts %zu of %zu", in, expected);
	CHECK(ckf_contains_many(&o->filter, hashes, n, NULL) == expected, "contains_many with no out");
	guard_free(answers);
}

/* A hash that is probably absent, or near one that is present. */
static uint64_t
probe(const model *m, const uint64_t *members, size_t n)
{
	uint64_t hash = check_random();

	if (n > 0 && check_chance(50))
		hash = members[check_below(n)] ^ UINT64_C(1) << check_below(64);
	if (m->w < 64 && check_chance(10))
		hash &= ~(((UINT64_C(1) << m->c) - 1) << (64 - m->w)); /* a prefix that gets its 1 */
	return hash;
}

void
model_check(const model *m, const owned *o)
{
	size_t members = 0, probes = check_rounds(200);
	uint64_t *hashes = guard_new((m->truth.filled + probes) * sizeof *hashes, sizeof *hashes);
	uint64_t key;
	uint32_t copies;

	owned_check(o);
	CHECK(o->filter.count == m->count, "count %llu, must be %llu",
		  (unsigned long long)o->filter.count, (unsigned long long)m->count);
	CHECK(filter_is_set(&o->filter) == m->set, "the kind");
	for (size_t at = 0; map_next(&m->truth, &at, &key, &copies);)
	{
		model_check_hash(m, o, hashes[members++] = key);
		if (ckf_is_decimal(item_of_hash(key)))
			model_check_number(o, key);
	}
	for (size_t at = 0; map_next(&m->rounded, &at, &key, &copies);)
		model_check_number(o, key);
	for (size_t at = 0; map_next(&m->groups, &at, &key, &copies);)
		model_check_hash(m, o, hash_of(m, key));
	for (size_t i = 0; i < probes; i++)
		model_check_hash(m, o, hashes[members + i] = probe(m, hashes, members));
	check_many(o, hashes, members + probes);
	guard_free(hashes);
}
