# The Python package `cuckoofilter`, in build/python, from where it can be imported.
# core/package/package.mk includes this file.  The module keeps to the limited API, so the headers of
# any Python from 3.9 on will do.  It exports its entry point only.

.PHONY: python

PYTHON ?= /usr/bin/python3
PYTHON_INCLUDE ?= $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))' 2> /dev/null)

PROGRAM_OBJ := $(patsubst %.c,build/%.o,$(wildcard core/package/c/*.c))
PYTHON_OBJ  := $(patsubst %.c,build/%.o,$(wildcard core/package/python/src/*.c))
PYTHON_SO   := build/python/cuckoofilter/_filter.abi3.so
PYTHON_FILES := $(wildcard core/package/python/cuckoofilter/* core/package/python/sqlite_cuckoofilter/*)

python: $(PYTHON_SO) $(PYTHON_FILES:core/package/python/%=build/python/%) build/python/cuckoofilter/cuckoofilter.so

build/core/package/%.o: core/package/%.c
	@mkdir -p $(@D)
	$(SAY)$(CC) $(C_FLAGS) -Icore/package/c $(if $(findstring /python/,$@),-isystem $(PYTHON_INCLUDE)) $(C_DEPS) -c $< -o $@

$(PYTHON_SO): $(PYTHON_OBJ) $(PROGRAM_OBJ) $(CORE_OBJ)
	@mkdir -p $(@D)
	$(SAY)$(CC) -shared $(EXTRA_CFLAGS) $^ -o $@

build/python/%: core/package/python/%
	@mkdir -p $(@D)
	@cp $< $@

build/python/cuckoofilter/cuckoofilter.so: $(SQLITE_SO)
	@mkdir -p $(@D)
	@cp $< $@

-include $(wildcard build/core/package/c/*.d build/core/package/python/src/*.d)

# Suites and benchmarks skip the package where Python's headers are missing.  No second make builds it, since both
# would write the same files at once.
PYTHON_HERE := $(if $(wildcard $(PYTHON_INCLUDE)/Python.h),python)
test-bindings-build-short: $(PYTHON_HERE)
