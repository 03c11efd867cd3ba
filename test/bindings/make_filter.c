/*
 * make_filter.c - builds filters of items by the C library, for PostgreSQL's suite 053_one_truth.
 * Each line of the input is a case (make_filter.py), each line of the output a filter in hex.
 */
#include "cuckoofilter_program.h"
#include "tsv.h"

#include <stdlib.h>
#include <string.h>

/* Bytes in hex, in place. */
static size_t
unhex(char *hex)
{
	return read_hex(hex, (uint8_t *)hex, strlen(hex));
}

static bool
add(cuckoofilter_builder *builder, char *item, cuckoofilter_error *error)
{
	char *value = item + 2;
	int64_t number = (int64_t)strtoll(value, NULL, 10);

	switch (item[0])
	{
		case 'i':
			return cuckoofilter_build_add(builder, cuckoofilter_integer(number), error);
		case 'r':
			return cuckoofilter_build_add(builder, cuckoofilter_real(strtod(value, NULL)), error);
		case 'x':
		case 'y':
			return cuckoofilter_build_add(builder, cuckoofilter_decimal(value, strlen(value)),
										  error);
		case 't':
			return cuckoofilter_build_add(builder, cuckoofilter_text(value, unhex(value)), error);
		case 'b':
			return cuckoofilter_build_add(builder, cuckoofilter_bytes(value, unhex(value)), error);
		case 'u':
			(void)unhex(value);
			return cuckoofilter_build_add(builder, cuckoofilter_uuid(value), error);
		case 'd':
			return cuckoofilter_build_add(builder, cuckoofilter_date((int32_t)number), error);
		case 's':
			return cuckoofilter_build_add(builder, cuckoofilter_timestamp(number), error);
		case 'z':
			return cuckoofilter_build_add(builder, cuckoofilter_timestamptz(number), error);
		default:
			return item[0] == 'n'; /* NULL */
	}
}

/* fpr, capacity, options, items */
static bool
make(char **fields, cuckoofilter_error *error)
{
	cuckoofilter_builder *builder =
		cuckoofilter_build(strtod(fields[0], NULL), atoll(fields[1]), fields[2], error);
	bool ok = builder != NULL;
	cuckoofilter *filter;
	const uint8_t *bytes;
	size_t size;

	for (char *item = fields[3], *next; ok && item != NULL; item = next)
	{
		next = strchr(item, ',');
		if (next != NULL)
			*next++ = '\0';
		ok = add(builder, item, error);
	}
	filter = ok ? cuckoofilter_build_end(builder, error) : NULL;
	cuckoofilter_build_free(builder);
	if (filter == NULL)
		return false;
	bytes = cuckoofilter_data(filter, &size);
	for (size_t i = 0; i < size; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
	cuckoofilter_free(filter);
	return true;
}

int
main(void)
{
	static char line[1 << 22];
	char *fields[4];

	while (fgets(line, sizeof line, stdin) != NULL)
	{
		cuckoofilter_error error = {0};

		line[strcspn(line, "\n")] = '\0';
		if (split(line, '\t', fields, 4) != 4 || !make(fields, &error))
		{
			fprintf(stderr, "%s\n", error.message);
			return 1;
		}
	}
	return 0;
}
