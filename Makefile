# cuckoofilter: one engine (core/), two databases (sqlite/, pg/).  `make help` lists the targets.

VERSION := $(shell sed -n 's/^#define CKF_VERSION "\(.*\)"/\1/p' core/cuckoofilter.h)

.DEFAULT_GOAL := all
.PHONY: all help version core sqlite amalgamation install-sqlite demo \
	test test-all test-long test-build test-build-short test-core test-sqlite lint install-deps bench bench-sql bench-join bench-tpc bench-table bench-pg-table bench-bindings fuzz mutate mutate-tiers \
	machines releases soak coverage valgrind dist deb wheel npm pgxn rpm test-packages

# What a shell's user may export for himself, and what changes how the tools of a recipe read their arguments.
unexport CDPATH GREP_OPTIONS POSIXLY_CORRECT

# ---------------------------------------------------------------------------
# Flags.  Names of our own, since PGXS sets CFLAGS and its like for itself.
# ---------------------------------------------------------------------------

OPT      ?= -O2
WARN     := -Wall -Wextra
C_FLAGS  := -std=c11 $(OPT) -fPIC -fvisibility=hidden $(WARN) $(EXTRA_CFLAGS) -Icore
C_DEPS    = -MMD -MP
SANITIZE := -std=c11 -O1 -g -fPIC -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all -DCKF_TEST_BUILD $(WARN) -Icore
SAN_CC   ?= clang

# A rule that builds a file begins with SAY: one short line a file.  V=1 shows the commands instead, make -s shows neither.
silent = $(findstring s,$(firstword -$(MAKEFLAGS)))
SAY    = $(if $(filter 1,$(V))$(silent),,@echo '  $@';)
NEXT   = @$(if $(silent),:,echo) 'Next:  '
# Before a command that root alone may run.
SUDO   = $(if $(filter-out 0,$(shell id -u)),sudo )

all: $(if $(shell $(CC) -E -include sqlite3ext.h -xc /dev/null > /dev/null 2>&1 && echo yes),sqlite)

# ---------------------------------------------------------------------------
# core: objects for the modules, and a library for the tests, plain and with
# AddressSanitizer and UndefinedBehaviorSanitizer
# ---------------------------------------------------------------------------

CORE_SRC  := $(wildcard core/*/*.c)
CORE_OBJ  := $(CORE_SRC:%.c=build/%.o)
CORE_LIB  := build/core/libckf.a
ASAN_LIB  := build/asan/libckf.a
SMALL_LIB := build/small/libckf.a

# The engine changes its way at sizes that small inputs reach with these.
SMALL := -DCKF_FIRST_BLOCK=16 -DCKF_MOST_BLOCK=128 -DCKF_MANY_KEPT=32 -DCKF_MAX_HASHES=40 -DCKF_MAX_BUCKETS_BUILT=64 \
	-DCKF_STEP=64 -DCKF_LARGEST_PART=64 -DCKF_LEAST_SAMPLE=64 \
	-DCKF_CHUNK_LIMIT=100 -DCKF_MOST_CACHED=200

# Of a test build, in which CUCKOOFILTER_PORTABLE=1 turns the processor's own instructions off.
# Linked before the library, it takes the place of the object that ships.
TEST_CPU := build/test/cpu.o

core: $(CORE_LIB)

build/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(SAY)$(CC) $(C_FLAGS) $(C_DEPS) -c $< -o $@

$(TEST_CPU): core/table/cpu.c core/filter/methods.h core/cuckoofilter.h
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -DCKF_TEST_BUILD -c $< -o $@

build/asan/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(SAN_CC) $(SANITIZE) $(C_DEPS) -c $< -o $@

build/small/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(SAN_CC) $(SANITIZE) $(SMALL) $(C_DEPS) -c $< -o $@

$(CORE_LIB): $(CORE_OBJ)
$(ASAN_LIB): $(CORE_SRC:%.c=build/asan/%.o)
$(SMALL_LIB): $(CORE_SRC:%.c=build/small/%.o)

$(CORE_LIB) $(ASAN_LIB) $(SMALL_LIB):
	@mkdir -p $(@D)
	@rm -f $@
	$(SAY)ar rcs $@ $^

# ---------------------------------------------------------------------------
# SQLite: the loadable extension, and everything in one C file
# ---------------------------------------------------------------------------

SQLITE_SRC := $(wildcard sqlite/*.c sqlite/*/*.c)
SQLITE_HEADERS := $(wildcard sqlite/*.h sqlite/*/*.h)
SQLITE_OBJ := $(SQLITE_SRC:%.c=build/%.o)
SQLITE_SO  := build/sqlite/cuckoofilter.$(if $(filter Darwin,$(shell uname -s)),dylib,so)
SQLITE_PLAIN := $(SQLITE_SRC:%.c=build/test/plain/%.o)
SQLITE_TEST_SO := build/test/portable/cuckoofilter.so
SQLITE_DIR ?= /usr/local/lib/sqlite3

sqlite: $(SQLITE_SO)
	$(NEXT)"sqlite3, and there  .load $(SQLITE_SO:.so=)"

build/sqlite/%.o: sqlite/%.c
	@mkdir -p $(@D)
	$(SAY)$(CC) $(C_FLAGS) $(C_DEPS) -c $< -o $@

$(SQLITE_SO): $(SQLITE_OBJ) $(CORE_OBJ)
	$(SAY)$(CC) -shared $(EXTRA_CFLAGS) $^ -o $@

$(SQLITE_TEST_SO): $(SQLITE_OBJ) $(TEST_CPU) $(CORE_LIB)
	@mkdir -p $(@D)
	$(CC) -shared $(EXTRA_CFLAGS) $^ -o $@

# Its zip is made of the last commit, so where there is one.
amalgamation: build/cuckoofilter.c
	@[ ! -e .git ] || { test/install.sh git pgxn && .ci/dist.sh $@; }
	$(NEXT)"compile build/cuckoofilter.c into your program, or build/dist/cuckoofilter-amalgamation-$(VERSION).zip:  sqlite/README.md, In a C program"

build/cuckoofilter.c: sqlite/amalgamate.sh $(wildcard core/*.h core/*/*.[ch] sqlite/*.[ch] sqlite/*/*.[ch])
	@mkdir -p $(@D)
	$(SAY)sqlite/amalgamate.sh > $@.tmp
	@cp sqlite/cuckoofilter_sqlite.h build
	@mv $@.tmp $@

install-sqlite: $(SQLITE_SO)
	install -d "$(DESTDIR)$(SQLITE_DIR)"
	install -m 644 $(SQLITE_SO) "$(DESTDIR)$(SQLITE_DIR)"
	$(NEXT)"sqlite3, and there  .load $(DESTDIR)$(SQLITE_DIR)/cuckoofilter"

include sqlite/package/package.mk

demo:
	@test/demo.sh

# ---------------------------------------------------------------------------
# Tests.  Each suite prints `NAME: N passed, M failed`; test/run.sh adds up.
# ---------------------------------------------------------------------------

# test/core: each file is a suite, into which all of lib/ is linked.
TEST_MAIN   := $(wildcard test/core/*.c)
TEST_SHARED := $(wildcard test/core/lib/*.c)
TEST_SMALL  := $(addprefix build/test/small/,chunks collect unlike)
TEST_CORE   := $(TEST_MAIN:test/core/%.c=build/test/core/%) \
	$(TEST_MAIN:test/core/%.c=build/test/asan/%) $(TEST_SMALL)
TEST_BENCH  := build/test/bench/test_reference
TEST_SQLITE := $(SQLITE_SO) $(SQLITE_TEST_SO) build/test/sqlite/cuckoofilter.so build/test/sqlite/loaded build/cuckoofilter.c build/test/sqlite/hostile build/test/sqlite/memory \
	build/test/sqlite/library build/test/sqlite/handles build/test/sqlite/table_faults build/test/branches/cuckoofilter.so \
	build/test/sqlite/table_hostile build/test/sqlite/table_shared

# What TIER=short of test/run.sh runs.
TEST_SHORT := $(TEST_MAIN:test/core/%.c=build/test/core/%) $(SQLITE_SO) \
	$(addprefix build/test/sqlite/,library plain/hostile plain/loaded plain/table_shared)

PROCESSORS = $(or $(shell getconf _NPROCESSORS_ONLN 2> /dev/null),2)

test: TIER = short
test-all test-long: TIER = all
test test-all test-long: export STARTED := $(shell date +%s)
test test-all test-long:
	@test/install.sh demo test pg $(if $(filter test,$@),,test-all)
	@PG_CONFIG=$(PG_CONFIG) test/pg/headers.sh
	@test/building.sh "building what the suites need" build/test/make.log -j$(PROCESSORS) test-build$(if $(filter test,$@),-short)
	@TIER=$(TIER) test/run.sh $(patsubst test-%,%,$(filter test-long,$@))

test-build: all $(TEST_CORE) $(TEST_SQLITE) $(TEST_BENCH) test-bindings-build

test-build-short: all $(TEST_SHORT) test-bindings-build-short

test-core: $(TEST_CORE)
	@test/run.sh core

test-sqlite: $(TEST_SQLITE)
	@test/run.sh sqlite

lint: build/cuckoofilter.c
	@test/install.sh lint
	@test/run.sh lint

build/test/core/%.o: test/core/%.c
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) $(C_DEPS) -Itest/core/lib -c $< -o $@

build/test/asan/%.o: test/core/%.c
	@mkdir -p $(@D)
	$(SAN_CC) $(SANITIZE) $(C_DEPS) -Itest/core/lib -c $< -o $@

build/test/small/%.o: test/core/%.c
	@mkdir -p $(@D)
	$(SAN_CC) $(SANITIZE) $(SMALL) $(C_DEPS) -Itest/core/lib -c $< -o $@

.SECONDARY: $(TEST_CORE:%=%.o) $(TEST_SHARED:test/core/%.c=build/test/small/%.o)

build/test/core/%: build/test/core/%.o $(TEST_SHARED:test/core/%.c=build/test/core/%.o) $(TEST_CPU) $(CORE_LIB)
	$(CC) $^ -lm -o $@

build/test/asan/%: build/test/asan/%.o $(TEST_SHARED:test/core/%.c=build/test/asan/%.o) $(ASAN_LIB)
	$(SAN_CC) $(SANITIZE) $^ -lm -o $@

build/test/small/%: build/test/small/%.o $(TEST_SHARED:test/core/%.c=build/test/small/%.o) $(SMALL_LIB)
	$(SAN_CC) $(SANITIZE) $^ -lm -o $@

# The benchmarks' reference filters.
$(TEST_BENCH): test/bench/test_reference.c test/bench/references.c $(wildcard test/bench/*.h test/bench/reference/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 $(WARN) $(filter %.c,$^) -lm -o $@

# Loads the module as it is.
build/test/sqlite/library: test/sqlite/c/library.c test/sqlite/c/check.h $(SQLITE_SO)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 $(WARN) $< -lsqlite3 -ldl -o $@

# Asserts in which order SQLite calls a table.
build/test/sqlite/cuckoofilter.so: $(SQLITE_SRC) $(SQLITE_HEADERS) $(CORE_LIB)
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -DCKF_TEST_BUILD -shared $(SQLITE_SRC) $(CORE_LIB) -o $@

# Counts its own work.
build/test/branches/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -fsanitize-coverage=trace-pc $(C_DEPS) -c $< -o $@

build/test/branches/counter.o: test/sqlite/c/counter.c
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -c $< -o $@

build/test/branches/cuckoofilter.so: $(SQLITE_SRC:%.c=build/test/branches/%.o) build/test/branches/counter.o $(CORE_LIB)
	$(CC) -shared $^ -o $@

# The SQLite layer linked into a program (SQLITE_CORE).
build/test/plain/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -O1 -DSQLITE_CORE $(C_DEPS) -c $< -o $@

build/test/sqlite/plain/%: test/sqlite/c/%.c test/sqlite/c/check.h test/sqlite/c/sample.h $(SQLITE_PLAIN) $(CORE_LIB)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O1 $(WARN) -Icore -DSQLITE_CORE $(filter-out %.h,$^) -lsqlite3 -ldl -lpthread -o $@

# The same with sanitizers.  Of handles, so few
# are kept here that a test comes to the end of it.
build/test/sqlite/handles: SANITIZE += -DCKFS_MAX_HANDLE_BYTES=4000 -DCKFS_MAX_NAMES=100
build/test/sqlite/memory: SANITIZE += -DCKFS_MAX_HANDLE_BYTES=1 -DCKFS_MAX_NAMES=20
build/test/sqlite/%: test/sqlite/c/%.c test/sqlite/c/check.h test/sqlite/c/failing.h test/sqlite/c/sample.h $(SQLITE_SRC) $(SQLITE_HEADERS) $(ASAN_LIB)
	@mkdir -p $(@D)
	$(SAN_CC) $(SANITIZE) -DSQLITE_CORE $< $(SQLITE_SRC) $(ASAN_LIB) -lsqlite3 -ldl -lpthread -o $@

# ---------------------------------------------------------------------------
# The engine for programs: C, Python, JavaScript
# ---------------------------------------------------------------------------

include core/package/package.mk

# ---------------------------------------------------------------------------
# Housekeeping
# ---------------------------------------------------------------------------

# A server of one's own, which PG_CONFIG names, has its headers.
bench:
	@test/bench/run.sh

bench-sql:
	@test/bench/sql/run.sh

bench-join:
	@test/bench/join/run.sh

# The kits stay where they are: nothing of them may be here.
bench-tpc:
	@test/install.sh bench-tpc pg pgdev
	@TPCH="$(TPCH)" TPCDS="$(TPCDS)" SSB="$(SSB)" /usr/bin/python3 test/bench/join/tpc.py $(FORMS)

# The languages that this machine can build.
bench-bindings: lib $(PYTHON_HERE) $(if $(WASM_TOOLS),javascript)
	@test/bench/bindings/run.sh

bench-table: $(SQLITE_SO)
	@/usr/bin/python3 test/bench/table.py $(or $(ITEMS),1e6) test/bench/results > build/bench-table.md
	@mv build/bench-table.md test/bench/results/TABLE.md

bench-pg-table:
	@test/install.sh bench-pg-table pg pgdev
	@test/bench/pg_table.py build/bench-pg-table.md $(or $(KEYS),500000 20000000)
	@mv build/bench-pg-table.md test/bench/results/PG_TABLE.md

# Longer rounds than `make test` has time for: each target for SECONDS, N
# mutants, other compilers and machines.
fuzz:
	@test/install.sh test test-all
	@test/fuzz/run.sh $(or $(SECONDS),60)

mutate:
	@test/mutate/mutate.py $(or $(N),50) $(PLACES)

mutate-tiers:
	@test/mutate/tiers.py $(or $(N),30)

machines:
	@test/machines.sh

soak: $(SQLITE_SO)
	@test/install.sh test pg test-all
	@test/soak/run.sh $(or $(ROUNDS),100) $(SECONDS)

coverage:
	@test/coverage/run.sh

valgrind: $(SQLITE_SO)
	@test/install.sh demo test valgrind
	@test/soak/sqlite_valgrind.py

# What people install, in build/dist: all of it, or one package for this machine.
dist:
	@test/install.sh dist deb wheel npm pgxn
	@PG_CONFIG=$(PG_CONFIG) .ci/dist.sh

deb wheel npm pgxn rpm:
	@test/install.sh git $@
	@PG_CONFIG=$(PG_CONFIG) .ci/dist.sh $@
	$(NEXT)"$(next_$@)"

next_deb   = $(SUDO)apt install ./build/dist/PACKAGE.deb
next_wheel = pip install build/dist/cuckoofilter-$(VERSION)-*.whl
next_npm   = npm install build/dist/cuckoofilter-$(VERSION).tgz
next_pgxn  = upload build/dist/cuckoofilter-$(VERSION).zip to PGXN Manager, https://manager.pgxn.org
next_rpm   = $(SUDO)dnf install ./build/dist/PACKAGE.rpm

test-packages:
	@test/install.sh dist deb wheel npm pgxn rpm packages
	@PG_CONFIG=$(PG_CONFIG) test/run.sh packages

install-deps:
	@test/install.sh demo test test-all pg $(if $(PG_HEADERS),,pgdev)

releases:
	@test/releases.sh

version:
	@echo $(VERSION)

help:
	@echo "make                 build what this machine can build"
	@echo "make sqlite          $(SQLITE_SO)"
	@echo "make amalgamation    build/cuckoofilter.c, the whole SQLite extension in one file; its zip in build/dist"
	@echo "make install-sqlite  copy it to $(SQLITE_DIR)  (SQLITE_DIR=, DESTDIR=)"
	@echo "make lib             build/lib/libcuckoofilter.so and .a, for C programs"
	@echo "make install-lib     copy them, the headers and cuckoofilter.pc  (PREFIX=/usr/local, LIBDIR=, DESTDIR=)"
	@echo "make javascript      build/javascript/cuckoofilter, the npm package in WebAssembly  (clang, lld, binaryen)"
	@echo "make windows         build/windows/cuckoofilter.dll, SQLite's extension for Windows  (mingw-w64)"
	@echo "make sqlite-wasm     build/sqlite-wasm/sqlite3.mjs and .wasm, SQLite with the extension in it  (emscripten, wabt, apt-get)"
	@echo "make python          build/python, the Python package cuckoofilter, where it can be imported"
	@echo "make pg              build/pg/cuckoofilter.so and cuckoofilter_join.so, for the PostgreSQL of PG_CONFIG"
	@echo "make install         install it there; also uninstall, installcheck  (PG_CONFIG=, DESTDIR=)"
	@echo "make image DESTDIR=  lib/ and share/extension/ of an image volume, for PostgreSQL 18 and later"
	@echo "make demo            filters at work on real data, in a minute  (TIMER=on: the time of each statement)"
	@echo "make demo-pg         the same in PostgreSQL, on a throw-away cluster, with a join filter"
	@echo "make demo-web        build/demo-web/index.html, a page that asks filters which PostgreSQL made, for any browser"
	@echo "make test            each suite once; also test-core, test-sqlite, test-pg  (INSTALL=no: no apt-get; JOBS=2; SEED=1)"
	@echo "make test-all        all suites: with sanitizers, portable paths, drivers, browsers, too"
	@echo "make lint            format, warnings of two compilers, cppcheck, shellcheck"
	@echo "make test-long       longer rounds of the random suites, an hour; SEED=fresh draws another seed"
	@echo "make bench           the paper's evaluation, 10 minutes; QUICK=1: one"
	@echo "make bench-sql       our functions beside what one would write without them"
	@echo "make bench-join      queries with join filters off, on, in auto and by hand; stars, a warehouse"
	@echo "make bench-tpc       queries of kits that you have, off and auto  (TPCH=, TPCDS=, SSB= their folders; SCALE=1, ROUNDS=3)"
	@echo "make bench-bindings  C, Python and JavaScript beside libbloom, flor and npm's bloom-filters; a minute"
	@echo "make bench-table     filter tables of SQLite beside tables of the keys, ITEMS=1000000"
	@echo "make bench-pg-table  filter tables of PostgreSQL beside tables with a unique index  (KEYS='500000 20000000')"
	@echo "make fuzz            fuzz targets, SECONDS=60 each"
	@echo "make mutate          break the core in N=50 places, one at a time (N=all, PLACES=collect/); what do the tests see?"
	@echo "make mutate-tiers    break the core, sqlite/ and pg/; does make test see what make test-all sees?  (N=30)"
	@echo "make machines        the core's tests with other compilers and processors"
	@echo "make soak            crashes, cancels, memory, load: half an hour; ROUNDS=10: a few minutes"
	@echo "make test-join-regress  PostgreSQL's own suite, and random joins, with join filters"
	@echo "make test-citus      filters in Citus, whose sources you have, on three servers  (CITUS= their folder; TAG= of a clone)"
	@echo "make coverage        which lines and branches the tests reach; build/coverage/html/index.html"
	@echo "make valgrind        the SQLite suites under valgrind, 15 minutes"
	@echo "make deb             Debian's packages, in build/dist; also wheel, npm, pgxn, rpm: each in a minute"
	@echo "make dist            all of them but the RPMs, and for Windows, arm64, sqlpkg and spm: 3 minutes"
	@echo "make test-packages   each installed and used in a bare system; root, 10 to 20 minutes"
	@echo "make releases        make demo and make test on bare systems of Debian 12, 13, sid; parts on 11: an hour"
	@echo "make install-deps    the Debian packages that tests and demo need"
	@echo "make clean           remove what was built"

-include $(wildcard build/core/*/*.d build/asan/core/*/*.d build/small/core/*/*.d \
	build/sqlite/*.d build/sqlite/*/*.d build/test/plain/sqlite/*.d build/test/plain/sqlite/*/*.d \
	build/test/branches/sqlite/*.d build/test/branches/sqlite/*/*.d build/test/core/*.d build/test/core/*/*.d \
	build/test/asan/*.d build/test/asan/*/*.d build/test/small/*.d build/test/small/*/*.d)

# ---------------------------------------------------------------------------
# PostgreSQL: pg/Makefile hands these to PGXS, in build/pg.  PG_CONFIG names
# the server to build for.
# ---------------------------------------------------------------------------

PG_CONFIG ?= pg_config
PGXS_MAKE  = $(if $(filter-out 1,$(words $(CURDIR))),$(error PostgreSQL's PGXS cannot build in a folder whose name has a space: $(CURDIR)))$(if $(filter 1,$(V)),,@)mkdir -p build/pg && $(MAKE) --no-print-directory -C build/pg -f $(CURDIR)/pg/Makefile \
	PG_CONFIG=$(PG_CONFIG) EXTRA_CFLAGS="$(EXTRA_CFLAGS)" $(PG_UNPACKED:%=includedir_server=%)

.PHONY: pg install image uninstall installcheck demo-pg test-pg test-join-regress test-citus

# Debian's client package brings PGXS without the headers.  test/pg/headers.sh unpacks them here.
PG_INCLUDE  = $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)
PG_UNPACKED = $(if $(wildcard $(PG_INCLUDE)/postgres.h),,$(wildcard $(CURDIR)/build/pgdev$(PG_INCLUDE)))
PG_HEADERS  = $(wildcard $(or $(PG_UNPACKED),$(PG_INCLUDE))/postgres.h)
PG_MAJOR   = $(or $(shell $(PG_CONFIG) --version 2>/dev/null | sed 's/[^0-9]*\([0-9]*\).*/\1/'),all)
PG_NEEDS   = $(if $(PG_HEADERS),,$(if $(findstring /,$(PG_CONFIG)),$(if $(wildcard $(PG_CONFIG)),,$(error PG_CONFIG=$(PG_CONFIG) is not a program)))$(error the server headers of PostgreSQL are missing: install postgresql-server-dev-$(PG_MAJOR) \
	(on Debian or Ubuntu), or set PG_CONFIG to the pg_config of a server that has them))

all: $(if $(PG_HEADERS),pg)

pg:
	+$(PG_NEEDS)$(PGXS_MAKE) all
	$(NEXT)"$(SUDO)make install, and in psql  CREATE EXTENSION cuckoofilter;"

install:
	+$(PG_NEEDS)$(PGXS_MAKE) $@
	$(NEXT)"$(if $(DESTDIR),test/pg/staged.sh $(DESTDIR)  shows the settings of a server that uses this folder; )in psql  CREATE EXTENSION cuckoofilter;  or  ALTER EXTENSION cuckoofilter UPDATE;"

uninstall installcheck:
	+$(PGXS_MAKE) $@

# What a server of 18 or later takes from a folder, the form of CloudNativePG's image volumes.
image:
	+$(PG_NEEDS)$(if $(DESTDIR),,$(error make image DESTDIR=FOLDER))$(PGXS_MAKE) install datadir=/share pkglibdir=/lib
	$(NEXT)"in postgresql.conf of PostgreSQL 18 or later  extension_control_path = '$(DESTDIR)/share:\$$system'  and  dynamic_library_path = '$(DESTDIR)/lib:\$$libdir'"

demo-pg:
	@test/pg/demo.sh

test-pg: $(SQLITE_SO)
	@test/run.sh pg

# PostgreSQL's own suite, and random joins, with join filters: half an hour.
test-join-regress:
	@test/install.sh pg
	@test/pg/join_regress.sh

# The sources of Citus stay where they are.
test-citus:
	@CITUS="$(CITUS)" TAG="$(TAG)" test/pg/citus.sh

.PHONY: clean
clean:
	rm -rf build
