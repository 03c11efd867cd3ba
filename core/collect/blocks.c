/*
 * blocks.c - the memory of a collector: blocks that the host gives and takes back.
 */
#include "collect/block.h"

#include "thresholds.h"

static size_t
ckf_block_bytes(uint64_t capacity)
{
	return sizeof(ckf_block) + (size_t)capacity * sizeof(uint64_t);
}

ckf_block *
ckf_find_block(ckf_collector *c, uint64_t capacity)
{
	unsigned i;

	for (i = 0; i < 2; i++)
	{
		ckf_block *block = c->spare[i];

		if (block && block->capacity >= capacity &&
			block->capacity / 4 <= capacity + CKF_FIRST_BLOCK)
		{
			c->spare[i] = NULL;
			block->next = NULL;
			block->count = 0;
			return block;
		}
	}
	c->block_size = ckf_block_bytes(capacity);
	return NULL;
}

/* The two largest blocks stay spare blocks; the host may free the others. */
void
ckf_release_block(ckf_collector *c, ckf_block *block)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		if (!c->spare[i] || c->spare[i]->capacity < block->capacity)
		{
			ckf_block *smaller = c->spare[i];

			c->spare[i] = block;
			block = smaller;
			if (!block)
				return;
		}
	block->next = c->spent;
	c->spent = block;
}

void
ckf_collect_give(ckf_collector *c, void *memory, size_t bytes)
{
	ckf_block *block = memory;
	unsigned i =
		!c->spare[0] || (c->spare[1] && c->spare[0]->capacity < c->spare[1]->capacity) ? 0 : 1;
	ckf_block *other = c->spare[i];

	block->capacity = (bytes - sizeof *block) / sizeof(uint64_t);
	c->spare[i] = block; /* the requested block is kept even if it is the smallest */
	if (other)
	{
		other->next = c->spent;
		c->spent = other;
	}
}

void *
ckf_collect_spent(ckf_collector *c)
{
	ckf_block *block = c->spent;

	if (block)
		c->spent = block->next;
	return block;
}
