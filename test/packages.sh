#!/bin/sh
# What `make dist` writes, made twice and compared, judged, and installed and used in bare systems.
# test/packages.sh SCRIPT..., with names of test/packages/*.sh, is for these systems only, and the packages of
# the last run.
#
# A bare system is a folder with Debian's smallest installation, of the release that runs here; it takes root
# and Debian's servers.  One is made in build/test/packages, and copied for each package.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
here=$root/build/test/packages
version=$(sed -n 's/^#define CKF_VERSION "\(.*\)"/\1/p' core/cuckoofilter.h)
server=$("${PG_CONFIG:-pg_config}" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
driver=$(sed -n 's/.*"better-sqlite3": "\(.*\)".*/\1/p' test/drivers/package.json)

passed=0
failed=0

check() # what command argument...
{
	what=$1
	shift
	if "$@" > "$here/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok   $what"
	else
		failed=$((failed + 1))
		echo "FAIL $what"
		tail -n 30 "$here/log"
	fi
}

# ---------------------------------------------------------------------------
# The same bytes from two clones, with other habits around the second
# ---------------------------------------------------------------------------

clone() # from to
{
	rm -rf "$2"
	git clone -q "$1" "$2"
}

dist() # folder
{
	PG_CONFIG=${PG_CONFIG:-pg_config} make -s -C "$1" dist
}

# Debian's rules run pg_regress as PostgreSQL's user, who must be let into the folder.
dist_checked()
{
	(
		export DIST_CHECK=yes
		clone "$root" "$here/one"
		dist "$here/one"
	)
}

# The same commit, whatever was committed in the meantime.
dist_elsewhere()
{
	(
		umask 077
		export TZ=Asia/Kolkata LC_ALL=C.UTF-8
		clone "$here/one" "$here/another/two"
		touch "$here/another/two/uncommitted"
		dist "$here/another/two"
	)
}

same_bytes()
{
	diff "$here/one/build/dist/SHA256SUMS" "$here/another/two/build/dist/SHA256SUMS"
}

# All packages, of one version.
all_there()
{
	ls "$packages"
	for file in "cuckoofilter-$version.zip" "cuckoofilter-amalgamation-$version.zip" "sqlite-cuckoofilter-$version.tgz" \
		"cuckoofilter-$version.tgz" "cuckoofilter-windows-x64-$version.zip" \
		"postgresql-$server-cuckoofilter_$version-1_*.deb" "sqlite3-cuckoofilter_$version-1_amd64.deb" "sqlite3-cuckoofilter_$version-1_arm64.deb" \
		"libcuckoofilter1_$version-1_amd64.deb" "libcuckoofilter1_$version-1_arm64.deb" \
		"libcuckoofilter-dev_$version-1_amd64.deb" "libcuckoofilter-dev_$version-1_arm64.deb" \
		"cuckoofilter-$version-cp39-abi3-*linux*_x86_64.whl" "cuckoofilter-$version-cp39-abi3-*linux*_aarch64.whl" \
		"cuckoofilter-$version-linux-x86_64.tar.gz" "cuckoofilter-$version-linux-aarch64.tar.gz" \
		"cuckoofilter-$version-windows-x86_64.tar.gz" sqlpkg.json spm.json SHA256SUMS; do
		[ "$(find "$packages" -name "$file" | wc -l)" = 1 ] || { echo "not one $file"; return 1; }
	done
	[ "$(find "$packages" -type f | wc -l)" = 20 ]
}

# The files in the RPMs of a clone.  The source package tells the folder in which rpmbuild ran, so bytes differ.
rpm_files() # folder
{
	rpm -qp --qf '[%{FILENAMES} %{FILEMODES} %{FILEMTIMES} %{FILEDIGESTS}\n]' "$1"/build/dist/*.rpm
}

# One package alone has the bytes that it has among all of them.
single_packages()
{
	before=$(cd "$packages" && sha256sum ./*.deb ./*_x86_64.whl "./cuckoofilter-$version".*)
	make -s -C "$here/one" deb wheel pgxn rpm || return 1
	make -s -C "$here/another/two" rpm || return 1
	(cd "$packages" && echo "$before" | sha256sum -c && ls -- *.rpm) || return 1
	rpm_files "$here/one" > "$here/files"
	rpm_files "$here/another/two" | diff "$here/files" -
	[ "$(grep -c '\.so ' "$here/files")" = 3 ]
}

depends_on_server()
{
	dpkg-deb -f "$packages"/postgresql-*.deb Depends | tee /dev/stderr | grep -qw "postgresql-$server"
}

# README.md and the guides link to each other, to the reference and to pictures; the rest is in the sources.
pages_are_whole()
{
	rm -rf "$here/unpacked"
	for deb in "$packages"/*.deb; do
		dpkg-deb -x "$deb" "$here/unpacked"
		doc=$here/unpacked/usr/share/doc/$(dpkg-deb -f "$deb" Package)
		[ -e "$doc/README.md" ] || continue
		for page in README.md pg/README.md pg/SERVERS.md sqlite/README.md sql/FAQ.md sql/JOIN_FILTERS.md; do
			sed -n 's/.*](\([^)#:]*\)[^:)]*).*/\1/p' "$doc/$page" | sort -u | while read -r target; do
				case $target in
					*CHANGELOG.md | *CONTRIBUTING.md | *test/README.md | *OVERLAP.md | *RELEASES.md | *join/README.md | *cuckoofilter.h) continue ;;
				esac
				[ -e "$doc/$(dirname "$page")/$target" ] || echo "$(basename "$doc"): $page has no $target"
			done
		done
	done | (! grep .)
}

no_own_paths()
{
	rm -rf "$here/unpacked"
	mkdir -p "$here/unpacked"
	for deb in "$packages"/*.deb; do
		dpkg-deb -x "$deb" "$here/unpacked"
	done
	for archive in "$packages"/*.tgz; do
		tar -xzf "$archive" -C "$here/unpacked"
	done
	! grep -rl "$here" "$here/unpacked"
}

# ---------------------------------------------------------------------------
# Bare systems
# ---------------------------------------------------------------------------

base()
{
	[ ! -f "$here/base/ready" ] || return 0
	rm -rf "$here/base"
	# shellcheck disable=SC1091 # it is the machine's
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	debootstrap --variant=minbase "$release" "$here/base" || return 1
	cat > "$here/base/etc/apt/sources.list" <<-TEXT
		deb http://deb.debian.org/debian $release main
		deb http://deb.debian.org/debian $release-updates main
		deb http://deb.debian.org/debian-security $release-security main
	TEXT
	inside "$here/base" apt-get update -q && touch "$here/base/ready"
}

# A command in a bare system.  What it mounts and starts ends with it; Debian's archives are kept for the next.
inside() # folder command argument...
{
	# shellcheck disable=SC2016 # the shell inside expands these
	unshare --mount --pid --fork sh -c '
		mount --bind "$1" "$2/var/cache/apt/archives"
		mount -t proc proc "$2/proc"
		folder=$2
		shift 2
		exec chroot "$folder" "$@"' sh "$here/archives" "$@"
}

use() # script
{
	system=$here/system
	rm -rf "$system"
	cp -a "$here/base" "$system"
	mkdir "$system/packages"
	cp "$packages"/* test/packages/*.sh "$system/packages"
	# npm has certificates of its own; behind a proxy with others, these are what this machine trusts.
	cp /etc/ssl/certs/ca-certificates.crt "$system/packages/certificates"
	status=0
	inside "$system" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		npm_config_cafile=/packages/certificates \
		VERSION="$version" SERVER="$server" BETTER_SQLITE3="$driver" \
		sh "/packages/$1.sh" > "$here/used" 2>&1 || status=$?
	cat "$here/used"
	passed=$((passed + $(grep -c '^ok   ' "$here/used" || :)))
	failed=$((failed + $(grep -c '^FAIL ' "$here/used" || :)))
	if [ "$status" != 0 ]; then
		failed=$((failed + 1))
		echo "FAIL $1: ended early"
	fi
	rm -rf "$system"
}

judge()
{
	check "make dist, with Debian's own checks" dist_checked
	check "make dist in another folder, with another umask, zone, locale and a file that is not committed" dist_elsewhere
	check "the same bytes twice" same_bytes
	check "all packages are there" all_there
	check "make deb, wheel and pgxn: the same bytes again; make rpm: the same files elsewhere" single_packages
	check "PostgreSQL's package depends on its server" depends_on_server
	check "lintian finds no errors and no warnings" lintian --allow-root --fail-on error,warning "$packages"/*.deb
	check "the pages of Debian's packages have their pictures and links" pages_are_whole
	check "PGXN's META.json is valid" test/packages/meta.py "$packages/cuckoofilter-$version.zip" "$version"
	check "no package names the folder that it was built in" no_own_paths
	check "those for arm64 work under qemu" test/arm64.sh "$packages"
}

packages=$here/one/build/dist
mkdir -p "$here/archives/partial"
if [ $# = 0 ]; then
	judge
	set -- postgresql sqlite library pgxn amalgamation python npm managers rpm
fi
if [ "$(id -u)" != 0 ]; then
	echo "skipped: bare systems, which only root can make"
elif ! base > "$here/log" 2>&1; then
	tail -n 5 "$here/log"
	echo "skipped: bare systems, since debootstrap could not make one"
else
	for script in "$@"; do
		use "$script"
	done
fi

echo "packages: $passed passed, $failed failed"
[ "$failed" = 0 ]
