/*
 * map.c - counts of 64-bit keys, see model.h.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

static size_t
map_slot(const map *m, uint64_t key)
{
	size_t slot = (size_t)((key ^ key >> 31) * UINT64_C(0x9fb21c651e98df25) >> 20);

	for (slot &= m->slots - 1; m->used[slot] && m->keys[slot] != key;)
		slot = (slot + 1) & (m->slots - 1);
	return slot;
}

static void
map_resize(map *m)
{
	map old = *m;

	m->slots = old.slots > 0 ? 2 * old.slots : 64;
	m->keys = check_alloc(m->slots * sizeof *m->keys);
	m->counts = check_alloc(m->slots * sizeof *m->counts);
	m->used = check_alloc(m->slots);
	m->filled = 0;
	memset(m->used, 0, m->slots);
	for (size_t i = 0; i < old.slots; i++)
		if (old.used[i] && old.counts[i] > 0)
			map_set(m, old.keys[i], old.counts[i]);
	map_free(&old);
}

void
map_free(map *m)
{
	free(m->keys);
	free(m->counts);
	free(m->used);
	memset(m, 0, sizeof *m);
}

uint32_t
map_get(const map *m, uint64_t key)
{
	size_t slot;

	if (m->slots == 0)
		return 0;
	slot = map_slot(m, key);
	return m->used[slot] ? m->counts[slot] : 0;
}

void
map_set(map *m, uint64_t key, uint32_t count)
{
	size_t slot;

	if (2 * m->filled >= m->slots)
		map_resize(m);
	slot = map_slot(m, key);
	if (!m->used[slot])
	{
		m->used[slot] = 1;
		m->keys[slot] = key;
		m->filled++;
	}
	m->counts[slot] = count;
}

bool
map_next(const map *m, size_t *at, uint64_t *key, uint32_t *count)
{
	while (*at < m->slots && !(m->used[*at] && m->counts[*at] > 0))
		++*at;
	if (*at >= m->slots)
		return false;
	*key = m->keys[*at];
	*count = m->counts[(*at)++];
	return true;
}
