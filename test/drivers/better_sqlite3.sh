#!/bin/sh
# node.js over better-sqlite3 from npm, built once into build/test/node.
set -eu
cd "$(dirname "$0")/../.."

modules=build/test/node
if ! command -v npm > /dev/null; then
	echo "npm is not here: nothing to run"
	echo "sqlite-node: 0 passed, 0 failed"
	exit 0
fi
if [ ! -f "$modules/ready" ]; then
	echo "installing better-sqlite3 (which compiles SQLite: two minutes)"
	mkdir -p "$modules"
	if ! npm install --no-audit --no-fund --prefix "$modules" better-sqlite3 > "$modules/log" 2>&1; then
		tail -n 5 "$modules/log"
		echo "better-sqlite3 cannot be had here: nothing to run"
		echo "sqlite-node: 0 passed, 0 failed"
		exit 0
	fi
	touch "$modules/ready"
fi
node test/drivers/better_sqlite3.js
