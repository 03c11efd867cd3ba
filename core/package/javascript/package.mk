# The npm package `cuckoofilter`: the engine and libcuckoofilter in WebAssembly, and JavaScript around
# them.  core/package/package.mk includes this file.  It needs clang, wasm-ld (lld) and wasm-opt
# (binaryen), which makes the code a tenth smaller.

.PHONY: javascript

JS_DIR  := build/javascript/cuckoofilter
JS_WASM := $(JS_DIR)/cuckoofilter.wasm

# Small code: a function is inlined only where the code is no larger for it.  Without 128-bit integers the
# engine multiplies as on 32-bit processors, which is quicker here and needs no library of the compiler.  All
# removals are those of tables in the cache: the others are quicker from 2 MB on, for more code.  Browsers of 2021
# know the three additions to WebAssembly.
WASM_CC    := clang
WASM_FLAGS := --target=wasm32 -std=c11 -Oz -mllvm -inline-threshold=0 -mbulk-memory -mnontrapping-fptoint -msign-ext -ffreestanding -nostdlib -fvisibility=hidden $(WARN) \
	-U__SIZEOF_INT128__ -DCKF_INLINE='static inline' -DCKF_MOST_CACHED=SIZE_MAX -Icore -Icore/package/c -Icore/package/javascript/wasm/libc -Ibuild/wasm/include
# The stack is the lowest part of the memory and grows downwards, so its last kilobyte is not used; wasm-opt
# folds offsets into loads because of that.
WASM_LINK  := -Wl,--no-entry,--gc-sections,--strip-all,-z,stack-size=262144,--stack-first

WASM_SRC := $(wildcard core/*/*.c core/package/c/*.c core/package/javascript/wasm/*.c)
WASM_OBJ := $(WASM_SRC:%.c=build/wasm/%.o)

# xxHash's header alone: the rest of the system's headers is of another machine.
build/wasm/include/xxhash.h:
	@mkdir -p $(@D)
	cp "$$(echo '#include <xxhash.h>' | $(CC) -E - | sed -n 's/^# 1 "\(.*xxhash\.h\)".*/\1/p' | head -n 1)" $@

build/wasm/%.o: %.c build/wasm/include/xxhash.h
	@mkdir -p $(@D)
	$(WASM_CC) $(WASM_FLAGS) $(C_DEPS) -c $< -o $@

$(JS_WASM): $(WASM_OBJ)
	@mkdir -p $(@D)
	$(WASM_CC) --target=wasm32 -nostdlib $(WASM_LINK) $^ -o build/wasm/linked.wasm
	wasm-opt --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --low-memory-unused -Oz --converge build/wasm/linked.wasm -o $@

JS_FILES := $(wildcard core/package/javascript/*.js core/package/javascript/*.ts core/package/javascript/README.md)

javascript: $(JS_WASM) $(JS_FILES:core/package/javascript/%=$(JS_DIR)/%) $(JS_DIR)/package.json

$(JS_DIR)/%: core/package/javascript/%
	@mkdir -p $(@D)
	cp $< $@

$(JS_DIR)/package.json: core/package/javascript/package.json core/cuckoofilter.h
	@mkdir -p $(@D)
	sed 's/@VERSION@/$(VERSION)/' $< > $@

-include $(wildcard build/wasm/core/*/*.d build/wasm/core/package/c/*.d build/wasm/core/package/javascript/wasm/*.d)

# The suites skip what this machine has no tools for.
test-bindings-build: $(if $(shell command -v wasm-ld && command -v wasm-opt && command -v $(WASM_CC)),javascript)

# ---------------------------------------------------------------------------
# `make demo-web`: a page that asks filters which PostgreSQL made, on http://127.0.0.1:8080/
# ---------------------------------------------------------------------------

.PHONY: demo-web demo-web-files

DEMO_WEB := build/demo-web

demo-web: demo-web-files
	node core/package/javascript/demo/serve.js $(DEMO_WEB) $(or $(PORT),8080)

demo-web-files: javascript $(DEMO_WEB)/filters/filters.json
	cp core/package/javascript/demo/index.html core/package/javascript/demo/style.css core/package/javascript/demo/demo.js $(DEMO_WEB)
	rm -rf $(DEMO_WEB)/cuckoofilter
	cp -R $(JS_DIR) $(DEMO_WEB)/cuckoofilter

$(DEMO_WEB)/filters/filters.json: core/package/javascript/demo/filters.sql core/cuckoofilter.h
	test/pg/demo.sh core/package/javascript/demo/filters.sql $(DEMO_WEB)/filters
