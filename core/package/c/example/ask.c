/*
 * ask.c - ask a filter that lies in a file:  ask FILE INTEGER...
 *
 *     cc ask.c $(pkg-config --cflags --libs cuckoofilter) -o ask
 */
#include <cuckoofilter_program.h>

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	static unsigned char bytes[1 << 24]; /* a filter of 13 million items, at 1 % */
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
	cuckoofilter_error error = {0};
	cuckoofilter *filter = cuckoofilter_open(bytes, size, &error);

	if (file)
		fclose(file);
	if (!filter)
	{
		fprintf(stderr, "%s\n", size ? error.message : "nothing to read: ask FILE INTEGER...");
		return 1;
	}
	printf("%llu items, rate %.4f\n", (unsigned long long)cuckoofilter_count(filter),
		   cuckoofilter_fpr(filter));
	for (int i = 2; i < argc; i++)
	{
		int found = cuckoofilter_contains(filter, cuckoofilter_integer(atoll(argv[i])), &error);

		printf("%s: %s\n", argv[i],
			   found < 0   ? error.message
			   : found > 0 ? "probably"
						   : "certainly not");
	}
	cuckoofilter_free(filter);
	return error.code != CUCKOOFILTER_OK; /* an answer was an error */
}
