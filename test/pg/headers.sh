#!/bin/sh
# The headers of the server of PG_CONFIG, if it has none: from Debian's package of them, unpacked into build/pgdev, where
# the Makefile finds them. Who installs this package also gets llvm and clang, which nothing here needs: half a gigabyte.
set -eu
cd "$(dirname "$0")/../.."
: "${PG_CONFIG:=pg_config}"
include=$($PG_CONFIG --includedir-server)
[ ! -f "$include/postgres.h" ] && [ ! -f "build/pgdev$include/postgres.h" ] || exit 0
package=postgresql-server-dev-$($PG_CONFIG --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
if [ "${INSTALL:-yes}" = no ] || ! command -v dpkg-deb > /dev/null; then
	echo "The headers of PostgreSQL are not there ($package), so that what needs them will fail."
	exit 0
fi
echo "Unpacking the headers of $package in build/pgdev; they are not installed."
rm -rf build/pgdev
mkdir -p build/pgdev
cd build/pgdev
apt-get -qq -o APT::Sandbox::User=root download "$package"
dpkg-deb -x "$package"_*.deb .
rm "$package"_*.deb
