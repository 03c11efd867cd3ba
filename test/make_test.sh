#!/bin/sh
# What a person who builds sees: one short line a file, no file twice, and at the end what to do next; with V=1 the
# commands, with make -s nothing.  In a copy of the sources, with a compiler that only writes down what it makes.
set -eu
unset V MAKEFLAGS MAKELEVEL MFLAGS
cd "$(dirname "$0")/.."
# shellcheck source=test/counts.sh
. test/counts.sh
copy=$PWD/build/test/make
rm -rf "$copy"
mkdir -p "$copy/test"
cp -R Makefile core pg sql sqlite "$copy"
cp -R test/core "$copy/test"
cat > "$copy/cc" << 'TEXT'
#!/bin/sh
while [ $# -gt 1 ]; do
	[ "$1" != -o ] || { echo "$2" >> "${0%/*}/made"; : > "$2"; }
	shift
done
TEXT
chmod +x "$copy/cc"

# The output is in $said, the objects that were made in $made.
built() # argument...
{
	rm -rf "$copy/build" "$copy/made"
	said=$(make --no-print-directory -C "$copy" CC="$copy/cc" "$@" 2>&1)
	made=$(sed -n 's|^core/|build/pg/&|; s|^pg/|build/pg/&|; s|\.o$|&|p' "$copy/made" | sort)
}

for target in sqlite lib pg; do
	if [ "$target" = pg ] && [ ! -f "$("${PG_CONFIG:-pg_config}" --includedir-server 2> /dev/null)/postgres.h" ]; then
		echo "skipped: make pg, without PostgreSQL's headers"
		continue
	fi
	built "$target"
	same "make $target compiles many files" "$([ "$(echo "$made" | wc -l)" -gt 40 ] && echo yes)" yes
	same "make $target compiles no file twice" "$(echo "$made" | uniq -d)" ""
	same "make $target says one line a file" "$(echo "$said" | sed -n 's/^  \(.*\.o\)$/\1/p' | sort)" "$made"
	same "make $target says no more, but what to do next" "$(echo "$said" | grep -v '^  build/[a-z0-9/_]*\.[ao]$' | sed 's/\.so$//; s/^\(Next\):.*/\1/; s|.*/||')" \
		"$([ "$target" != lib ] && echo cuckoofilter || echo libcuckoofilter; [ "$target" != pg ] || echo cuckoofilter_join; echo Next)"
	built "$target" V=1
	same "make $target V=1 shows the commands" "$(echo "$said" | grep -c "^$copy/cc .* -c ")" "$(echo "$made" | wc -l)"
	built -s "$target"
	same "make -s $target says nothing" "$said" ""
	[ "$target" != lib ] || continue
	install=$([ "$target" = pg ] && echo install || echo install-sqlite)
	said=$(make -n --no-print-directory -C "$copy" "$install" DESTDIR=/try 2>&1 | sed -n "s/.*'Next:  '//p")
	same "make $install DESTDIR= says how to use what is there: $said" "$(echo "$said" | grep -c '/staged.sh /try \|load /try/')" 1
done

# A demo builds in silence, and says how many files are done: the compiler waits for the first word.
cp test/building.sh test/patiently.sh "$copy/test"
rm -rf "$copy/build" "$copy/made"
sed -i "2ifor i in \$(seq 300); do ! grep -q ' of [0-9]* files, ' '$copy/said' || break; sleep 0.1; done" "$copy/cc"
(cd "$copy" && EVERY=0 test/building.sh building "$copy/log" -j2 sqlite CC="$copy/cc") > "$copy/said"
same "building.sh knows how many files there will be" "$(sed -n 's/.*building: [0-9]* of \([0-9]*\) files, .*/\1/p' "$copy/said" | uniq)" "$(grep -c '^  build' "$copy/log")"
sed -i 2d "$copy/cc"
for flags in s "s -j2 -- INSTALL=no"; do
	said=$(cd "$copy" && rm -rf build && MAKEFLAGS=$flags EVERY=0 test/building.sh building "$copy/log" sqlite CC="$copy/cc")
	same "building.sh under make -s counts nothing: $flags" "$(echo "$said" | grep -c ' of ')" 0
done

# What makes something to hand on says what to do with it.
for target in image pgxn amalgamation deb wheel npm rpm; do
	[ "$target" != image ] || [ -f "$("${PG_CONFIG:-pg_config}" --includedir-server 2> /dev/null)/postgres.h" ] || continue
	said=$(make -n --no-print-directory -C "$copy" "$target" DESTDIR=/try 2>&1 | sed -n "s/.*'Next:  '//p")
	same "make $target says what to do next: $said" "$(echo "$said" | grep -c '[a-z].*[/.]')" 1
done

counts make
