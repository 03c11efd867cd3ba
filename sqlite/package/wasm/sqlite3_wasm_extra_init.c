/*
 * sqlite3_wasm_extra_init.c - gives every connection the functions of cuckoofilter, and
 * generate_series, which SQLite's shell has, too.  SQLite's build for WebAssembly compiles a file
 * of this name, which lies in ext/wasm of its sources beside cuckoofilter.c, the amalgamation.
 */
#define SQLITE_CORE 1
#include "cuckoofilter.c"

#include "../misc/series.c"

int sqlite3_wasm_extra_init(const char *unused);

int
sqlite3_wasm_extra_init(const char *unused)
{
	int rc = sqlite3_auto_extension((void (*)(void))sqlite3_series_init);

	(void)unused;
	return rc == SQLITE_OK ? sqlite3_auto_extension((void (*)(void))sqlite3_cuckoofilter_init) : rc;
}
