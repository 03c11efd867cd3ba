#!/bin/sh
# Installs the Debian packages that are missing:  test/install.sh GROUP...
# INSTALL=no in the environment, or make's arguments, forbids it: then they are only named.
# This table is the one place that lists them.  GROUP is its first column;
# the packages to build with come always.  One with a question mark is not in
# each release: what needs it does without, or says what it skips.
# shellcheck disable=SC2086 # lists of packages are words
set -euf
here=$(dirname "$0")

packages()
{
	cat <<'TABLE'
arm64       gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
bench       gnuplot-nox python3
bench-sql   postgresql-15-hll
bench-tpc   bison flex python3
build       gcc libc6-dev libsqlite3-dev libxxhash-dev make
citus       git libkrb5-dev liblz4-dev libpq-dev libssl-dev libzstd-dev
coverage    lcov
deb         build-essential debhelper dpkg-dev postgresql-server-dev-all
demo        sqlite3 wamerican-insane
demo-pg     postgresql postgresql-common wamerican-insane
demo-web    binaryen clang lld wasi-libc
dist        gcc-aarch64-linux-gnu gcc-mingw-w64-x86-64 git libc6-dev-arm64-cross
git         git
i386        gcc-multilib
lint        clang clang-format cppcheck git python3-dev shellcheck
npm         binaryen binutils clang lld wasi-libc
packages    ca-certificates debootstrap lintian postgresql-all
pg          libipc-run-perl postgresql postgresql-common sqlite3
pgdev       postgresql-server-dev-all
pgxn        zip
releases    debootstrap git util-linux
rpm         postgresql-server-dev-all rpm unzip zip
s390x       gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user
sqlite-wasm dpkg-dev emscripten tcl wabt
test        binutils git pkg-config python3 python3-dev sqlite3
test-all    clang libclang-rt-dev? python3-asyncpg python3-django? python3-numpy python3-psycopg? python3-psycopg2 python3-sqlalchemy? ruby-activerecord? ruby-pg? ruby-sqlite3?
valgrind    valgrind
web         binaryen chromium clang lld nodejs wasi-libc
wheel       binutils python3-build python3-dev python3-setuptools python3-wheel
windows     gcc-mingw-w64-x86-64 wine wine64
TABLE
}

# Packages of the groups that are not installed; optional ones where apt knows them.
missing() # group...
{
	packages | while read -r group names; do
		case " build $* " in
			*" $group "*) ;;
			*) continue ;;
		esac
		for name in $names; do
			package=${name%\?}
			dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q ' installed$' && continue
			[ "$name" = "$package" ] || apt-cache show "$package" > /dev/null 2>&1 || continue
			echo "$package"
		done
	done | sort -u
}

if ! command -v dpkg-query > /dev/null; then
	echo "Not a Debian system; test/install.sh lists the Debian packages that hold what this needs."
	exit 0
fi

# All packages that are installed.
present()
{
	dpkg-query -W -f '${db:Status-Abbrev}${binary:Package}\n' 2> /dev/null | sed -n 's/^.i. *//p'
}

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

export DEBIAN_FRONTEND=noninteractive LC_ALL=C
log=$here/../build/install.log
cluster_settings=${CLUSTER_SETTINGS:-/etc/postgresql-common/createcluster.conf}
changed=no
before=
# What came, whether all of it did or not, is what test/next.sh says how to remove.
clean()
{
	[ -z "$before" ] || present | grep -Fxv "$before" >> "${INSTALLED:-$here/../build/installed}" || true
	[ $changed = no ] || $sudo mv -f "$cluster_settings.before" "$cluster_settings"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# It waits while another apt works.
apt="$sudo apt-get -o DPkg::Lock::Timeout=600 -q"

# What apt-get would do, which it only says: in `disk` what it says about disk space, "1,234 MB" say; in `packages` how many come.
plan() # package...
{
	said=$($apt install --print-uris --no-install-recommends "$@" 2> /dev/null) || true
	disk=$(echo "$said" | sed -n 's/^After this operation, \(.*\) of additional disk space will be used.*/\1/p; s/^ *Space needed: \([^/]*[^/ ]\) .*/\1/p')
	packages=$(echo "$said" | sed -n 's/^ *\([0-9]*\) upgraded, \([0-9]*\) newly installed.*/\1 + \2/p; s/^ *Upgrading: \([0-9]*\), Installing: \([0-9]*\),.*/\1 + \2/p')
	packages=$((${packages:-0}))
}

# Each package is fetched, unpacked and set up, with a line for each.
install() # package...
{
	EACH='^Get:[0-9]\|^Unpacking \|^Setting up ' PER=3 OF="$packages packages" \
		"$here/patiently.sh" "installing" "$log" $apt install -y --no-install-recommends "$@"
}

update()
{
	"$here/patiently.sh" "updating the lists of packages" "$log" $apt update
}

# The package lists may be missing or old.
plan $wanted
if [ -z "$disk" ]; then
	update || exit 1
	wanted=$(missing "$@")
	plan $wanted
fi
echo "Installing by apt-get (INSTALL=no forbids it), ${disk:-an unknown amount} of disk space:" $wanted

before=$(present)

# Debian's packages of PostgreSQL's server make and start a cluster on port 5432, unless this setting forbids it.
case "$(printf ' %s ' $wanted)" in
	*" postgresql "* | *" postgresql-all "*)
		echo "PostgreSQL is installed without a cluster: nothing listens on port 5432."
		{ [ -f $cluster_settings ] || install postgresql-common; } || exit 1
		$sudo cp -p $cluster_settings $cluster_settings.before
		changed=yes
		echo "create_main_cluster = false" | $sudo tee -a $cluster_settings > /dev/null
		;;
esac
install $wanted || { update && install $wanted; } || exit 1
