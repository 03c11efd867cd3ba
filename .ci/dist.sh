#!/bin/sh
# What people install, written into build/dist by `make dist`:
#
#     cuckoofilter-VERSION.zip                 the sources, as PGXN takes them
#     cuckoofilter-amalgamation-VERSION.zip    the SQLite extension in one C file, and the engine's header
#     postgresql-NN-cuckoofilter_*.deb         for the server of PG_CONFIG, which is one of Debian's
#     sqlite3-cuckoofilter_*.deb
#     libcuckoofilter1_*.deb, libcuckoofilter-dev_*.deb
#     sqlite-cuckoofilter-VERSION.tgz          for npm; it and the wheel have libraries for this machine's kind
#     cuckoofilter-VERSION-cp39-abi3-*.whl     for pip, and every Python from 3.9 on
#     SHA256SUMS
#
# All of it is made of the last commit, whatever else is in the folder, and bears that commit's time:
# the same commit and the same tools give the same bytes.  What must repeat the version gets it here.
set -eu
cd "$(dirname "$0")/.."
umask 022
unset MAKEFLAGS MAKELEVEL MFLAGS
DEB_BUILD_PROFILES=
export LC_ALL=C TZ=UTC

root=$PWD
out=$root/build/dist
work=$root/build/dist.work
version=$(git show HEAD:core/cuckoofilter.h | sed -n 's/^#define CKF_VERSION "\(.*\)"/\1/p')
tree=$work/cuckoofilter-$version
cpu=$(${CC:-cc} -dumpmachine)
cpu=${cpu%%-*}
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

# A file with the version, and the processor as node.js calls it, in their places.
fill() # file...
{
	case $cpu in
		x86_64) node=x64 ;;
		aarch64) node=arm64 ;;
		arm*) node=arm ;;
		i?86) node=ia32 ;;
		powerpc64*) node=ppc64 ;;
		*) node=$cpu ;;
	esac
	sed -i "s/@VERSION@/$version/; s/@CPU@/$node/" "$@"
}

# xxHash's licence wants to be where its code is: all up to the end of the header's first comment.
licences() # folder
{
	cp "$tree/LICENSE" "$1/LICENSE"
	sed '/\*\//q' "$xxhash" > "$1/LICENSE.xxhash"
}

sources()
{
	mkdir -p "$tree"
	git archive HEAD | tar -x --no-same-permissions --no-same-owner -C "$tree"
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

debs()
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
	"$root/test/patiently.sh" "building the library" "$root/build/dist.sqlite.log" make -j2 -C "$tree" sqlite
	cp "$tree/build/sqlite/cuckoofilter.so" "$work"
	strip --strip-unneeded "$work/cuckoofilter.so"
}

# npm calls the folder in its archives "package".
npm_package()
{
	folder=$work/npm/package
	mkdir -p "$work/npm"
	cp -a "$tree/sqlite/package/npm" "$folder"
	cp "$work/cuckoofilter.so" "$folder"
	licences "$folder"
	fill "$folder/package.json"
	tar -c --sort=name --owner=0 --group=0 --numeric-owner --format=ustar --mtime="@$SOURCE_DATE_EPOCH" \
		-C "$work/npm" package | gzip -9 -n > "$out/sqlite-cuckoofilter-$version.tgz"
}

# The wheel's platform: the oldest glibc that has all the symbols which its libraries take, though none
# before 2.17, past which pip itself does not go back; with another C library, machines of this kind.
platform() # library...
{
	kind=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_platform().replace("-", "_"))')
	newest=$(objdump -T "$@" | sed -n 's/.*(GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
	if [ -z "$newest" ]; then
		echo "$kind"
	else
		echo "manylinux_2_$((newest > 17 ? newest : 17))_${kind#linux_}"
	fi
}

wheel()
{
	folder=$work/python
	"$root/test/patiently.sh" "building Python's module" "$root/build/dist.python.log" make -j2 -C "$tree" python
	cp -a "$tree/core/package/python" "$folder"
	rm -r "$folder/src" "$folder/package.mk"
	cp "$tree"/build/python/cuckoofilter/*.so "$folder/cuckoofilter"
	strip --strip-unneeded "$folder"/cuckoofilter/*.so
	licences "$folder"
	fill "$folder/setup.cfg"
	(cd "$folder" && "$root/test/patiently.sh" "building the wheel" "$root/build/dist.wheel.log" \
		/usr/bin/python3 -m build --wheel --no-isolation "-C--build-option=--plat-name=$(platform cuckoofilter/*.so)" -o "$out")
}

[ -z "$(git status --porcelain)" ] || echo "Not in the packages: what is not committed."
rm -rf "$out" "$work"
mkdir -p "$out" "$work"
xxhash=$(echo '#include <xxhash.h>' | ${CC:-cc} -E - | sed -n 's/^# 1 "\(.*xxhash\.h\)".*/\1/p' | head -n 1)

step=0
for part in sources amalgamation debs library npm_package wheel; do
	step=$((step + 1))
	echo "$step of 6: $part"
	$part
done

rm -rf "$work"
cd "$out"
sha256sum -- * > "$work.sums"
mv "$work.sums" SHA256SUMS
ls -l
