#!/bin/sh
# The layers, proved by a machine:  test -> pg | sqlite -> core/cuckoofilter.h -> C library.
#
#   - the core calls a few functions of the C library and nothing else, exports only ckf_ names,
#     and keeps no state but what it knows of the processor;
#   - no two files of the core, or of a host, and no two modules of the core, need each other in a
#     circle, a header and its source taken as one;
#   - pg/ and sqlite/ include five files of the core, its functions and its words, and never each
#     other;
#   - the core includes no header of a host, and of a C library only a few;
#   - the libraries of programs (core/package/) include the core's public headers only;
#   - the built modules export their entry points, nothing of the core, and read no environment.
#
# The core's objects are those that `make core` builds.
set -u
cd "$(dirname "$0")/.." || exit
out=build/test/layers
mkdir -p "$out"
passed=0
failed=0

# What objects of the core may call: the C library, then what compilers bring.
imports='memcpy|memmove|memset|memcmp|memchr'
imports="$imports|__cpu_model|__cpu_indicator_init|__popcountdi2|__u?(div|mod)(di|ti)3"
imports="$imports|__stack_chk_fail(_local)?|_GLOBAL_OFFSET_TABLE_"

# stdlib.h is for getenv in test builds.
core_headers='stdbool\.h|stddef\.h|stdint\.h|stdlib\.h|string\.h|immintrin\.h|xxhash\.h'

# Pass where the text of violations is empty.
verdict() # what violations
{
	if [ -z "$2" ]; then
		passed=$((passed + 1))
		echo "  ok $1"
	else
		failed=$((failed + 1))
		echo "  FAILED $1:"
		echo "$2" | sed 's/^/    /'
	fi
}

build_core()
{
	make -s core || return 1
	for source in core/*/*.c; do
		cp "build/${source%.c}.o" "$out/$(echo "${source%.c}" | tr / _).o" || return 1
	done
}

# Names of the #include lines of files, as "file: name".
includes() # file...
{
	sed -n 's/^[ \t]*#[ \t]*include[ \t]*[<"]\([^>"]*\)[>"].*/\1/p' "$@"
}

# Includes of a module's files that match a pattern.
included() # pattern file...
{
	export PATTERN="$1"
	shift
	for file in "$@"; do
		shift
		[ ! -f "$file" ] || set -- "$@" "$file"
	done
	awk '/^[ \t]*#[ \t]*include[ \t]*[<"]/ { split($0, part, /[<>"]/); if (part[2] ~ ENVIRON["PATTERN"]) print FILENAME ": " part[2] }' "$@"
}

# Variables of the core's objects; tables of constant addresses are not.
writable_data()
{
	for object in "$out"/*.o; do
		[ "$object" = "$out/core_table_cpu.o" ] || nm -f sysv "$object" |
			awk -F'|' -v o="$object" '$3 ~ /[bBdDC]/ && $7 !~ /rel\.ro/ { print o, $1 }'
	done
}

# What a file of the core includes or calls, as "unit unit": a header and its source are one unit.
dependencies()
{
	for file in core/*.h core/*/*.[ch]; do
		includes "$file" | grep / | sed "s|^|${file%.*} core/|; s|\\.h\$||"
	done
	for object in "$out"/core_*.o; do
		unit=$(basename "$object" .o | sed 's|_|/|; s|_|/|')
		nm -g "$object" | awk -v unit="$unit" '$NF ~ /^ckf_/ { print NF == 2 ? "use" : "of", $NF, unit }'
	done | sort | awk '$1 == "of" { of[$2] = $3 } $1 == "use" { print $3, of[$2] }'
}

# The same of a host, whose objects lie in another folder under the same names.
host_dependencies() # folder objects
{
	# shellcheck disable=SC2046 # names without spaces
	included . $(find "$1" -name '*.[ch]') |
		while read -r file name; do
			file=${file%:}
			for path in "${file%/*}/$name" "$1/$name"; do
				[ ! -f "$path" ] || { echo "${file%.*} ${path%.*}"; break; }
			done
		done | sed ':again; s|[^/. ][^/ ]*/\.\./||; t again'
	find "$2" -name '*.o' | while read -r object; do
		unit=$1${object#"$2"}
		nm -g "$object" | awk -v unit="${unit%.o}" '$NF ~ /^ckf[sp]_/ { print NF == 2 ? "use" : "of", $NF, unit }'
	done | sort | awk '$1 == "of" { of[$2] = $3 } $1 == "use" && $2 in of { print $3, of[$2] }'
}

# Units that depend on each other in a circle, of the pairs in the input.
circles()
{
	{ awk '$1 != $2' | sort -u | tsort > /dev/null; } 2>&1
}

# What a module imports to read the environment.
reads_environment() # module
{
	nm -D --undefined-only "$1" | grep -E ' (getenv|secure_getenv|__secure_getenv|environ|__environ)(@|$)'
}

# A pattern of the core's files.
core_files()
{
	find core -type f | sed 's|^core/||; s/\./\\./g' | paste -s -d '|'
}

# The headers that hosts may include.
public='cuckoofilter\.h|cuckoofilter_chunk\.h|cuckoofilter_host\.h|info_fields\.h|messages\.h'

# The core's other files.
core_internals()
{
	core_files | tr '|' '\n' | grep -Fvx "$(echo "$public" | tr '|' '\n')" | paste -s -d '|'
}

rm -f "$out"/*.o
verdict "the core compiles" "$(build_core 2>&1)"
verdict "the core calls only the C library's $(echo "$imports" | cut -d'|' -f1-5)" \
	"$(nm -A -u "$out"/*.o | awk '{ print $NF }' | sort -u | grep -Ev "^(ckf_.*|$imports)\$")"
verdict "the core exports only ckf_ names" \
	"$(nm -A -g --defined-only "$out"/*.o | awk '$NF !~ /^ckf_/')"
verdict "the core keeps no state, but of the processor" \
	"$(writable_data)"
verdict "no two files of the core include or call each other in a circle" "$(dependencies | circles)"
verdict "no two modules of the core include or call each other in a circle" \
	"$(dependencies | sed -n 's|^core/\([a-z]*\)/[^ ]* core/\([a-z]*\)/.*|\1 \2|p' | circles)"
verdict "the core includes no header of a host" "$(for file in core/*.h core/*/*.[ch]; do
	includes "$file" | grep -Evx "$core_headers|$(core_files)" |
		sed "s|^|$file: |"
done)"
verdict "the hosts include nothing of the core but its public headers" \
	"$(included "^(.*/)?($(core_internals))\$|core/" pg/*.[ch] pg/*/*.[ch] pg/*/*/*.[ch] sqlite/*.[ch] sqlite/*/*.[ch])"
verdict "programs' libraries include nothing else of the core, either" \
	"$(included "^(.*/)?($(core_internals))\$|pg/|sqlite/" core/package/c/*.[ch] core/package/*/*/*.[ch] | grep -v ': cuckoofilter_program\.h$')"
verdict "sqlite/ does not see PostgreSQL" "$(included 'postgres|fmgr|^utils/|pg/' sqlite/*.[ch] sqlite/*/*.[ch])"
verdict "pg/ does not see SQLite" "$(included 'sqlite' pg/*.[ch] pg/*/*.[ch] pg/*/*/*.[ch])"
for host in sqlite pg; do
	objects=build/$host
	[ "$host" = sqlite ] || objects=build/pg/pg
	[ -d "$objects" ] || continue
	host_dependencies $host $objects > "$out/$host"
	verdict "no two files of $host/ include or call each other in a circle" "$(circles < "$out/$host")"
	[ "$host" = sqlite ] || verdict "no two modules of pg/join call each other in a circle" \
		"$(sed 's|/[^/ ]* | |; s|/[^/ ]*$||' "$out/$host" | grep '^pg/join.* pg/join' | circles)"
done
verdict "nothing includes files of the tests" "$(included 'test/|^check\.h' core/*.h core/*/*.[ch] pg/*.[ch] pg/*/*.[ch] pg/*/*/*.[ch] sqlite/*.[ch] sqlite/*/*.[ch])"

sqlite_module=build/sqlite/cuckoofilter.so
if [ -f "$sqlite_module" ]; then
	verdict "$sqlite_module exports its entry point only" \
		"$(nm -D --defined-only "$sqlite_module" | awk '$NF != "sqlite3_cuckoofilter_init"')"
	verdict "$sqlite_module reads no environment" "$(reads_environment "$sqlite_module")"
	verdict "$sqlite_module needs the C library only" \
		"$(readelf -d "$sqlite_module" | grep NEEDED | grep -Ev '\[(libc|libm|libgcc_s)\.so\.')"
else
	verdict "$sqlite_module is built" "run make sqlite first"
fi

python_module=build/python/cuckoofilter/_filter.abi3.so
if [ -f "$python_module" ]; then
	verdict "$python_module exports its entry point only" \
		"$(nm -D --defined-only "$python_module" | awk '$NF != "PyInit__filter"')"
	verdict "$python_module reads no environment" "$(reads_environment "$python_module")"
	verdict "$python_module needs the C library only" \
		"$(readelf -d "$python_module" | grep NEEDED | grep -Ev '\[(libc|libm|libgcc_s)\.so\.')"
fi

# PostgreSQL looks functions up by name, so there are more; none is the core's.
for pg_module in build/pg/cuckoofilter.so build/pg/cuckoofilter_join.so; do
	[ -f "$pg_module" ] || continue
	verdict "$pg_module exports nothing of the core" \
		"$(nm -D --defined-only "$pg_module" | awk '$NF ~ /^ckf_/ || $NF ~ /XXH/')"
	verdict "$pg_module reads no environment" "$(reads_environment "$pg_module")"
done

echo "layers: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
