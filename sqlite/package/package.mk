# SQLite's extension for other systems: a library for Windows, and SQLite in WebAssembly with the extension
# in it.  The Makefile includes this file.  Nothing here is needed for `make` or `make test`.

.PHONY: windows sqlite-wasm

# ---------------------------------------------------------------------------
# Windows, by mingw-w64: the amalgamation, which needs SQLite's two headers only
# ---------------------------------------------------------------------------

WINDOWS_CC  ?= x86_64-w64-mingw32-gcc
WINDOWS_DLL := build/windows/cuckoofilter.dll

windows: $(WINDOWS_DLL)

build/windows/include/sqlite3ext.h:
	@mkdir -p $(@D)
	for header in sqlite3.h sqlite3ext.h; do \
		cp "$$(echo "#include <$$header>" | $(CC) -E - | sed -n "s/^# 1 \"\(.*$$header\)\".*/\1/p" | head -n 1)" $(@D) || exit 1; \
	done

# The file has no time in it, so that the same sources give the same bytes.
$(WINDOWS_DLL): build/cuckoofilter.c build/windows/include/sqlite3ext.h
	$(SAY)$(WINDOWS_CC) -std=c11 $(OPT) $(WARN) -pedantic -Ibuild/windows/include -shared -static-libgcc \
		-Wl,--no-insert-timestamp,-s $< -o $@

# ---------------------------------------------------------------------------
# WebAssembly: SQLite's own build (ext/wasm) takes an extension by the file sqlite3_wasm_extra_init.c
# ---------------------------------------------------------------------------

SQLITE_PUBLIC := $(CURDIR)/build/public/sqlite
SQLITE_WASM   := build/sqlite-wasm/sqlite3.mjs

sqlite-wasm: $(SQLITE_WASM) build/sqlite-wasm/node.mjs

build/sqlite-wasm/node.mjs: sqlite/package/wasm/node.mjs
	@mkdir -p $(@D)
	cp $< $@

$(SQLITE_PUBLIC)/sqlite3.c: sqlite/package/source.sh
	sqlite/package/source.sh $(SQLITE_PUBLIC)
	touch $@

# Debian's emscripten has an older name for an option, and does not show its memory to SQLite's code.  One module
# serves browsers and node.js.
$(SQLITE_WASM): build/cuckoofilter.c sqlite/package/wasm/sqlite3_wasm_extra_init.c $(SQLITE_PUBLIC)/sqlite3.c
	@mkdir -p $(@D)
	cp build/cuckoofilter.c sqlite/package/wasm/sqlite3_wasm_extra_init.c $(SQLITE_PUBLIC)/ext/wasm
	sed -i 's/-sSTACK_SIZE=/-sTOTAL_STACK=/' $(SQLITE_PUBLIC)/ext/wasm/GNUmakefile
	$(MAKE) -C $(SQLITE_PUBLIC)/ext/wasm jswasm/sqlite3.mjs emcc_opt=-Os \
		emcc.environment.vanilla=web,worker,node emcc.environment.esm=web,worker,node > build/sqlite-wasm/make.log 2>&1
	cp $(SQLITE_PUBLIC)/ext/wasm/jswasm/sqlite3.wasm $(@D)
	sed 's/^  buffer = wasmMemory.buffer;$$/  Module["wasmMemory"] = wasmMemory;\n&/' $(SQLITE_PUBLIC)/ext/wasm/jswasm/sqlite3.mjs > $@
