# The engine for programs: the C library, and what the other languages share.  The Makefile includes
# this file.  The names of the tools and flags are those of the Makefile.

.PHONY: lib install-lib test-bindings-build test-bindings-build-short

# ---------------------------------------------------------------------------
# libcuckoofilter.  Its objects are compiled apart from those of the modules, since it exports
# what cuckoofilter.h and cuckoofilter_program.h declare (CKF_LIBRARY), and the modules nothing.
# ---------------------------------------------------------------------------

# The number of the binary interface.  It rises when a program must be compiled again.
LIB_ABI := 1

LIB_FLAGS := -Icore/package/c -DCKF_LIBRARY
LIB_SRC   := $(wildcard core/*/*.c core/package/c/*.c)
LIB_OBJ   := $(LIB_SRC:%.c=build/lib/obj/%.o)
LIB_A     := build/lib/libcuckoofilter.a

# The file's names: with the version, with the interface's number, and without both.
ifeq ($(shell uname -s),Darwin)
LIB_FILE    := libcuckoofilter.$(VERSION).dylib
LIB_RUN     := libcuckoofilter.$(LIB_ABI).dylib
LIB_LINK    := libcuckoofilter.dylib
LIB_SHARED   = -dynamiclib -install_name $(LIBDIR)/$(LIB_RUN) -compatibility_version $(LIB_ABI) -current_version $(VERSION)
else
LIB_FILE    := libcuckoofilter.so.$(VERSION)
LIB_RUN     := libcuckoofilter.so.$(LIB_ABI)
LIB_LINK    := libcuckoofilter.so
LIB_SHARED   = -shared -Wl,-soname,$(LIB_RUN)
endif

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include

lib: build/lib/$(LIB_LINK) $(LIB_A)
	$(NEXT)'sudo make install-lib, and  cc program.c $$(pkg-config --cflags --libs cuckoofilter)'

build/lib/obj/%.o: %.c
	@mkdir -p $(@D)
	$(SAY)$(CC) $(C_FLAGS) $(LIB_FLAGS) $(C_DEPS) -c $< -o $@

build/lib/$(LIB_LINK): $(LIB_OBJ)
	$(SAY)$(CC) $(LIB_SHARED) $(EXTRA_CFLAGS) $^ -o build/lib/$(LIB_FILE)
	@ln -sf $(LIB_FILE) build/lib/$(LIB_RUN)
	@ln -sf $(LIB_RUN) $@

$(LIB_A): $(LIB_OBJ)
	@rm -f $@
	$(SAY)ar rcs $@ $^

install-lib: lib
	install -d "$(DESTDIR)$(LIBDIR)/pkgconfig" "$(DESTDIR)$(INCLUDEDIR)/cuckoofilter/value"
	install -m 644 build/lib/$(LIB_FILE) $(LIB_A) "$(DESTDIR)$(LIBDIR)"
	ln -sf $(LIB_FILE) "$(DESTDIR)$(LIBDIR)/$(LIB_RUN)"
	ln -sf $(LIB_RUN) "$(DESTDIR)$(LIBDIR)/$(LIB_LINK)"
	install -m 644 core/cuckoofilter.h core/package/c/cuckoofilter_program.h "$(DESTDIR)$(INCLUDEDIR)/cuckoofilter"
	install -m 644 core/value/hashing.h "$(DESTDIR)$(INCLUDEDIR)/cuckoofilter/value"
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' \
		core/package/c/cuckoofilter.pc.in > "$(DESTDIR)$(LIBDIR)/pkgconfig/cuckoofilter.pc"

# ---------------------------------------------------------------------------
# Tests of the C library: as it ships, and with AddressSanitizer.  The linker replaces malloc by
# the test's, which can fail.
# ---------------------------------------------------------------------------

test-bindings-build: test-bindings-build-short build/test/bindings/asan/program

test-bindings-build-short: lib build/test/bindings/program build/test/bindings/make_filter

build/test/bindings/make_filter: test/bindings/make_filter.c $(TEST_SHARED:test/core/%.c=build/test/core/%.o) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -Icore/package/c -Itest/core/lib $^ -lm -o $@

build/test/bindings/program: test/bindings/program.c $(TEST_SHARED:test/core/%.c=build/test/core/%.o) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -Icore/package/c -Itest/core/lib -Wl,--wrap=malloc $^ -lm -o $@

build/test/bindings/asan/program: test/bindings/program.c $(wildcard core/package/c/*.[ch]) $(TEST_SHARED:test/core/%.c=build/test/asan/%.o) $(ASAN_LIB)
	@mkdir -p $(@D)
	$(SAN_CC) $(SANITIZE) -Icore/package/c -Itest/core/lib -Wl,--wrap=malloc $(filter-out %.h,$^) -lm -o $@

-include $(wildcard build/lib/obj/core/*/*.d build/lib/obj/core/package/c/*.d)

include core/package/python/package.mk
include core/package/javascript/package.mk
