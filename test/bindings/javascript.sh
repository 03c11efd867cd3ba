#!/bin/sh
# The suites of the npm package in test/bindings/javascript, by node.js:  javascript.sh NAME
set -eu
cd "$(dirname "$0")/../.."

if [ ! -f build/javascript/cuckoofilter/cuckoofilter.wasm ]; then
	echo "skipped: the npm package, which make javascript builds with clang, lld and binaryen"
elif ! node -e "process.exit(process.versions.node.split('.')[0] < 18 ? 1 : 0)" 2> /dev/null; then
	echo "skipped: the npm package, which needs node.js 18 or later"
elif [ "$1" = chromium ] && ! command -v chromium > /dev/null; then
	echo "skipped: the npm package in a browser, without chromium"
else
	exec node --expose-gc "test/bindings/javascript/$1.mjs"
fi
