#!/bin/sh
# The core's suites and vectors on other machines and compilers: the same bytes and answers.
#
#   test/machines.sh [name...]     all, or some of: gcc-O0 gcc-O3 clang-O0 clang-O3 wraps i386 s390x arm64 windows
#
# s390x (big-endian) and arm64 run under qemu-user, windows under wine; wraps is clang with sanitizers that let no integer
# overflow or lose bits, signed or unsigned, but where test/wraps.txt says so.  Installs what is missing.  ROUNDS=n: per cent of
# the random rounds; SEED=n replays.  Every machine tells a digest of the filters that it built from
# one seed; they must be equal.
# shellcheck disable=SC2086 # flags are words
set -u
cd "$(dirname "$0")/.." || exit
out=build/machines
ROUNDS=${ROUNDS:-5}
export ROUNDS
passed=0
failed=0
first_digest=

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

# Objects of the core and of what the suites share, then a program for each suite.
build() # name compiler flags...
{
	dir=$out/$1
	cc=$2
	shift 2
	mkdir -p "$dir"
	rm -f "$dir"/*
	flags="-std=c11 -Wall -Wextra -Werror -Icore -Itest/core/lib -I$out/include"
	for source in core/*/*.c test/core/lib/*.c; do
		$cc $flags "$@" -c "$source" -o "$dir/$(echo "$source" | tr / _).o" || return 1
	done
	for source in test/core/*.c test/core/tool/answers.c; do
		$cc $flags "$@" "$source" "$dir"/*.o -lm -o "$dir/$(basename "$source" .c)" || return 1
	done
}

# The sum of many filters built from one seed.
digest() # name runner...
{
	dir=$out/$1
	shift
	SEED=1 ROUNDS=100 "$@" "$dir/answers" emit 400 | grep '^filter' | sha256sum | cut -c1-16
}

run() # name runner...
{
	name=$1
	shift
	for source in test/core/*.c; do
		suite=$(basename "$source" .c)
		"$@" "$out/$name/$suite" > "$out/$name/$suite.log" 2>&1
		status=$?
		[ "$status" -eq 0 ] || grep -A 4 'FAILED\|runtime error' "$out/$name/$suite.log" | head -n 20
		count "$name: $(tail -n 1 "$out/$name/$suite.log")" "$status"
	done
	this=$(digest "$name" "$@")
	first_digest=${first_digest:-$this}
	[ "$this" = "$first_digest" ] && [ "$this" != "$(sha256sum < /dev/null | cut -c1-16)" ]
	count "$name: the filters' digest is $this" $?
}

machine() # name
{
	echo "$1:"
	runner="env"
	case $1 in
		i386)
			test/install.sh i386
			build i386 gcc -O2 -m32 ;;
		s390x)
			test/install.sh s390x
			runner=qemu-s390x
			build s390x s390x-linux-gnu-gcc -O2 -static ;;
		arm64)
			test/install.sh arm64
			runner=qemu-aarch64
			build arm64 aarch64-linux-gnu-gcc -O2 -static ;;
		windows)
			test/install.sh windows
			runner=test/wine.sh
			build windows x86_64-w64-mingw32-gcc -O2 -static -D__USE_MINGW_ANSI_STDIO=1 -Wno-format -Wno-format-extra-args \
				-include test/core/windows/posix.h -Itest/core/windows ;;
		wraps)
			build wraps clang -O1 -g -fno-sanitize-recover=all -fsanitize-ignorelist=test/wraps.txt \
				-fsanitize=undefined,unsigned-integer-overflow,implicit-conversion ;;
		gcc-O* | clang-O*)
			build "$1" "${1%-*}" "-${1#*-}" ;;
		*)
			echo "unknown machine"
			false ;;
	esac
	status=$?
	count "$1: builds" "$status"
	[ "$status" -ne 0 ] || run "$1" "$runner"
}

mkdir -p "$out/include"
test/install.sh
cp /usr/include/xxhash.h "$out/include/" # cross compilers do not look there
[ $# -gt 0 ] || set -- gcc-O0 gcc-O3 clang-O0 clang-O3 wraps i386 s390x arm64 windows
for name in "$@"; do
	machine "$name"
done
echo "machines: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
