#!/bin/sh
# Debian's Python for arm64, for qemu-user:  test/arm64_python.sh FOLDER
#
# FOLDER gets the files of the packages, as a root of its own; nothing is installed.  It needs apt-get and dpkg-deb,
# and nothing if FOLDER has them already.
set -eu
folder=$1
[ ! -f "$folder/usr/bin/python3" ] || exit 0
for tool in apt-get dpkg-deb; do
	command -v "$tool" > /dev/null || { echo "Python for arm64 needs $tool." >&2; exit 1; }
done

# Lists and a status of our own, as on a machine of arm64 that has no package yet.
new=$folder.new
rm -rf "$new"
mkdir -p "$new/state/lists/partial" "$new/cache/archives/partial" "$new/root"
: > "$new/status"
apt()
{
	apt-get -q -y -o "Dir::State=$new/state" -o "Dir::State::status=$new/status" -o "Dir::Cache=$new/cache" \
		-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root "$@"
}
apt update
apt install --download-only --no-install-recommends python3-minimal libpython3-stdlib
for deb in "$new"/cache/archives/*.deb; do
	dpkg-deb -x "$deb" "$new/root"
done
rm -rf "$folder"
mv "$new/root" "$folder"
rm -rf "$new"
