/*
 * posix.h - what the suites take of POSIX, for Windows: included before every file of a build by
 * mingw-w64 (-include).  A suite that hangs is not ended here.
 */
#ifndef TEST_WINDOWS_POSIX_H
#define TEST_WINDOWS_POSIX_H

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#define SIGALRM 14
#define SIGBUS 7
#define _SC_PAGESIZE 0

/* Windows has no lines in a buffer: write at once. */
#define setvbuf(stream, buffer, mode, size) setvbuf(stream, buffer, _IONBF, 0)

static inline long
sysconf(int name)
{
	(void)name;
	return 4096;
}

static inline unsigned
alarm(unsigned seconds)
{
	return seconds;
}

static inline const char *
strsignal(int number)
{
	return number == SIGSEGV ? "Segmentation fault" : "a signal";
}

/* To the second: the suites take a seed of it. */
#define clock_gettime(clock, now) ((now)->tv_sec = time(NULL), (now)->tv_nsec = 0, (void)(clock))

static inline char *
mkdtemp(char *name)
{
	return _mktemp(name) && _mkdir(name) == 0 ? name : NULL;
}

/* The lines that suites write end as elsewhere. */
__attribute__((constructor)) static void
write_binary(void)
{
	(void)_setmode(1, _O_BINARY);
}

#endif
