#!/bin/sh
# The engine for programs beside packages of Debian and npm: `make bench-bindings` writes results/BINDINGS.md.
#
# A filter of a million items at 1 %; half of the lookups are about items that are in it.  The languages take turns,
# ROUNDS times, and the best user time of each figure counts.  What is not installed is skipped with a word.
set -eu
cd "$(dirname "$0")/../../.."
out=build/bench/bindings
mkdir -p "$out"
: > "$out/figures.tsv"

bloom=
if echo '#include <bloom.h>' | ${CC:-cc} -E - > "$out/log" 2>&1; then
	bloom="-DWITH_BLOOM -lbloom"
else
	echo "skipped: libbloom (libbloom-dev), which is not installed"
fi
# shellcheck disable=SC2086 # flags are words
${CC:-cc} -std=gnu11 -O2 -Icore -Icore/package/c test/bench/bindings/ask.c build/lib/libcuckoofilter.a $bloom -o "$out/ask"

one() # command...
{
	"$@" >> "$out/figures.tsv" 2>> "$out/skipped"
}

: > "$out/skipped"
round=0
while [ "$round" -lt "${ROUNDS:-3}" ]; do
	round=$((round + 1))
	one "$out/ask"
	if [ -f build/python/cuckoofilter/_filter.abi3.so ]; then
		one "${PYTHON:-/usr/bin/python3}" test/bench/bindings/ask.py
	else
		echo "skipped: Python (make python)" >> "$out/skipped"
	fi
	if [ -f build/javascript/cuckoofilter/cuckoofilter.wasm ] && command -v node > /dev/null; then
		one node test/bench/bindings/ask.mjs
	else
		echo "skipped: JavaScript (make javascript, node.js)" >> "$out/skipped"
	fi
done
sort -u "$out/skipped"

{
	cat <<TEXT
# Filters in programs

\`make bench-bindings\`: millions of items a second of user time, in one process; a filter of 1,000,000
items at 1 %, half of the lookups about items that are in it. The best of ${ROUNDS:-3} rounds, in which the
languages take turns. The last column is the ratio to the C library's same figure; for lookups about
many items with none in C, to that one by one. Compare ratios: rates are those of this machine,
$(uname -m), $(nproc) cores, $(date -u +%F), version $(make -s version), with $(${PYTHON:-/usr/bin/python3} -V 2>&1), node $(node -v 2> /dev/null || echo none).

| package | figure | M/s | of C's |
|---|---|---|---|
TEXT
	awk -F '\t' '
		{ key = $1 FS $2; rate = $3 / $4 / 1e6; if (!(key in best)) order[++n] = key; if (rate > best[key]) best[key] = rate }
		END {
			for (i = 1; i <= n; i++) {
				split(order[i], part, FS)
				c = best["C" FS part[2]]
				if (!c) { single = part[2]; sub(/^many/, "one by one", single); sub(/bigints|dates/, "integers", single); c = best["C" FS single] }
				printf "| %s | %s | %.3g | %s |\n", part[1], part[2], best[order[i]], c ? sprintf("%.3g", best[order[i]] / c) : ""
			}
		}' "$out/figures.tsv"
} > "$out/BINDINGS.md"
cp "$out/BINDINGS.md" test/bench/results/BINDINGS.md
cat "$out/BINDINGS.md"
