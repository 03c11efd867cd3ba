# The packages for other machines, a part of .ci/dist.sh: Windows by mingw-w64, arm64 by gcc-aarch64-linux-gnu,
# WebAssembly by clang; and RPMs.
# shellcheck shell=sh
# shellcheck disable=SC2154 # root, tree, work, out, version, xxhash, arm: of dist.sh

quietly() # what log command argument...
{
	what=$1
	log=$2
	shift 2
	"$root/test/patiently.sh" "$what" "$root/build/dist.$log.log" "$@"
}

# Files of a folder, in this order, to standard output.
archive_of() # folder file...
{
	tar -c --sort=name --owner=0 --group=0 --numeric-owner --format=ustar --mtime="@$SOURCE_DATE_EPOCH" -C "$@" | gzip -9 -n
}

# A folder "package" as npm's archive, whose name is NAME-VERSION.tgz.
npm_archive() # folder name
{
	archive_of "$(dirname "$1")" package > "$out/$2-$version.tgz"
}

# The npm package of the engine.
javascript()
{
	quietly "building the WebAssembly" javascript make -j2 -C "$tree" javascript
	mkdir -p "$work/javascript"
	cp -R "$tree/build/javascript/cuckoofilter" "$work/javascript/package"
	chmod 644 "$work/javascript/package/cuckoofilter.wasm"
	licences "$work/javascript/package"
	cp /usr/share/doc/wasi-libc/copyright "$work/javascript/package/LICENSE.wasi-libc"
	npm_archive "$work/javascript/package" cuckoofilter
}

windows()
{
	quietly "building the library for Windows" windows make -C "$tree" windows
	folder=$work/cuckoofilter-windows-x64-$version
	mkdir -p "$folder"
	cp "$tree/build/windows/cuckoofilter.dll" "$folder"
	sed 's/$/\r/' "$tree/sqlite/package/windows.txt" > "$folder/README.txt"
	licences "$folder"
	zip_of "$folder"
}

# The same sources once more, by another compiler.  Headers that do not depend on the machine are those of this one.
# Python's pyconfig.h is that of a machine of the same sizes; the limited API reads little of it.
arm64_build()
{
	headers=$work/arm64/include
	python=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
	config=$(echo '#include <pyconfig.h>' | ${CC:-cc} "-I$python" -E - | sed -n 's/^# 1 "\(.*-linux-gnu\/.*pyconfig\.h\)".*/\1/p' | head -n 1)
	mkdir -p "$headers/aarch64-linux-gnu/$(basename "$python")"
	for header in sqlite3.h sqlite3ext.h; do
		cp "$(echo "#include <$header>" | ${CC:-cc} -E - | sed -n "s/^# 1 \"\(.*$header\)\".*/\1/p" | head -n 1)" "$headers"
	done
	cp "$xxhash" "$headers"
	cp "$config" "$headers/aarch64-linux-gnu/$(basename "$python")/pyconfig.h"
	cp -a "$tree" "$arm"
	rm -rf "$arm/build"
	quietly "building for arm64" arm64 make -j2 -C "$arm" sqlite lib python CC="aarch64-linux-gnu-gcc -isystem $headers" \
		EXTRA_CFLAGS="-O2 -ffile-prefix-map=$arm=."
	find "$arm/build" -name '*.so*' -type f -exec aarch64-linux-gnu-strip --strip-unneeded {} +
}

# A package of this machine with the libraries of arm64 in their places.  Its dependency is the oldest glibc that has
# what they take, and 2.17 is the first for arm64.
arm64_deb() # name
{
	folder=$work/arm64/deb/$1
	mkdir -p "$work/arm64/deb"
	dpkg-deb -R "$out"/"$1"_*_amd64.deb "$folder"
	find "$folder" -path '*x86_64-linux-gnu' -type d | while read -r path; do
		mv "$path" "$(dirname "$path")/aarch64-linux-gnu"
	done
	find "$folder" -name '*.so*' -type f | while read -r library; do
		cp "$(find "$arm/build/sqlite" "$arm/build/lib" -maxdepth 1 -name "$(basename "$library")")" "$library"
	done
	find "$folder" -name '*.a' | while read -r library; do
		cp "$arm/build/lib/$(basename "$library")" "$library"
	done
	find "$folder" -name '*.pc' -exec sed -i 's/x86_64-linux-gnu/aarch64-linux-gnu/g' {} +
	newest=$(find "$folder" -name '*.so*' -type f -exec aarch64-linux-gnu-objdump -T {} + |
		sed -n 's/.*(GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
	sed -i "s/^Architecture: .*/Architecture: arm64/; s/libc6 (>= [^)]*)/libc6 (>= 2.${newest:-17})/" "$folder/DEBIAN/control"
	(cd "$folder" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
	touch_all "$folder"
	dpkg-deb --root-owner-group -b "$folder" "$(find "$out" -name "$1_*_amd64.deb" | sed 's/_amd64\.deb$/_arm64.deb/')" > /dev/null
}

arm64()
{
	case $cpu in
		x86_64) ;;
		*) echo "skipped: packages for arm64, which are made on x86-64"; return 0 ;;
	esac
	arm64_build
	for name in sqlite3-cuckoofilter libcuckoofilter1 libcuckoofilter-dev; do
		arm64_deb "$name"
	done
}

# What SQLite's package managers sqlpkg and spm download: an archive for each machine, in which the library is the first
# file, and the files that name the archives.  ASSETS=URL says where they will be; without it they are in the same folder.
managers()
{
	if [ ! -d "$arm/build" ] || [ ! -f "$tree/build/windows/cuckoofilter.dll" ]; then
		echo "skipped: sqlpkg.json and spm.json, which name libraries for arm64 and Windows"
		return 0
	fi
	library
	folder=$work/managers
	mkdir -p "$folder"
	licences "$folder"
	(cd "$tree/sqlite/package" && install -m 644 -t "$out" sqlpkg.json spm.json)
	fill "$out/sqlpkg.json" "$out/spm.json"
	sed -i "s|@ASSETS@|${ASSETS:-.}|" "$out/sqlpkg.json"
	for built in "linux-x86_64 $work/cuckoofilter.so" "linux-aarch64 $arm/build/sqlite/cuckoofilter.so" \
		"windows-x86_64 $tree/build/windows/cuckoofilter.dll"; do
		archive=$out/cuckoofilter-$version-${built%% *}.tar.gz
		install -m 644 -t "$folder" "${built#* }"
		archive_of "$folder" "$(basename "${built#* }")" LICENSE LICENSE.xxhash > "$archive"
		sed -i "s/@SHA256-${built%% *}@/$(sha256sum < "$archive" | cut -d ' ' -f 1)/
			s/@MD5-${built%% *}@/$(md5sum < "$archive" | cut -d ' ' -f 1)/" "$out/sqlpkg.json" "$out/spm.json"
	done
}

# The packages' names have the server that they are for.  Their files are the same anywhere; the source package tells
# the folder that rpmbuild ran in.
rpm()
{
	mkdir -p "$work/rpm"
	zip_of "$tree"
	cp "$tree/pg/package/cuckoofilter.spec" "$out/cuckoofilter-$version.zip" "$work/rpm"
	fill "$work/rpm/cuckoofilter.spec"
	touch_all "$work/rpm"
	quietly "building RPMs" rpm rpmbuild -ba --nodeps --define "_topdir $work/rpm" --define "_sourcedir $work/rpm" \
		--define "_srcrpmdir $out" --define "_rpmdir $out" --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
		--define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" \
		--define "clamp_mtime_to_source_date_epoch 1" --define "_smp_mflags -j2" \
		--define "pg_config ${PG_CONFIG:-pg_config}" "$work/rpm/cuckoofilter.spec"
}
