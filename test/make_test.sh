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

counts make
