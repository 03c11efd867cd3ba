#!/bin/sh
# SQLite in WebAssembly, which make sqlite-wasm builds: test/sqlite/wasm.mjs.
set -eu
cd "$(dirname "$0")/../.."

if [ ! -f build/sqlite-wasm/sqlite3.wasm ]; then
	echo "skipped: SQLite in WebAssembly, which make sqlite-wasm builds (test/install.sh sqlite-wasm)"
elif ! node -e "process.exit(process.versions.node.split('.')[0] < 18 ? 1 : 0)" 2> /dev/null; then
	echo "skipped: SQLite in WebAssembly, which needs node.js 18 or later"
else
	exec node test/sqlite/wasm.mjs
fi
