/*
 * mman.h - memory that traps, by the functions of Windows.
 */
#ifndef TEST_WINDOWS_MMAN_H
#define TEST_WINDOWS_MMAN_H

#include <stddef.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 0
#define MAP_ANONYMOUS 0
#define MAP_NORESERVE 0
#define MAP_FAILED ((void *)-1)

/* Of windows.h, whose other names would meet those of the suites. */
__declspec(dllimport) void *VirtualAlloc(void *address, size_t size, unsigned long type,
										 unsigned long protection);
__declspec(dllimport) int VirtualFree(void *address, size_t size, unsigned long type);
__declspec(dllimport) int VirtualProtect(void *address, size_t size, unsigned long protection,
										 unsigned long *old);

enum
{
	WINDOWS_COMMIT_RESERVE = 0x3000,
	WINDOWS_RELEASE = 0x8000,
	WINDOWS_NO_ACCESS = 1,
	WINDOWS_READ_ONLY = 2,
	WINDOWS_READ_WRITE = 4
};

static inline void *
mmap(void *address, size_t size, int protection, int flags, int file, long offset)
{
	void *map = VirtualAlloc(address, size, WINDOWS_COMMIT_RESERVE, WINDOWS_READ_WRITE);

	(void)protection, (void)flags, (void)file, (void)offset;
	return map ? map : MAP_FAILED;
}

static inline int
munmap(void *address, size_t size)
{
	(void)size;
	return VirtualFree(address, 0, WINDOWS_RELEASE) ? 0 : -1;
}

static inline int
mprotect(void *address, size_t size, int protection)
{
	unsigned long old;
	unsigned long new_protection = protection == PROT_NONE   ? WINDOWS_NO_ACCESS
								   : protection == PROT_READ ? WINDOWS_READ_ONLY
															 : WINDOWS_READ_WRITE;

	return VirtualProtect(address, size, new_protection, &old) ? 0 : -1;
}

#endif
