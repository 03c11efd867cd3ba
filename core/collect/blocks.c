/*
 * blocks.c - the memory of a collector: blocks that the host gives and takes back.
 */
#include "collect/block.h"

#include "thresholds.h"

ckf_block *
ckf_find_block(ckf_collector *c, uint64_t capacity)
{
	ckf_inside *s = ckf_inside_of(c);
	unsigned i;

	for (i = 0; i < 2; i++)
	{
		ckf_block *block = s->spare[i];

		if (block && block->capacity >= capacity &&
			block->capacity / 4 <= capacity + CKF_FIRST_BLOCK)
		{
			s->spare[i] = NULL;
			block->count = 0;
			return block;
		}
	}
	c->block_size = sizeof(ckf_block) + (size_t)capacity * sizeof(uint64_t);
	return NULL;
}

/* The two largest blocks stay spare blocks; the host may free the others. */
void
ckf_release_block(ckf_collector *c, ckf_block *block)
{
	ckf_inside *s = ckf_inside_of(c);
	unsigned i;

	for (i = 0; i < 2; i++)
		if (!s->spare[i] || s->spare[i]->capacity < block->capacity)
		{
			ckf_block *smaller = s->spare[i];

			s->spare[i] = block;
			block->next = NULL;
			block = smaller;
			if (!block)
				return;
		}
	block->next = s->spent;
	s->spent = block;
}

void
ckf_collect_give(ckf_collector *c, void *memory, size_t bytes)
{
	ckf_inside *s = ckf_inside_of(c);
	ckf_block *block = memory;
	unsigned i =
		!s->spare[0] || (s->spare[1] && s->spare[0]->capacity < s->spare[1]->capacity) ? 0 : 1;
	ckf_block *other = s->spare[i];

	block->capacity = (bytes - sizeof *block) / sizeof(uint64_t);
	block->next = NULL;
	s->spare[i] = block; /* the requested block is kept even if it is the smallest */
	if (other)
	{
		other->next = s->spent;
		s->spent = other;
	}
}

void *
ckf_collect_spent(ckf_collector *c)
{
	ckf_inside *s = ckf_inside_of(c);
	ckf_block *block = s->spent;

	if (block)
		s->spent = block->next;
	return block;
}
