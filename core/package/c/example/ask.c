/*
 * ask.c - ask a filter that lies in a regular file:  ask FILE INTEGER...
 *
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
	long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
	void *bytes = size > 0 ? malloc((size_t)size) : NULL;
	cuckoofilter_error error = {.message = "nothing to read: ask FILE INTEGER..."};
	cuckoofilter *filter = NULL;
	int failed = 0;

	if (bytes && fseek(file, 0, SEEK_SET) == 0)
		filter = cuckoofilter_open(bytes, fread(bytes, 1, (size_t)size, file), &error);
	if (!filter)
		return fprintf(stderr, "%s\n", error.message), 1;
	free(bytes); /* the filter has a copy */
	printf("%llu items, rate %.4f\n", (unsigned long long)cuckoofilter_count(filter),
		   cuckoofilter_fpr(filter));
	for (int i = 2; i < argc; i++)
	{
		char *end;
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
