/*
 * ask.c - look up integers in a filter that a file has:  ask FILE INTEGER...
 *     cc ask.c $(pkg-config --cflags --libs cuckoofilter) -o ask
 */
#include <cuckoofilter_program.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	cuckoofilter_error error = {.message = "nothing to read: ask FILE INTEGER..."};
	cuckoofilter *filter = NULL;
	char *bytes = NULL, *larger, *end;
	size_t size = 0, more = 1;
	int failed = 0;

	for (; file && more > 0 && (larger = realloc(bytes, size + (1 << 20))) != NULL; size += more)
		more = fread((bytes = larger) + size, 1, 1 << 20, file);
	if (bytes && size > 0)
		filter = cuckoofilter_open(bytes, size, &error);
	free(bytes); /* the filter has a copy */
	if (!filter)
		return fprintf(stderr, "%s\n", error.message), 1;
	printf("%llu items, rate %.4f\n", (unsigned long long)cuckoofilter_count(filter),
		   cuckoofilter_fpr(filter));
	for (int i = 2; i < argc; i++)
	{
		long long item = (errno = 0, strtoll(argv[i], &end, 10));
		int valid = end > argv[i] && *end == '\0' && errno == 0;
		int found = valid ? cuckoofilter_contains(filter, cuckoofilter_integer(item), &error) : -1;

		printf("%s: %s\n", argv[i],
			   !valid      ? "not an integer of 64 bits"
			   : found < 0 ? error.message
			   : found > 0 ? "probably"
						   : "certainly not");
		failed |= found < 0;
	}
	cuckoofilter_free(filter);
	return failed;
}
