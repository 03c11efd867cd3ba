#!/bin/sh
# The C library as it is installed: its exports, pkg-config, the example and the page's programs.
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C
out=$PWD/build/test/bindings/library
rm -rf "$out"
mkdir -p "$out"
# shellcheck source=test/counts.sh
. test/counts.sh

prefix=$out/usr
make -s install-lib PREFIX="$prefix" > "$out/install.log" 2>&1 || { tail -n 20 "$out/install.log"; echo "library: 0 passed, 1 failed"; exit 1; }
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"
version=$(make -s version)
library=$prefix/lib/libcuckoofilter.so

# The functions that the headers declare, without those that are defined there.
declared()
{
	cat core/cuckoofilter.h core/package/c/cuckoofilter_program.h | ${CC:-cc} -fpreprocessed -E -P - 2> /dev/null |
		awk '/^static inline/ { body = !/;$/; next } body { body = !/^}/; next } { print }' |
		grep -oE '\b(ckf|cuckoofilter)_[a-z_]+\(' | tr -d '(' | sort -u
}

same "it exports what the headers declare" "$(nm -D --defined-only "$library" | awk '{ print $NF }' | sort)" "$(declared)"
same "its name has the number of the interface" "$(objdump -p "$library" | awk '/SONAME/ { print $2 }')" "libcuckoofilter.so.1"
same "it needs the C library only" "$(objdump -p "$library" | awk '/NEEDED/ { print $2 }')" "libc.so.6"
same "it reads no environment, and writes to no file" "$(nm -D --undefined-only "$library" | grep -E 'getenv|environ|printf_chk$| f?puts| fopen| write' || :)" ""
same "the static library has the same functions" "$(nm -g --defined-only "$prefix/lib/libcuckoofilter.a" 2> /dev/null | awk '$2 == "T" && $3 ~ /^cuckoofilter_/ { print $3 }' | sort)" "$(declared | grep '^cuckoofilter_')"

if ! command -v pkg-config > /dev/null; then
	echo "skipped: programs that are built by pkg-config, which is not installed"
	echo "library: $passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
fi
same "pkg-config tells the version" "$(pkg-config --modversion cuckoofilter)" "$version"

build() # compiler argument...
{
	# shellcheck disable=SC2046 # flags are words
	"$@" -Wall -Wextra -Werror $(pkg-config --cflags --libs cuckoofilter) 2>&1
}

# A filter that SQLite made, in a file.
sqlite3 -batch :memory: '.load build/sqlite/cuckoofilter' \
	"SELECT writefile('$out/filter', cuckoofilter_agg(value)) FROM generate_series(1, 1000)" > "$out/size"
same "the example compiles" "$(build "${CC:-cc}" -std=c11 core/package/c/example/ask.c -o "$out/ask")" ""
same "the example asks a filter of SQLite's" "$("$out/ask" "$out/filter" 5 -5)" "1000 items, rate 0.0077
5: probably
-5: certainly not"
sqlite3 -batch :memory: '.load build/sqlite/cuckoofilter' \
	"SELECT writefile('$out/texts', cuckoofilter_agg(value)) FROM json_each('[\"a\", \"b\"]')" > "$out/size"
same "the example fails where an answer is an error" "$("$out/ask" "$out/texts" 5 || echo "exit $?")" "2 items, rate 0.0000
5: the cuckoofilter holds text, the item is a number
exit 1"
same "the example tells that a file is no filter" "$("$out/ask" Makefile 5 2>&1 || :)" \
	"not a cuckoofilter: the bytes are damaged or are something else"
same "the example tells that there is no file" "$("$out/ask" "$out/none" 5 2>&1 || :)" \
	"nothing to read: ask FILE INTEGER..."
for word in 5x x '' 9223372036854775808 0x5 5.0; do
	same "the example refuses \"$word\"" "$("$out/ask" "$out/filter" "$word" 5 || echo "exit $?")" "1000 items, rate 0.0077
$word: not an integer of 64 bits
5: probably
exit 1"
done
# A filter of more than 16 MB: at this rate it stores whole hashes.
sqlite3 -batch :memory: '.load build/sqlite/cuckoofilter' \
	"SELECT writefile('$out/large', cuckoofilter_agg(value, 1e-18)) FROM generate_series(1, 2200000)" > "$out/size"
same "the example reads a large filter" "$(wc -c < "$out/large" | awk '{ print ($1 > 16777216) }') $("$out/ask" "$out/large" 2200000 0)" "1 2200000 items, rate 0.0000
2200000: probably
0: certainly not"
same "the example reads a pipe" "$(tail -c +1 "$out/filter" | "$out/ask" /dev/stdin 5)" "1000 items, rate 0.0077
5: probably"
same "it is some 40 lines" "$(($(wc -l < core/package/c/example/ask.c) <= 44))" 1
rm "$library"
same "the example links statically" "$(build "${CC:-cc}" -std=c11 core/package/c/example/ask.c -o "$out/static" && LD_LIBRARY_PATH='' "$out/static" "$out/filter" 5)" "1000 items, rate 0.0077
5: probably"
ln -s libcuckoofilter.so.1 "$library"

if command -v "${CXX:-c++}" > /dev/null; then
	cat > "$out/ask.cc" <<-'TEXT'
		#include <cuckoofilter_program.h>
		int main()
		{
			cuckoofilter_error error = {};
			cuckoofilter *filter = cuckoofilter_create(1000, 0.01, "seed=7", &error);
			bool ok = cuckoofilter_add(filter, cuckoofilter_date(20000), &error) &&
					  cuckoofilter_contains(filter, cuckoofilter_timestamp(INT64_C(20000) * 86400 * 1000000), &error) == 1;
			cuckoofilter_free(filter);
			return ok ? 0 : 1;
		}
	TEXT
	same "C++ takes the headers" "$(build "${CXX:-c++}" -xc++ "$out/ask.cc" -o "$out/cpp" && "$out/cpp" && echo yes)" yes
else
	echo "skipped: C++, which is not installed"
fi

# Each block of the page is a program; its comment says what it prints.
awk -v out="$out" '/^```c$/ { n++; file = out "/page" n ".c"; next } /^```$/ { file = "" } file { print > file }' core/package/c/README.md
for source in "$out"/page*.c; do
	name=$(basename "$source" .c)
	same "the page's program $name compiles" "$(build "${CC:-cc}" -std=c11 "$source" -o "$out/$name")" ""
	same "it prints what the page says" "$(cd "$out" && "./$name" 2>&1)" "$(sed -n 's|.*// prints: ||p' "$source")"
done

counts library
