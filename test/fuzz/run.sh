#!/bin/sh
# Runs the fuzz targets:  test/fuzz/run.sh SECONDS [bytes|histories|values|chunks|tables|reader]...
# SEED=n sets the seed of each target; without it, each draws one.
# shellcheck disable=SC2086 # flags and lists of files are words
set -u
cd "$(dirname "$0")/../.." || exit
seconds=${1:-60}
[ $# -eq 0 ] || shift
out=build/fuzz
passed=0
failed=0
flags="-std=c11 -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all -Icore -Itest/core/lib"
flags="$flags -fsanitize=address,undefined"

count() # what status
{
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
		echo "  ok $1"
	else
		failed=$((failed + 1))
		echo "  FAILED $1"
	fi
}

# The core and what the targets share, compiled once, two files at a time.
build_shared()
{
	rm -f "$out"/*.o
	for file in core/*/*.c test/core/lib/*.c; do
		echo "$flags -fsanitize=fuzzer-no-link -c $file -o $out/$(echo "$file" | tr / _).o"
	done | xargs -P 2 -L 1 clang
}

build() # target
{
	case $1 in
		values | tables)
			with="-DSQLITE_CORE $(echo sqlite/*.c sqlite/*/*.c) -lsqlite3" ;;
		*)
			with= ;;
	esac
	clang $flags -fsanitize=fuzzer "test/fuzz/$1.c" "$out"/*.o $with -lm -o "$out/$1"
}

# Replay the corpus, then look for more.
fuzz() # target
{
	mkdir -p "$out/found-$1"
	"$out/$1" -runs=0 -artifact_prefix="$out/$1-" "test/fuzz/corpus/$1" > "$out/$1.log" 2>&1 &&
		"$out/$1" -max_total_time="$seconds" -max_len=2048 -timeout=60 -rss_limit_mb=3000 \
			-verbosity=0 -seed="${SEED:-0}" -print_final_stats=1 -artifact_prefix="$out/$1-" \
			"$out/found-$1" "test/fuzz/corpus/$1" >> "$out/$1.log" 2>&1
}

mkdir -p "$out"
build_shared
count "what the targets share: builds" $?
[ $# -gt 0 ] || set -- bytes histories values chunks tables reader
for target in "$@"; do
	echo "$target, $seconds s:"
	if [ "$target" = reader ]; then
		/usr/bin/python3 test/fuzz/reader_fuzz.py "$seconds"
		count "$target" $?
		continue
	fi
	build "$target"
	status=$?
	if [ $status -eq 0 ]; then
		fuzz "$target"
		status=$?
		[ $status -eq 0 ] || tail -n 40 "$out/$target.log"
		grep 'number_of_executed_units' "$out/$target.log"
	fi
	count "$target" $status
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
