#!/bin/sh
# The packages for arm64 under qemu-user:  test/arm64.sh FOLDER, with what make dist wrote.
# SQLite's library in a SQLite shell for arm64, from public sources; the C library in its example; the wheel in
# Debian's Python for arm64.
set -eu
cd "$(dirname "$0")/.."
packages=$1

for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v "$tool" > /dev/null || { echo "skipped: arm64, without $tool (test/install.sh arm64)"; exit 0; }
done
sources=$PWD/build/public/sqlite
if [ ! -f "$sources/shell.c" ] && ! sqlite/package/source.sh "$sources" > build/test/arm64.log 2>&1; then
	echo "skipped: arm64, without SQLite's sources (sqlite/package/source.sh build/public/sqlite)"
	exit 0
fi

out=build/test/arm64
rm -rf "$out/root" "$out/npm" "$out/wheel"
mkdir -p "$out/root" "$out/npm" "$out/wheel"
# shellcheck source=test/counts.sh
. test/counts.sh

run() # program argument...
{
	qemu-aarch64 -L /usr/aarch64-linux-gnu "$@" 2>&1
}

for deb in "$packages"/*_arm64.deb; do
	same "$(basename "$deb") says arm64" "$(dpkg-deb -f "$deb" Architecture)" arm64
	dpkg-deb -x "$deb" "$out/root"
done
same "no library is of another machine" "$(find "$out/root" \( -name '*.so*' -o -name '*.a' \) -type f -exec objdump -f {} + 2> /dev/null |
	sed -n 's/.*file format //p' | grep -vc 'little' || :)" 0

# What every package test builds; the version.
abc=$(sed -n 's/^ABC=//p' test/packages/check.sh)
version=$(sed -n 's/^#define CKF_VERSION "\(.*\)"/\1/p' core/cuckoofilter.h)
ask="SELECT cuckoofilter_version() || ' ' || hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))"
[ -x "$out/sqlite3" ] || aarch64-linux-gnu-gcc -O0 -I"$sources" "$sources/shell.c" "$sources/sqlite3.c" -lm -ldl -lpthread -o "$out/sqlite3"
same "SQLite's package" "$(run "$out/sqlite3" -batch :memory: ".load $PWD/$out/root/usr/lib/sqlite3/cuckoofilter" "$ask")" "$version $abc"
same "a filter of a million" "$(run "$out/sqlite3" -batch :memory: ".load $PWD/$out/root/usr/lib/sqlite3/cuckoofilter" \
	"SELECT length(cuckoofilter_agg(value)) FROM generate_series(1, 1000000)")" 1187192
tar -xzf "$packages/sqlite-cuckoofilter-$version.tgz" -C "$out/npm"
same "npm's library" "$(run "$out/sqlite3" -batch :memory: ".load $PWD/$out/npm/package/lib/linux-arm64/cuckoofilter" "$ask")" "$version $abc"

lib=$(dirname "$(find "$out/root" -name 'libcuckoofilter.so.1' | head -n 1)")
mkdir -p "$out/include"
cp "$(echo '#include <xxhash.h>' | ${CC:-cc} -E - | sed -n 's/^# 1 "\(.*xxhash\.h\)".*/\1/p' | head -n 1)" "$out/include"
aarch64-linux-gnu-gcc -I"$out/root/usr/include/cuckoofilter" -I"$out/include" \
	core/package/c/example/ask.c -L"$lib" -lcuckoofilter -o "$out/ask"
run "$out/sqlite3" -batch :memory: ".load $PWD/$out/root/usr/lib/sqlite3/cuckoofilter" "SELECT writefile('$out/filter', cuckoofilter_agg(value)) FROM generate_series(1, 1000)" > /dev/null
same "the C library asks a filter" "$(QEMU_SET_ENV=LD_LIBRARY_PATH=$lib run "$out/ask" "$out/filter" 77 | tail -n 1)" "77: probably"

python3 -m zipfile -e "$(find "$packages" -name '*_aarch64.whl')" "$out/wheel"
same "the wheel's module is for arm64" "$(aarch64-linux-gnu-objdump -f "$out"/wheel/cuckoofilter/_filter.abi3.so | sed -n 's/.*file format //p')" elf64-littleaarch64
same "it exports its entry point only" \
	"$(aarch64-linux-gnu-nm -D --defined-only "$out"/wheel/cuckoofilter/_filter.abi3.so | awk '{ print $3 }')" PyInit__filter
same "the wheel's extension" "$(run "$out/sqlite3" -batch :memory: ".load $PWD/$out/wheel/cuckoofilter/cuckoofilter" "$ask")" "$version $abc"

# The suite of the wheel, with the wheel in the place of what this machine built.
python=$PWD/build/public/arm64-python
if [ -f "$python/usr/bin/python3" ] || { [ "${INSTALL:-yes}" != no ] && test/arm64_python.sh "$python" > build/test/arm64.log 2>&1; }; then
	mkdir -p "$out/suite/build"
	ln -sfn "$PWD/test" "$out/suite/test"
	ln -sfn "$PWD/core" "$out/suite/core"
	ln -sfn "$PWD/$out/wheel" "$out/suite/build/python"
	for case in hashes rows pairs filters golden values dates null errors object sqlite; do
		same "the wheel in Python: $case" "$(CASE=test_$case ROUNDS=1 SEED=1 qemu-aarch64 -L "$python" "$python/usr/bin/python3" \
			"$out/suite/test/bindings/package.py" 2>&1 | tail -n 1 | sed 's/.*: //')" "1 passed, 0 failed"
	done
else
	echo "skipped: the wheel in Python, without Python for arm64 (test/arm64_python.sh build/public/arm64-python)"
fi

counts arm64
