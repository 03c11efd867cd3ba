#!/bin/sh
# Installs the Debian packages that are missing:  test/install.sh GROUP...
# INSTALL=no in the environment, or make's arguments, forbids it: then they are only named.
# This table is the one place that lists them.  GROUP is its first column;
# the packages to build with come always.  One with a question mark is not in
# each release: what needs it does without, or says what it skips.
# shellcheck disable=SC2086 # lists of packages are words
set -eu

packages()
{
	cat <<'TABLE'
arm64     gcc-aarch64-linux-gnu
arm64     libc6-dev-arm64-cross
arm64     qemu-user
bench     gnuplot-nox
bench     python3
bench-sql postgresql-15-hll
build     gcc
build     libc6-dev
build     libsqlite3-dev
build     libxxhash-dev
build     make
coverage  lcov
demo      sqlite3
demo      wamerican-insane
demo-pg   postgresql
demo-pg   postgresql-common
demo-pg   wamerican-insane
dist      binutils
dist      build-essential
dist      debhelper
dist      dpkg-dev
dist      git
dist      postgresql-server-dev-all
dist      python3-build
dist      python3-setuptools
dist      python3-wheel
dist      zip
i386      gcc-multilib
packages  ca-certificates
packages  debootstrap
packages  lintian
packages  postgresql-all
pg        libipc-run-perl
pg        postgresql
pg        postgresql-common
pg        python3-asyncpg
pg        python3-psycopg ?
pg        python3-psycopg2
pg        sqlite3
pgdev     postgresql-server-dev-all
releases  debootstrap
releases  git
releases  util-linux
s390x     gcc-s390x-linux-gnu
s390x     libc6-dev-s390x-cross
s390x     qemu-user
test      binutils
test      clang
test      clang-format
test      cppcheck
test      git
test      libclang-rt-dev ?
test      python3
test      shellcheck
test      sqlite3
valgrind  valgrind
TABLE
}

# Packages of the groups that are not installed; optional ones where apt knows them.
missing() # group...
{
	packages | while read -r group package optional; do
		case " build $* " in
			*" $group "*) ;;
			*) continue ;;
		esac
		dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q ' installed$' && continue
		[ -z "$optional" ] || apt-cache show "$package" > /dev/null 2>&1 || continue
		echo "$package"
	done | sort -u
}

if ! command -v dpkg-query > /dev/null; then
	echo "Not a Debian system; test/install.sh lists the Debian packages that hold what this needs."
	exit 0
fi

wanted=$(missing "$@")
[ -n "$wanted" ] || exit 0
if [ "${INSTALL:-yes}" = no ]; then
	echo "Not installed, as INSTALL=no says, so that what needs them will fail:" $wanted
	exit 0
fi

if [ "$(id -u)" = 0 ]; then
	sudo=
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
	sudo=sudo
else
	echo "Please install:  apt-get install" $wanted >&2
	exit 1
fi

echo "Installing by apt-get (INSTALL=no forbids it):" $wanted
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install()
{
	# shellcheck disable=SC2046 # a list of packages
	$sudo apt-get install -y -q --no-install-recommends $(missing "$@") > "$log" 2>&1
}
# The package lists may be missing or old.
install "$@" || { $sudo apt-get update -q > "$log" 2>&1 && install "$@"; } || { cat "$log" >&2; exit 1; }
