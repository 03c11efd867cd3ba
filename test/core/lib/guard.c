/*
 * guard.c - buffers between two pages that trap, see check.h.
 *
 * One mapping: a page of notes, a trap page, the data pages, a trap page.  The
 * buffer starts in the first data page, so the notes are found from it.
 */
#define _GNU_SOURCE
#include "check.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum
{
	PATTERN = 0xa5,
	GARBAGE_BYTES = 4096 /* of large buffers only the ends become garbage */
};

typedef struct guard_notes
{
	size_t size;      /* of the buffer */
	size_t data_size; /* of the data pages */
	uint8_t *data;
	uint8_t *buffer;
} guard_notes;

static size_t held;

static size_t
page_size(void)
{
	static size_t size;

	if (size == 0)
		size = (size_t)sysconf(_SC_PAGESIZE);
	return size;
}

static guard_notes *
notes_of(void *buffer)
{
	uintptr_t page = (uintptr_t)buffer & ~(uintptr_t)(page_size() - 1);

	return (guard_notes *)(page - 2 * page_size());
}

static void
fill_garbage(uint8_t *buffer, size_t size)
{
	size_t ends = size < GARBAGE_BYTES ? size : GARBAGE_BYTES;
	uint8_t byte = (uint8_t)check_noise();

	for (size_t i = 0; i < ends; i++)
	{
		byte = (uint8_t)(byte * 5 + 77);
		buffer[i] = buffer[size - 1 - i] = byte;
	}
}

void *
guard_new(size_t size, size_t align)
{
	size_t page = page_size();
	size_t data_size = size == 0 ? page : (size + page - 1) / page * page;
	uint8_t *map = mmap(NULL, data_size + 3 * page, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	guard_notes *notes = (guard_notes *)map;

	CHECK(map != MAP_FAILED, "mmap of %zu bytes", size);
	notes->size = size;
	notes->data_size = data_size;
	notes->data = notes->buffer = map + 2 * page;
	if (size > 0 && check_noise() % 10 < 7)
		notes->buffer += (data_size - size) / align * align;
	mprotect(map + page, page, PROT_NONE);
	mprotect(map + 2 * page + data_size, page, PROT_NONE);
	if (data_size - size <= page)
	{
		memset(notes->data, PATTERN, (size_t)(notes->buffer - notes->data));
		memset(notes->buffer + size, PATTERN,
			   (size_t)(notes->data + data_size - notes->buffer) - size);
	}
	fill_garbage(notes->buffer, size);
	held++;
	return notes->buffer;
}

static void
check_pattern(const uint8_t *from, const uint8_t *end, const char *where)
{
	for (; from < end; from++)
		CHECK(*from == PATTERN, "a byte %s a buffer was overwritten", where);
}

void
guard_free(void *buffer)
{
	guard_notes *notes;

	if (buffer == NULL)
		return;
	notes = notes_of(buffer);
	CHECK(notes->buffer == buffer, "not a guarded buffer");
	check_pattern(notes->data, notes->buffer, "before");
	check_pattern(notes->buffer + notes->size, notes->data + notes->data_size, "behind");
	munmap(notes, notes->data_size + 3 * page_size());
	held--;
}

size_t
guard_held(void)
{
	return held;
}

void
guard_read_only(void *buffer, bool read_only)
{
	guard_notes *notes = notes_of(buffer);

	mprotect(notes->data, notes->data_size, read_only ? PROT_READ : PROT_READ | PROT_WRITE);
}

void *
guard_copy(const void *bytes, size_t size)
{
	void *copy = guard_new(size, 1);

	if (size > 0)
		memcpy(copy, bytes, size);
	return copy;
}
