#!/bin/sh
# What people install, written into build/dist by `make dist`; `make deb`, `make wheel` and their like write one of
# them, for this machine only:
#
#     cuckoofilter-VERSION.zip                 the sources, as PGXN takes them
#     cuckoofilter-amalgamation-VERSION.zip    the SQLite extension in one C file, and the engine's header
#     postgresql-NN-cuckoofilter_*.deb         for the server of PG_CONFIG, which is one of Debian's
#     sqlite3-cuckoofilter_*.deb
#     libcuckoofilter1_*.deb, libcuckoofilter-dev_*.deb
#     cuckoofilter-VERSION.tgz                 for npm: the engine in WebAssembly
#     sqlite-cuckoofilter-VERSION.tgz          for npm: the SQLite extension for Linux and Windows
#     cuckoofilter-VERSION-cp39-abi3-*.whl     for pip, and every Python from 3.9 on; for x86-64 and arm64
#     cuckoofilter-windows-x64-VERSION.zip     the SQLite extension for Windows
#     cuckoofilter-VERSION-*.tar.gz            one library each of SQLite's, for Linux and Windows, which these two name:
#     sqlpkg.json, spm.json                    for sqlpkg and spm, package managers of SQLite
#     SHA256SUMS
#
# and by `make rpm` alone, since an RPM belongs to the system that it is built on:
#
#     cuckoofilter-VERSION-1.src.rpm, cuckoofilter_NN-VERSION-1.*.rpm, sqlite-cuckoofilter-VERSION-1.*.rpm
#
# All of it is made of the last commit, whatever else is in the folder, and bears that commit's time:
# the same commit and the same tools give the same bytes.  What must repeat the version gets it here.
set -eu
cd "$(dirname "$0")/.."
umask 022
unset MAKEFLAGS MAKELEVEL MFLAGS
DEB_BUILD_PROFILES=
export LC_ALL=C TZ=UTC
export CCACHE_DISABLE=1 # its CCACHE_BASEDIR changes the paths of sources that libraries have in their messages

root=$PWD
out=$root/build/dist
work=$root/build/dist.work
version=$(git show HEAD:core/cuckoofilter.h | sed -n 's/^#define CKF_VERSION "\(.*\)"/\1/p')
tree=$work/cuckoofilter-$version
cpu=$(${CC:-cc} -dumpmachine)
cpu=${cpu%%-*}
arm=$work/arm64/cuckoofilter-$version
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# Folders become archives without what differs from run to run: order, times, owners.
touch_all() # folder
{
	find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

zip_of() # folder
{
	touch_all "$1"
	(cd "$(dirname "$1")" && find "$(basename "$1")" -type f | sort | zip -X -q -@ "$out/$(basename "$1").zip")
}

# A file with the version in its place.
fill() # file...
{
	sed -i "s/@VERSION@/$version/" "$@"
}

# xxHash's licence wants to be where its code is: all up to the end of the header's first comment.
licences() # folder
{
	cp "$tree/LICENSE" "$1/LICENSE"
	sed '/\*\//q' "$xxhash" > "$1/LICENSE.xxhash"
}

pgxn()
{
	zip_of "$tree"
}

# The header of the entry point, and the engine's with the headers that it includes, so that -I. finds them.
amalgamation()
{
	folder=$work/cuckoofilter-amalgamation-$version
	make -s -C "$tree" amalgamation
	mkdir -p "$folder"
	cp "$tree/build/cuckoofilter.c" "$tree/sqlite/cuckoofilter_sqlite.h" "$xxhash" "$folder"
	(cd "$tree/core" && ${CC:-cc} -std=c11 -MM -MT headers -I. cuckoofilter.h |
		tr -d '\\\n' | sed 's/^headers://' | xargs cp --parents -t "$folder")
	licences "$folder"
	zip_of "$folder"
}

# The changelog says what Debian's form asks for, and leaves the rest to CHANGELOG.md, which is installed beside it.
changelog()
{
	maintainer=$(sed -n 's/^Maintainer: //p' debian/control.in)
	cat <<TEXT
cuckoofilter ($version-1) unstable; urgency=medium

  * Release $version.  What changed is in upstream's changelog.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
TEXT
}

deb()
{
	folder=$work/debian/cuckoofilter-$version
	PG_SUPPORTED_VERSIONS=$("${PG_CONFIG:-pg_config}" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
	export PG_SUPPORTED_VERSIONS
	mkdir -p "$work/debian"
	cp -a "$tree" "$folder"
	rm -rf "$folder/build"
	(
		cd "$folder"
		changelog > debian/changelog
		pg_buildext updatecontrol
		# `make test` has tested what is built here; DIST_CHECK=yes lets debian/rules do it, too.
		[ "${DIST_CHECK:-no}" = yes ] || export DEB_BUILD_PROFILES=nocheck
		DEB_BUILD_OPTIONS="noautodbgsym parallel=2${DEB_BUILD_PROFILES:+ $DEB_BUILD_PROFILES}" "$root/test/patiently.sh" "building Debian's packages" "$root/build/dist.debs.log" dpkg-buildpackage -b -us -uc
	)
	cp "$work"/debian/*.deb "$out"
}

library()
{
	[ ! -f "$work/cuckoofilter.so" ] || return 0
	"$root/test/building.sh" "building the library" "$root/build/dist.sqlite.log" -j2 -C "$tree" sqlite
	cp "$tree/build/sqlite/cuckoofilter.so" "$work"
	strip --strip-unneeded "$work/cuckoofilter.so"
}

# npm calls the folder in its archives "package".  A library is in lib/PLATFORM-PROCESSOR, as node.js calls them.
npm_package()
{
	library
	folder=$work/npm/package
	case $cpu in
		x86_64) node=x64 ;;
		aarch64) node=arm64 ;;
		*) node=$cpu ;;
	esac
	mkdir -p "$work/npm"
	cp -a "$tree/sqlite/package/npm" "$folder"
	for built in "linux-$node $work/cuckoofilter.so" "linux-arm64 $arm/build/sqlite/cuckoofilter.so" \
		"win32-x64 $tree/build/windows/cuckoofilter.dll"; do
		[ ! -f "${built#* }" ] || install -D -m 644 -t "$folder/lib/${built%% *}" "${built#* }"
	done
	licences "$folder"
	fill "$folder/package.json"
	npm_archive "$folder" sqlite-cuckoofilter
}

npm()
{
	npm_package
	javascript
}

# The wheel's platform: the oldest glibc that has all the symbols which its libraries take, though none
# before 2.17, past which pip itself does not go back; with another C library, machines of this kind.
platform() # processor objdump library...
{
	machine=$1
	objdump=$2
	shift 2
	newest=$("$objdump" -T "$@" | sed -n 's/.*(GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
	if [ -z "$newest" ]; then
		echo "linux_$machine"
	else
		echo "manylinux_2_$((newest > 17 ? newest : 17))_$machine"
	fi
}

# A wheel of the module that was built in a tree, for a processor.
wheel_of() # tree processor tools-prefix
{
	folder=$work/python-$2
	cp -a "$1/core/package/python" "$folder"
	rm -r "$folder/src" "$folder/package.mk"
	cp "$1"/build/python/cuckoofilter/*.so "$folder/cuckoofilter"
	"$3strip" --strip-unneeded "$folder"/cuckoofilter/*.so
	licences "$folder"
	fill "$folder/setup.cfg"
	(
		cd "$folder"
		name=$(platform "$2" "$3objdump" cuckoofilter/*.so)
		"$root/test/patiently.sh" "building the wheel" "$root/build/dist.wheel.log" \
			/usr/bin/python3 -m build --wheel --no-isolation "-C--build-option=--plat-name=$name" -o "$out"
	)
}

wheel()
{
	"$root/test/building.sh" "building Python's module" "$root/build/dist.python.log" -j2 -C "$tree" python
	wheel_of "$tree" "$cpu" ""
	[ ! -d "$arm/build" ] || wheel_of "$arm" aarch64 aarch64-linux-gnu-
}

# shellcheck source=.ci/dist_other.sh
. .ci/dist_other.sh

git rev-parse -q --verify HEAD > /dev/null || { echo "Packages are made of the last commit, so of a clone by git." >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo "Not in the packages: what is not committed."
[ $# != 0 ] || rm -rf "$out"
rm -rf "$work"
mkdir -p "$out" "$tree"
xxhash=$(echo '#include <xxhash.h>' | ${CC:-cc} -E - | sed -n 's/^# 1 "\(.*xxhash\.h\)".*/\1/p' | head -n 1)
git archive HEAD | tar -x --no-same-permissions --no-same-owner -C "$tree"

all=$#
[ $all != 0 ] || set -- pgxn amalgamation deb windows arm64 npm wheel managers
step=0
for part in "$@"; do
	step=$((step + 1))
	echo "$step of $#: $part"
	touch "$work/begun"
	$part
	(cd "$out" && find . -type f -newer "$work/begun" -printf '  build/dist/%f, %k kB\n' | sort)
done

rm -rf "$work"
[ $all = 0 ] || exit 0
cd "$out"
sha256sum -- * > "$work.sums"
mv "$work.sums" SHA256SUMS
