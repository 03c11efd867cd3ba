/*
 * limits.c - ckf_open at the largest sizes and rates, and of the states of old versions.  Which
 * bytes it accepts is compared with a second reader (format/reader_test.py).
 */
#define _GNU_SOURCE
#include "forge.h"
#include "filter/methods.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const forged plain = {
	.encoding = CKF_PLAIN, .b = 8, .f = 4, .w = 10, .c = 4, .m = 64, .capacity = 1000, .fpr = 0.3};

/* The rate is at most 1, however full the table is. */
static void
run_full_rate(const void *arg)
{
	forged x = plain;
	static forgery made;
	ckf_filter filter;

	(void)arg;
	x.count = 2 * x.m * x.b;
	forge(&made, &x);
	CHECK(ckf_open(&filter, made.bytes, made.size, CKF_STORED) == CKF_OK, "open");
	CHECK(ckf_fpr(&filter) == 1, "a rate of %g", ckf_fpr(&filter));
}

/*
 * A table so large that with half as many items more it would be past what a
 * 32-bit machine can address: growth finds one that is smaller, or refuses.  Its
 * pages are never touched; the door that reads no slot believes the count.
 */
static void
run_largest(const void *arg)
{
	forged x = plain;
	unsigned g = 11;
	size_t size = CKF_HEADER_SIZE + 8 + ((size_t)2 * 26000 * 16 << g);
	static forgery made;
	ckf_filter filter;
	uint64_t *rebuild = check_alloc(CKF_REBUILD_SIZE(1));
	ckf_buffers buffers = {0};
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)arg;
	CHECK(bytes != MAP_FAILED, "no address space for %zu bytes", size);
	x.c = 7;
	x.fpr = 0.01;
	x.m = 26000;
	x.f = 16;
	x.w = 30;
	x.count = 780000000;
	forge(&made, &x);
	memcpy(bytes, made.bytes, CKF_HEADER_SIZE);
	bytes[9] = (uint8_t)(x.w + g);
	bytes[10] = (uint8_t)g;
	CHECK(ckf_open(&filter, bytes, size, CKF_STORED) == CKF_OK, "open");
	CHECK(ckf_rebuild_start((ckf_rebuild *)rebuild, CKF_GROW, &filter, NULL) == CKF_OK, "start");
	CHECK(ckf_rebuild_step((ckf_rebuild *)rebuild, &buffers) == CKF_ROOM, "room for nothing");
	CHECK(buffers.dst_size > size && buffers.dst_size <= SIZE_MAX / 2, "%zu bytes grow to %zu",
		  size, buffers.dst_size);
	free(rebuild);
	munmap(bytes, size);
}

/* The states of versions before 1.4: a stored one is told from damaged bytes. */
static void
run_states(const void *arg)
{
	const forged state = {
		.encoding = 3, .flags = 4, .b = 4, .w = 64, .c = 7, .fpr = 0.01, .words = 9};

	(void)arg;
	for (unsigned encoding = 0; encoding < 256; encoding++)
		for (unsigned flags = 0; flags < 256; flags++)
		{
			forged x = state;
			forgery *made = check_alloc(sizeof *made);
			bool is_state = (encoding == 2 || encoding == 3) && flags < 16 && (flags & 4);
			ckf_filter filter;

			x.encoding = (uint8_t)encoding;
			x.flags = (uint8_t)flags;
			forge(made, &x);
			for (int door = 0; door < 3; door++)
			{
				static const ckf_trust doors[] = {CKF_FOREIGN, CKF_STORED, CKF_STATE};
				ckf_status expected =
					is_state && doors[door] != CKF_FOREIGN ? CKF_UNFINISHED : CKF_BAD_BYTES;
				ckf_status status = ckf_open(&filter, made->bytes, made->size, doors[door]);

				CHECK(status == expected, "encoding %u, flags %u: status %d, not %d", encoding,
					  flags, status, expected);
			}
			free(made);
		}
}

/* CUCKOOFILTER_PORTABLE=1, with which suites run a second time, must have an effect. */
static void
run_portable(const void *arg)
{
	const char *portable = getenv("CUCKOOFILTER_PORTABLE");

	(void)arg;
	CHECK(portable == NULL || strcmp(portable, "1") != 0 || !ckf_use_pdep(),
		  "CUCKOOFILTER_PORTABLE=1 was not heard");
}

int
main(void)
{
	check_begin("core limits");
	check_case(run_portable, NULL, "portable paths, if asked for");
	check_case(run_largest, NULL, "a table as large as a machine can address");
	check_case(run_full_rate, NULL, "a rate of 1");
	check_case(run_states, NULL, "fields of states");
	return check_end();
}
