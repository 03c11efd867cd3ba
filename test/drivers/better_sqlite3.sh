#!/bin/sh
# node.js over better-sqlite3, where npm can install it.
set -eu
cd "$(dirname "$0")/../.."

test/drivers/npm.sh
if [ ! -d build/test/drivers/node_modules/better-sqlite3 ]; then
	echo "skipped: better-sqlite3 is not here"
	echo "better-sqlite3: 0 passed, 0 failed"
	exit 0
fi
node test/drivers/better_sqlite3.js
