#!/bin/sh
# SQLite's public sources, as Debian has them:  sqlite/package/source.sh FOLDER
#
# FOLDER gets the source tree, with sqlite3.c, sqlite3.h, sqlite3ext.h and shell.c made in it.  A build
# for another system compiles them; nothing of them is kept in the repository.  It needs apt-get, dpkg-dev,
# gcc, make and tclsh, and nothing if FOLDER has them already.
set -eu
folder=$1
release=trixie # SQLite 3.46

[ ! -f "$folder/shell.c" ] || [ ! -f "$folder/sqlite3.c" ] || exit 0
for tool in apt-get dpkg-source tclsh gcc make; do
	command -v "$tool" > /dev/null || { echo "SQLite's sources need $tool." >&2; exit 1; }
done

# Lists of our own: the machine's may have no sources.
rm -rf "$folder.new"
mkdir -p "$folder.new/lists/partial"
cd "$folder.new"
echo "deb-src http://deb.debian.org/debian $release main" > sources.list
sources()
{
	apt-get -q -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o "Dir::State::lists=$PWD/lists" -o "Dir::Cache::srcpkgcache=" -o "Dir::Cache::pkgcache=" \
		-o APT::Sandbox::User=root "$@"
}
sources update
sources source sqlite3
rm -rf "$folder"
mv sqlite3-*/ "$folder"
rm -rf "$folder.new"
cd "$folder"
./configure --disable-tcl > configure.log
make sqlite3.c sqlite3.h > make.log
make shell.c >> make.log # the last file, which says that all is there
