# What shell.sh and windows.sh ask of each build of the extension, by the shell that SQLITE3 names.  They have the
# function `same` (test/counts.sh), and the filter of the numbers in `bytes`.
# shellcheck shell=sh
# shellcheck disable=SC2154 # bytes

sql() # extension statement...
{
	extension=$1
	shift
	# shellcheck disable=SC2086 # a command and its arguments
	${SQLITE3:-sqlite3} -batch -noheader :memory: ".load $extension" "$@" 2>&1 | tr -d '\r' || true
}

numbers="(WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 10000)
	SELECT x FROM s)"
one_item="cuckoofilter_contains(cuckoofilter_add(cuckoofilter_create(9), 'a'), 'a')"
handle="(SELECT cuckoofilter_open(cuckoofilter_agg(x)) FROM $numbers)"
sentence="cuckoofilter must be a BLOB or come from cuckoofilter_open, not TEXT"

# What every way to build it must answer.
tour() # extension
{
	same "$1: version" "$(sql "$1" 'SELECT cuckoofilter_version()')" \
		"$(sed -n 's/^#define CKF_VERSION "\(.*\)"/\1/p' core/cuckoofilter.h)"
	same "$1: contains" "$(sql "$1" "SELECT $one_item")" 1
	same "$1: aggregate" "$(sql "$1" "SELECT cuckoofilter_count(cuckoofilter_agg(x)) FROM $numbers")" 10000
	same "$1: bytes" "$(sql "$1" "SELECT hex(cuckoofilter_agg(x)) FROM $numbers")" "$bytes"
	same "$1: handle" "$(sql "$1" "SELECT sum(cuckoofilter_contains($handle, x)) FROM $numbers")" 10000
	same "$1: error" "$(sql "$1" "SELECT cuckoofilter_count('a')" | grep -o -m 1 "$sentence")" "$sentence"
}
