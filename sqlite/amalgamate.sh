#!/bin/sh
# Writes the whole SQLite extension as one C file to standard output:
#
#     cc -shared -fPIC build/cuckoofilter.c -o cuckoofilter.so
#
# It needs SQLite's headers and no other file: xxHash's header is in it, under
# its own licence.  Compile with -DSQLITE_CORE to link it into a program.
set -eu
cd "$(dirname "$0")/.."

version=$(sed -n 's/^#define CKF_VERSION "\(.*\)"/\1/p' core/cuckoofilter.h)
xxhash=$(echo '#include <xxhash.h>' | ${CC:-cc} -E - |
	sed -n 's/^# 1 "\(.*xxhash\.h\)".*/\1/p' | head -n 1)

cat <<TEXT
/*
 * cuckoofilter $version for SQLite, in one file, made by \`make amalgamation\`.
 *
$(sed 's/^/ * /; s/ *$//' LICENSE)
 */
#pragma GCC visibility push(hidden)

TEXT

# The project's headers and xxHash's stand in place of their first #include.
# What belongs to the system keeps its visibility.
awk -v xxhash="$xxhash" '
function exists(path,    text, found)
{
	found = (getline text < path) >= 0
	close(path)
	return found
}
function find(name, folder)
{
	if (name == "xxhash.h")
		return xxhash
	while (sub(/^\.\.\//, "", name))
		sub(/[^\/]*\/$/, "", folder)
	if (exists(folder name))
		return folder name
	return exists("core/" name) ? "core/" name : ""
}
function outside(text)
{
	print "#pragma GCC visibility push(default)"
	print text
	print "#pragma GCC visibility pop"
}
function write_out(path,    text, name, folder, found)
{
	folder = path
	sub(/[^\/]*$/, "", folder)
	print "/* ------------------------------------------------ " path " */\n"
	while ((getline text < path) > 0) {
		if (text !~ /^#[ \t]*include[ \t]*["<]/) {
			print text
			continue
		}
		name = text
		gsub(/^#[ \t]*include[ \t]*["<]|[">].*$/, "", name)
		found = find(name, folder)
		if (found == "")
			outside(text)
		else if (!(found in written)) {
			written[found] = 1
			# What others may see is as it is, too.
			if (found == xxhash || found == "sqlite/cuckoofilter_sqlite.h")
				quote(found)
			else
				write_out(found)
		}
	}
	close(path)
}
function quote(path,    text)
{
	print "#pragma GCC visibility push(default)"
	while ((getline text < path) > 0)
		print text
	print "#pragma GCC visibility pop"
	close(path)
}
BEGIN { for (i = 1; i < ARGC; i++) write_out(ARGV[i]) }
' core/*/*.c sqlite/*.c sqlite/*/*.c

echo '#pragma GCC visibility pop'
