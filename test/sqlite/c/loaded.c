/*
 * loaded.c - a program that has the extension linked in, and also loads it from files, which
 * table_loaded.py passes.  It has two connections, and each of them has the extension twice or
 * more.
 */
#include "sqlite3.h"

#include <stdio.h>
#include <string.h>

int sqlite3_cuckoofilter_init(sqlite3 *db, char **error, const void *api);

static const char *const script[] = {
	"CREATE TABLE number AS VALUES (1), (2), (3); ALTER TABLE number RENAME column1 TO n",
	"CREATE TABLE stored AS SELECT cuckoofilter_agg(n, 0.001, 10000) AS f FROM number",
	"CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=0.001, capacity=1000)",
	"BEGIN; INSERT INTO seen VALUES ('a')",
	"PRAGMA writable_schema = RESET",
	"INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_open(f) FROM stored",
	"SELECT 1 / (count(*) = 4) FROM seen WHERE item IN ('a', 1, 2, 3)",
	"SELECT 1 / (cuckoofilter_count(cuckoofilter_export('seen')) = 4)",
	"COMMIT",
};

static int
run(sqlite3 *db, int argc, char **argv)
{
	size_t i;
	int k;

	for (i = 0; i < sizeof(script) / sizeof(script[0]); i++)
	{
		char *error = NULL;

		for (k = 1; k < argc; k++)
			if (sqlite3_load_extension(db, argv[k], "sqlite3_cuckoofilter_init", &error) !=
				SQLITE_OK)
				break;
		if (error || sqlite3_exec(db, script[i], NULL, NULL, &error) != SQLITE_OK)
		{
			printf("%s: %s\n", script[i], error);
			return 1;
		}
	}
	return 0;
}

int
main(int argc, char **argv)
{
	sqlite3 *one, *two;
	int failed = 0;

	sqlite3_auto_extension((void (*)(void))sqlite3_cuckoofilter_init);
	if (sqlite3_open(":memory:", &one) != SQLITE_OK || sqlite3_open(":memory:", &two) != SQLITE_OK)
	{
		puts("not opened");
		return 1;
	}
	sqlite3_enable_load_extension(one, 1);
	sqlite3_enable_load_extension(two, 1);
	failed += run(one, argc, argv);
	failed += run(two, argc, argv);
	sqlite3_close(one);
	sqlite3_close(two);
	if (failed == 0)
		puts("ok");
	return failed;
}
