#!/bin/sh
# What tools say about the sources: format, warnings as errors, cppcheck, shellcheck.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/test

passed=0
failed=0

check() # what command argument...
{
	what=$1
	shift
	if "$@" > build/test/lint.log 2>&1; then
		passed=$((passed + 1))
		echo "ok   $what"
	else
		failed=$((failed + 1))
		echo "FAIL $what"
		head -n 30 build/test/lint.log
	fi
}

# Another release of these two finds fault with what this one passes, so one judges.
judge() # version what command argument...
{
	version=$1
	what=$2
	shift 2
	if "$1" --version 2>/dev/null | grep -q "version $version\\b\|Cppcheck $version\$"; then
		check "$what" "$@"
	else
		echo "skipped: $what ($1 $version judges, which Debian 12 has)"
	fi
}

compile() # compiler "flags" file...
{
	compiler=$1
	flags=$2
	shift 2
	# gcc finds some faults only while it optimizes, clang none of those that -Wall has.
	if [ "$compiler" = clang ]; then
		flags="$flags -fsyntax-only"
	else
		flags="$flags -c -o build/test/lint.o"
	fi
	for file in "$@"; do
		# shellcheck disable=SC2086 # flags are words
		"$compiler" -std=c11 -O2 -fPIC -Wall -Wextra -Werror -Icore "$file" $flags || return 1
	done
}

for folder in core core/* core/package/c core/package/c/example core/package/python/src core/package/javascript/wasm sqlite sqlite/package/wasm sqlite/table pg pg/* pg/join/* test/core test/core/lib test/core/windows test/sqlite test/pg test/bench test/bench/reference test/bench/bindings test/bindings test/fuzz; do
	set -- "$folder"/*.[ch]
	[ -f "$1" ] && judge 14 "format: $folder" clang-format --dry-run -Werror "$@"
done

python=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
for compiler in gcc clang; do
	for folder in core/*/ sqlite sqlite/*/ test/core test/core/lib test/sqlite/c test/bench; do
		set -- "$folder"/*.c
		[ ! -f "$1" ] || check "$compiler -Werror: $folder" compile "$compiler" -Itest/core/lib "$@"
	done
	for folder in core/package/c core/package/c/example test/bindings test/bench/bindings; do
		check "$compiler -Werror: $folder" compile "$compiler" "-Icore/package/c -Itest/core/lib" "$folder"/*.c
	done
	if [ -f "$python/Python.h" ]; then
		check "$compiler -Werror: core/package/python/src" compile "$compiler" "-Icore/package/c -isystem $python" core/package/python/src/*.c
	else
		echo "skipped: $compiler -Werror: core/package/python/src (Python's headers are missing)"
	fi
	check "$compiler -Werror -DSQLITE_CORE: sqlite" compile "$compiler" -DSQLITE_CORE sqlite/*.c sqlite/*/*.c
	# In one file, what a header offers and nobody takes is an unused function.
	check "$compiler -Werror: the amalgamation" compile "$compiler" -Wno-unused-function \
		build/cuckoofilter.c
done

# Programs are told to compile the amalgamation as they like.
for compiler in gcc clang x86_64-w64-mingw32-gcc; do
	headers=
	[ "$compiler" != x86_64-w64-mingw32-gcc ] || headers=-Ibuild/windows/include
	if ! command -v "$compiler" > /dev/null || { [ -n "$headers" ] && ! make -s build/windows/include/sqlite3ext.h; }; then
		echo "skipped: the amalgamation with -pedantic, by $compiler, which is not here"
		continue
	fi
	for define in "" -DSQLITE_CORE; do
		check "$compiler -pedantic -Werror $define: the amalgamation" compile "$compiler" \
			"-pedantic $headers $define" build/cuckoofilter.c
	done
done

# Every suite, and every target that tests or measures.
suites()
{
	basename -s .c test/core/*.c
	grep -l '^#!' test/core/*.py test/core/*/*.py test/sqlite/*.py test/bindings/* | xargs -n 1 basename
	find test/sqlite test/bindings -name '*.c' -exec basename -s .c {} \;
	find test/pg/t -name '*.pl' -exec basename -s .pl {} \;
	make -s help | grep -oE '^make (test-|bench|fuzz|machines|mutate|soak|coverage|valgrind|releases)[a-z-]*'
}

every_suite_is_named()
{
	suites | while read -r suite; do
		grep -q "\`${suite}[\` ]" test/README.md || echo "not in test/README.md: $suite"
	done | (! grep .)
}
check "test/README.md names every suite" every_suite_is_named
check "the maps of the tree name what is there" /usr/bin/python3 test/maps.py

# A suppression stands beside the line that it is about.
judge 2.10 "cppcheck: core, sqlite" cppcheck -q --std=c11 --enable=warning,performance,portability \
	--inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 -Icore core sqlite

for file in .ci/run .ci/*.sh core/package/javascript/demo/*.sh sqlite/*.sh test/*.sh test/*/*.sh; do
	[ -f "$file" ] && check "shellcheck: $file" shellcheck -x "$file"
done

echo "lint: $passed passed, $failed failed"
[ "$failed" = 0 ]
