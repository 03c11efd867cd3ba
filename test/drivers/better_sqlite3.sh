#!/bin/sh
# node.js over better-sqlite3, where npm can install it.  `make test` does not install npm, which
# brings hundreds of Debian's packages, nor a node.js as new as better-sqlite3 asks for.
set -eu
cd "$(dirname "$0")/../.."

test/drivers/npm.sh
if [ ! -d build/test/drivers/node_modules/better-sqlite3 ]; then
	echo "skipped: better-sqlite3, since $(command -v npm > /dev/null && echo "npm could not install it" || echo "npm is not installed")"
	exit 0
fi
node test/drivers/better_sqlite3.js
