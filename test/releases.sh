#!/bin/sh
# `make releases`: the README's `make demo`, `make test-all` and `make lint`, on bare systems of Debian's releases,
# each by debootstrap, as root.  The last commit is what is tried.
#
#   RELEASES="bullseye bookworm trixie sid"     which of them
#   SUITES="core pg"                            parts of `make test-all` (test/run.sh), for a closer look
#
# Debian 11 has SQLite 3.34, as RHEL 9, and a PostgreSQL that is too old: only what needs no PostgreSQL is tried.
# Where a release ran whole and nothing failed, its row in test/RELEASES.md is made anew.
set -eu
cd "$(dirname "$0")/.."
all="bullseye bookworm trixie sid"
: "${RELEASES:=$all}" "${SUITES:=}" "${MIRROR:=http://deb.debian.org/debian}"
if [ "$(id -u)" != 0 ]; then
	echo "make releases makes whole systems, which needs root" >&2
	exit 1
fi
test/install.sh releases
mkdir -p build/releases
out=$PWD/build/releases

# A command in a system, with nothing left mounted or running behind it.
inside() # system command
{
	# shellcheck disable=SC2016 # $1 is the inner shell's
	unshare --mount --pid --fork --kill-child chroot "$1" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		HOME=/root SUITES="$SUITES" sh -c 'mount -t proc proc /proc && mount -t tmpfs shm /dev/shm && mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts && cd /src && eval "$1"' sh "$2"
}

versions()
{
	# shellcheck disable=SC2016
	inside "$1" 'echo "$(pg_config --version 2> /dev/null | sed "s/PostgreSQL \([0-9.]*\).*/\1/" | grep . || echo -) | $(sqlite3 --version | cut -d" " -f1) | $(gcc -dumpfullversion) |"'
}

head='| Debian | PostgreSQL | SQLite | gcc | make demo | make test-all | cuckoofilter |
|---|---|---|---|---|---|---|'
version="$(make -s version), $(git log -1 --format='%h of %cs')"

# test/RELEASES.md with this row for the one of the release that it had.
record() # release row
{
	page=test/RELEASES.md
	[ -f "$page" ] || : > "$page"
	cp "$page" "$out/before"
	{
		echo "# Releases of Debian"
		echo
		echo "\`make demo\` and \`make test-all\` on bare systems, by \`make releases\`, which says what they skipped."
		echo "On bullseye, whose PostgreSQL is too old: the suites of the engine, the bindings and SQLite."
		echo "Whatever else the machine did meanwhile is in the times: two releases at once take twice as long."
		echo
		echo "$head"
		for one in $all; do
			if [ "$one" = "$1" ]; then
				echo "$2"
			else
				grep "^| $one |" "$out/before" || true
			fi
		done
	} > "$page"
}

rows=
failed=0
for release in $RELEASES; do
	system=$out/$release
	rm -rf "$system"
	debootstrap --variant=minbase --include=make "$release" "$system" "$MIRROR" > "$out/$release.log" 2>&1 || {
		tail -n 5 "$out/$release.log"
		exit 1
	}
	# The mirror may be an older one than the lists allow.
	echo 'Acquire::Check-Valid-Until "false";' > "$system/etc/apt/apt.conf.d/mirror"
	git clone -q . "$system/src"
	mkdir -p "$system/dev/shm" "$system/dev/pts"
	ln -sf pts/ptmx "$system/dev/ptmx"

	started=$(date +%s)
	demo=failed
	inside "$system" 'make demo' >> "$out/$release.log" 2>&1 && demo="$(($(date +%s) - started)) s"
	started=$(date +%s)
	# shellcheck disable=SC2016 # for the shell inside
	if [ -z "$SUITES" ] && [ "$release" = bullseye ]; then
		inside "$system" 'test/install.sh demo test test-all && make -s -j2 test-build && test/run.sh core bindings sqlite' >> "$out/$release.log" 2>&1 || true
		took=$(($(date +%s) - started))
	elif [ -z "$SUITES" ]; then
		inside "$system" 'make test-all' >> "$out/$release.log" 2>&1 || true
		took=$(($(date +%s) - started))
		inside "$system" 'make lint' > "$out/$release-lint.log" 2>&1 || {
			grep -A 5 '^FAIL' "$out/$release-lint.log" || tail -n 5 "$out/$release-lint.log"
			failed=1
		}
	else
		inside "$system" 'make -s install-deps && make -s -j2 test-build && test/run.sh $SUITES' >> "$out/$release.log" 2>&1 || true
		took=$(($(date +%s) - started))
	fi
	count=$(sed -n 's/^\([0-9]* passed, [0-9]* failed\)$/\1/p' "$out/$release.log" | tail -n 1)
	row="| $release | $(versions "$system") $demo | ${count:-ended without its count}, $took s | $version |"
	case "$demo $count" in
		[0-9]*' 0 failed') [ -n "$SUITES" ] || record "$release" "$row" ;;
		*) failed=1 ;;
	esac
	rows="$rows$row
"
	grep '^skipped: ' "$out/$release.log" | sort -u | sed "s/^/$release: /" || true
done

printf '%s\n%s' "$head" "$rows"
[ "$failed" = 0 ]
