/*
 * qf.h - QF, the quotient filter (Bender et al., VLDB 2012).
 *
 * A hash of q + r bits lies as its remainder of r = 9 bits in a slot as near
 * as can be to the slot that its quotient names; the remainders of one
 * quotient are a run, runs that touch are a cluster, and three bits a slot
 * tell them apart.  It keeps one copy for each item added, and is full at 90 %.
 */
#ifndef QF_H
#define QF_H

#include "ref.h"

#define QF_REMAINDER 9
#define QF_SLOT 12

/* A slot, from its lowest bit: */
#define QF_OCCUPIED 1u     /* some item has this slot's number as its quotient */
#define QF_CONTINUATION 2u /* not the first of its run */
#define QF_SHIFTED 4u      /* not where its quotient says */
#define QF_USED 7u         /* some bit of these: the slot holds a remainder */

typedef struct qf
{
	uint8_t *bits;
	uint64_t mask; /* slots - 1 */
	uint64_t count;
	uint64_t most;
	unsigned quotient_bits;
} qf;

static inline bool
qf_init(qf *t, uint64_t bytes)
{
	uint64_t slots = ref_power_of_two(bytes * 8 / QF_SLOT);

	t->mask = slots - 1;
	t->most = slots * 9 / 10;
	t->count = 0;
	t->quotient_bits = (unsigned)__builtin_ctzll(slots);
	t->bits = ref_memory(slots * QF_SLOT / 8);
	return t->bits != NULL;
}

static inline void
qf_free(qf *t)
{
	free(t->bits);
}

REF_INLINE uint32_t
qf_get(const qf *t, uint64_t i)
{
	return (uint32_t)ref_load(t->bits, i * QF_SLOT) & ((1u << QF_SLOT) - 1);
}

REF_INLINE void
qf_set(qf *t, uint64_t i, uint32_t slot)
{
	ref_store(t->bits, i * QF_SLOT, (1u << QF_SLOT) - 1, slot);
}

REF_INLINE uint64_t
qf_next(const qf *t, uint64_t i)
{
	return (i + 1) & t->mask;
}

/* Where the run of a quotient starts, or would start; it must be occupied. */
static inline uint64_t
qf_run(const qf *t, uint64_t quotient)
{
	uint64_t walker = quotient, run;

	while (qf_get(t, walker) & QF_SHIFTED)
		walker = (walker - 1) & t->mask;
	for (run = walker; walker != quotient;)
	{
		do
			run = qf_next(t, run);
		while (qf_get(t, run) & QF_CONTINUATION);
		do
			walker = qf_next(t, walker);
		while (!(qf_get(t, walker) & QF_OCCUPIED));
	}
	return run;
}

REF_INLINE void
qf_split(const qf *t, uint64_t key, uint64_t *quotient, uint32_t *remainder)
{
	uint64_t hash = ref_hash(key) >> (64 - t->quotient_bits - QF_REMAINDER);

	*quotient = hash >> QF_REMAINDER;
	*remainder = (uint32_t)hash & ((1u << QF_REMAINDER) - 1);
}

/* The slot that holds a remainder of the quotient's run (which is in order). */
REF_INLINE bool
qf_find(const qf *t, uint64_t quotient, uint32_t remainder, uint64_t *at, bool *head)
{
	uint64_t i;
	uint32_t slot;

	if (!(qf_get(t, quotient) & QF_OCCUPIED))
		return false;
	i = qf_run(t, quotient);
	*head = true;
	do
	{
		slot = qf_get(t, i);
		if (slot >> 3 == remainder)
		{
			*at = i;
			return true;
		}
		*head = false;
		i = qf_next(t, i);
	} while (slot >> 3 < remainder && qf_get(t, i) & QF_CONTINUATION);
	return false;
}

/* Put an entry at i and move what lies there and on by one, up to a free
 * slot.  The occupied bit belongs to the place and stays. */
static inline void
qf_push(qf *t, uint64_t i, uint32_t entry)
{
	uint32_t here;

	do
	{
		here = qf_get(t, i);
		qf_set(t, i, (here & QF_OCCUPIED) | entry);
		entry = (here & ~QF_OCCUPIED) | QF_SHIFTED;
		i = qf_next(t, i);
	} while (here & QF_USED);
}

/* Add to a quotient that has no room at home. */
static inline void
qf_add_shifted(qf *t, uint64_t quotient, uint32_t remainder, uint32_t home)
{
	uint64_t run, i;
	uint32_t entry = remainder << 3;

	qf_set(t, quotient, home | QF_OCCUPIED);
	run = i = qf_run(t, quotient);
	if (home & QF_OCCUPIED)
	{
		do
		{
			if (qf_get(t, i) >> 3 >= remainder)
				break;
			i = qf_next(t, i);
		} while (qf_get(t, i) & QF_CONTINUATION);
		if (i == run)
			qf_set(t, i, qf_get(t, i) | QF_CONTINUATION);
		else
			entry |= QF_CONTINUATION;
	}
	qf_push(t, i, i == quotient ? entry : entry | QF_SHIFTED);
}

static inline bool
qf_add(qf *t, uint64_t key)
{
	uint64_t quotient;
	uint32_t remainder, home;

	if (t->count >= t->most)
		return false;
	qf_split(t, key, &quotient, &remainder);
	home = qf_get(t, quotient);
	if (home & QF_USED)
		qf_add_shifted(t, quotient, remainder, home);
	else
		qf_set(t, quotient, remainder << 3 | QF_OCCUPIED);
	t->count++;
	return true;
}

static inline bool
qf_contains(const qf *t, uint64_t key)
{
	uint64_t quotient, at;
	uint32_t remainder;
	bool head;

	qf_split(t, key, &quotient, &remainder);
	return qf_find(t, quotient, remainder, &at, &head);
}

/*
 * Take the slot at `hole` away: the shifted slots after it move back by one.
 * `quotient` is that of the slot; head: the next slot, if of the same run,
 * becomes the first of it.
 */
static inline void
qf_pull(qf *t, uint64_t hole, uint64_t quotient, bool head)
{
	uint64_t i = qf_next(t, hole);
	uint32_t entry = qf_get(t, i);

	for (; entry & QF_SHIFTED; hole = i, i = qf_next(t, i), entry = qf_get(t, i))
	{
		uint32_t occupied = qf_get(t, hole) & QF_OCCUPIED;
		uint32_t continuation = head ? 0 : entry & QF_CONTINUATION;

		if (!(entry & QF_CONTINUATION))
			do
				quotient = qf_next(t, quotient);
			while (!(qf_get(t, quotient) & QF_OCCUPIED));
		head = false;
		qf_set(t, hole,
			   (entry & ~QF_USED) | continuation | occupied | (hole == quotient ? 0 : QF_SHIFTED));
	}
	qf_set(t, hole, qf_get(t, hole) & QF_OCCUPIED);
}

static inline bool
qf_remove(qf *t, uint64_t key)
{
	uint64_t quotient, at;
	uint32_t remainder;
	bool head;

	qf_split(t, key, &quotient, &remainder);
	if (!qf_find(t, quotient, remainder, &at, &head))
		return false;
	if (head && !(qf_get(t, qf_next(t, at)) & QF_CONTINUATION))
		qf_set(t, quotient, qf_get(t, quotient) & ~QF_OCCUPIED);
	qf_pull(t, at, quotient, head);
	t->count--;
	return true;
}

static inline uint64_t
qf_bytes(const qf *t)
{
	return (t->mask + 1) * QF_SLOT / 8;
}

#endif
