# The npm package `cuckoofilter`: the engine and libcuckoofilter in WebAssembly, and JavaScript around
# them.  core/package/package.mk includes this file.  It needs clang, wasm-ld (lld), wasm-opt
# (binaryen), which makes the code a tenth smaller, and wasi-libc for malloc, free and string.h.  Its vsnprintf
# would need functions of the host, and 13 kB more than print.c.

.PHONY: javascript

JS_DIR  := build/javascript/cuckoofilter
JS_WASM := $(JS_DIR)/cuckoofilter.wasm

# Small code: a function is inlined only where the code is no larger for it.  Without 128-bit integers the
# engine multiplies as on 32-bit processors, which is quicker here and needs no library of the compiler.  All
# removals are those of tables in the cache: the others are quicker from 2 MB on, for more code.  Browsers of 2021
# know the three additions to WebAssembly.
# Not -ffreestanding: each copy of a few bytes would be a call of memcpy, and lookups take 1.5 times as long.
WASM_CC    := clang
WASI       := wasm32-wasi
# Not empty if all tools are here.  $(shell) prints the output of a command that fails, so none does.
WASM_TOOLS := $(shell { command -v wasm-ld && command -v wasm-opt && test -f /usr/lib/$(WASI)/libc.a; } > /dev/null && command -v $(WASM_CC) || :)
WASM_FLAGS := --target=$(WASI) -std=c11 -Oz -mllvm -inline-threshold=0 -mbulk-memory -mnontrapping-fptoint -msign-ext -nostdlib -fvisibility=hidden $(WARN) \
	-U__SIZEOF_INT128__ -DCKF_INLINE='static inline' -DCKF_MOST_CACHED=SIZE_MAX -Icore -Icore/package/c -isystem /usr/include/$(WASI) -Ibuild/wasm/include
# The stack is the lowest part of the memory and grows downwards, so its last kilobyte is not used; wasm-opt
# folds offsets into loads because of that.
WASM_LINK  := -Wl,--no-entry,--gc-sections,--strip-all,-z,stack-size=262144,--stack-first
# The functions of libcuckoofilter that filter.js calls itself.
WASM_CALLS := version create open copy free count fpr union sum intersect union_many sum_many compact build build_end build_free

WASM_SRC := $(wildcard core/*/*.c core/package/c/*.c core/package/javascript/wasm/*.c)
WASM_OBJ := $(WASM_SRC:%.c=build/wasm/%.o)

# xxHash's header alone: the rest of the system's headers is of another machine.
build/wasm/include/xxhash.h:
	@mkdir -p $(@D)
	@cp "$$(echo '#include <xxhash.h>' | $(CC) -E - | sed -n 's/^# 1 "\(.*xxhash\.h\)".*/\1/p' | head -n 1)" $@

build/wasm/%.o: %.c build/wasm/include/xxhash.h
	@mkdir -p $(@D)
	$(SAY)$(WASM_CC) $(WASM_FLAGS) $(C_DEPS) -c $< -o $@

$(JS_WASM): $(WASM_OBJ)
	@mkdir -p $(@D)
	$(SAY)$(WASM_CC) --target=$(WASI) -nostdlib $(WASM_LINK) $(WASM_CALLS:%=-Wl,--export=cuckoofilter_%) -Wl,--export=malloc,--export=free $^ /usr/lib/$(WASI)/libc.a -o build/wasm/linked.wasm
	$(if $(filter 1,$(V)),,@)wasm-opt --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --low-memory-unused -Oz --converge build/wasm/linked.wasm -o $@

JS_FILES := $(wildcard core/package/javascript/*.js core/package/javascript/*.ts core/package/javascript/README.md)

javascript: $(JS_WASM) $(JS_FILES:core/package/javascript/%=$(JS_DIR)/%) $(JS_DIR)/package.json

$(JS_DIR)/%: core/package/javascript/%
	@mkdir -p $(@D)
	@cp $< $@

$(JS_DIR)/package.json: core/package/javascript/package.json core/cuckoofilter.h
	@mkdir -p $(@D)
	@sed 's/@VERSION@/$(VERSION)/' $< > $@

-include $(wildcard build/wasm/core/*/*.d build/wasm/core/package/c/*.d build/wasm/core/package/javascript/wasm/*.d)

# The suites skip what this machine has no tools for.
test-bindings-build: $(if $(WASM_TOOLS),javascript)

# ---------------------------------------------------------------------------
# `make demo-web`: a page that asks filters which PostgreSQL made, in one file that needs no server
# ---------------------------------------------------------------------------

.PHONY: demo-web demo-web-page

DEMO_WEB := build/demo-web/index.html
DEMO_JS  := core/package/javascript/demo

demo-web:
	@test/install.sh demo-web demo-pg $(if $(PG_HEADERS),,pgdev)
	@test/building.sh "building the engine in WebAssembly" build/demo-web.make.log -j2 javascript
	@test/patiently.sh "making filters in PostgreSQL" build/demo-web.log $(MAKE) -s demo-web-page
	@echo "Open in a browser:  file://$(CURDIR)/$(DEMO_WEB)"
	@test/next.sh "core/package/javascript/README.md, the guide for JavaScript; make demo, make demo-pg" "rm -r build/demo-web"

demo-web-page: $(DEMO_WEB)

$(DEMO_WEB): $(DEMO_JS)/page.sh $(DEMO_JS)/index.html $(DEMO_JS)/style.css $(DEMO_JS)/demo.js $(JS_FILES) $(JS_WASM) build/demo-web/filters.json
	@$(DEMO_JS)/page.sh $(CURDIR)/$(JS_WASM) $(CURDIR)/build/demo-web/filters.json > $@.tmp
	@mv $@.tmp $@

build/demo-web/filters.json: $(DEMO_JS)/filters.sql core/cuckoofilter.h
	test/pg/demo.sh $< $(@D)
