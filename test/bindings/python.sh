#!/bin/sh
# The Python package with each Python from 3.9 on that is there: Debian's, those in PATH, and pyenv's; with TIER=short
# only Debian's.
set -eu
cd "$(dirname "$0")/../.."
passed=0
failed=0

pythons()
{
	ls /usr/bin/python3 2> /dev/null || :
	[ "${TIER:-all}" = all ] || return 0
	for minor in 9 10 11 12 13 14 15; do
		command -v "python3.$minor" || :
	done
	ls "${HOME:-/}"/.pyenv/versions/3.*/bin/python3 2> /dev/null || :
}

if [ ! -f build/python/cuckoofilter/_filter.abi3.so ]; then
	echo "skipped: the Python package, which is not built: Python's headers are missing (python3-dev)"
	exit
fi
# A Python of each version; pyenv's links to those that it does not have fail.
seen=
for python in $(pythons); do
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2], sys.version_info >= (3, 9))' 2> /dev/null) || continue
	case "$seen" in
		*" $version "*) continue ;;
	esac
	seen="$seen $version "
	[ "${version#* }" = True ] || continue
	output=$("$python" test/bindings/package.py 2>&1) || :
	echo "$output"
	count=$(echo "$output" | sed -n 's/^package .*: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
	count=${count:-0 1}
	passed=$((passed + ${count% *}))
	failed=$((failed + ${count#* }))
done
echo "python: $passed passed, $failed failed"
[ "$failed" = 0 ]
