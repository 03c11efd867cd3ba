/*
 * memory.c - malloc and free in the memory of the WebAssembly instance.
 *
 * The memory is a row of blocks.  Each begins with its size and the size of the block before it, so
 * that free can merge a block with its neighbours.  Free blocks are in lists by the power of two
 * below their size.  The memory grows by what is missing, and never shrinks.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define PAGE ((size_t)65536)
#define ALIGNMENT ((size_t)16)
#define LISTS 32

/* Blocks larger than this cannot be: 4 GB less a page. */
#define MOST ((size_t)0xFFFF0000)

typedef struct ckfw_block
{
	size_t size;   /* bytes with this header, a multiple of ALIGNMENT */
	size_t before; /* size of the block before; 0: there is none */
	bool used;
	uint8_t unused[7];              /* header is ALIGNMENT bytes */
	struct ckfw_block *next, *last; /* of a free block: its neighbours in the list */
} ckfw_block;

#define HEADER ALIGNMENT
#define LEAST ((size_t)32)

_Static_assert(offsetof(ckfw_block, next) <= HEADER, "the list is behind the header");
_Static_assert(sizeof(ckfw_block) <= LEAST, "a free block holds its list");

/* The linker's: where the memory is free from. */
extern uint8_t __heap_base;

static ckfw_block *lists[LISTS];
static ckfw_block *end; /* a used block of no bytes behind the last one; NULL: no memory yet */

static int
ckfw_list_of(size_t size)
{
	return 31 - __builtin_clz((unsigned)size);
}

static ckfw_block *
ckfw_after(ckfw_block *block)
{
	return (ckfw_block *)(void *)((uint8_t *)block + block->size);
}

static void
ckfw_enter(ckfw_block *block)
{
	ckfw_block **list = &lists[ckfw_list_of(block->size)];

	block->used = false;
	block->last = NULL;
	block->next = *list;
	if (*list)
		(*list)->last = block;
	*list = block;
}

static void
ckfw_leave(ckfw_block *block)
{
	if (block->last)
		block->last->next = block->next;
	else
		lists[ckfw_list_of(block->size)] = block->next;
	if (block->next)
		block->next->last = block->last;
	block->used = true;
}

/* Set the size of a block, which the next block has to know. */
static void
ckfw_resize(ckfw_block *block, size_t size)
{
	block->size = size;
	ckfw_after(block)->before = size;
}

/* Put a block into its list, merged with the free blocks beside it. */
static void
ckfw_release(ckfw_block *block)
{
	ckfw_block *after = ckfw_after(block);

	if (!after->used)
	{
		ckfw_leave(after);
		ckfw_resize(block, block->size + after->size);
	}
	if (block->before > 0)
	{
		ckfw_block *before = (ckfw_block *)(void *)((uint8_t *)block - block->before);

		if (!before->used)
		{
			ckfw_leave(before);
			ckfw_resize(before, before->size + block->size);
			block = before;
		}
	}
	ckfw_enter(block);
}

/* Make a free block of at least `size` bytes at the end of the memory. */
static bool
ckfw_grow(size_t size)
{
	size_t start = (size_t)(uintptr_t)&__heap_base;
	size_t pages = size / PAGE + 2, old;
	ckfw_block *block;

	if (!end)
	{
		/* the first block, of no bytes but its header */
		start = (start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		if (start + HEADER > __builtin_wasm_memory_size(0) * PAGE &&
			__builtin_wasm_memory_grow(0, 1) == SIZE_MAX)
			return false;
		end = (ckfw_block *)(void *)start;
		end->size = end->before = 0;
		end->used = true;
	}
	old = __builtin_wasm_memory_grow(0, pages);
	if (old == SIZE_MAX)
		return false;
	block = end;
	/* nobody else grows the memory; the last HEADER bytes are the new end */
	block->size = (old + pages) * PAGE - HEADER - (size_t)(uintptr_t)block;
	end = ckfw_after(block);
	end->size = 0;
	end->used = true;
	end->before = block->size;
	ckfw_release(block);
	return true;
}

/* A free block of at least `size` bytes, or NULL. */
static ckfw_block *
ckfw_find(size_t size)
{
	int list = ckfw_list_of(size);
	ckfw_block *block;

	for (block = lists[list]; block; block = block->next)
		if (block->size >= size)
			return block;
	while (++list < LISTS)
		if (lists[list])
			return lists[list];
	return NULL;
}

/* Called by JavaScript, too. */
__attribute__((export_name("malloc"))) void *
malloc(size_t size)
{
	ckfw_block *block;

	if (size > MOST)
		return NULL;
	size = (size + HEADER + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (size < LEAST)
		size = LEAST;
	block = ckfw_find(size);
	if (!block && ckfw_grow(size))
		block = ckfw_find(size);
	if (!block)
		return NULL;
	ckfw_leave(block);
	if (block->size - size >= LEAST)
	{
		size_t rest = block->size - size;

		ckfw_resize(block, size);
		ckfw_after(block)->used = true;
		ckfw_resize(ckfw_after(block), rest);
		ckfw_release(ckfw_after(block));
	}
	return (uint8_t *)block + HEADER;
}

__attribute__((export_name("free"))) void
free(void *memory)
{
	if (memory)
		ckfw_release((ckfw_block *)(void *)((uint8_t *)memory - HEADER));
}
