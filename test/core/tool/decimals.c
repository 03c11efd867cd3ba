/*
 * decimals.c - the hashes of numbers in decimal digits, a line each, for decimals.py.
 */
#include "cuckoofilter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int
main(void)
{
	static char line[1 << 20];
	ckf_hashes hashes;

	while (fgets(line, sizeof line, stdin) != NULL)
	{
		line[strcspn(line, "\n")] = '\0';
		if (ckf_hash_decimal(line, strlen(line), 0, &hashes))
			printf("%" PRIu64 " %" PRIu64 "\n", hashes.hash, hashes.rounded);
		else
			puts("no number");
	}
	return 0;
}
