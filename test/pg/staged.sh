#!/bin/sh
# Settings with which the server of PG_CONFIG takes the extension from a folder
# where `make install DESTDIR=` put it:
#
#   test/pg/staged.sh STAGE         lines of postgresql.conf
#   test/pg/staged.sh STAGE -o      options of pg_virtualenv
#
# PostgreSQL 18 has a setting of its own for extensions; before, Debian's servers have one.
set -eu
: "${PG_CONFIG:=pg_config}"
version=$($PG_CONFIG --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')

setting() # name value
{
	if [ -n "$option" ]; then
		echo "$option $1=$2"
	else
		echo "$1 = '$2'"
	fi
}

option=${2:-}
setting dynamic_library_path "$1$($PG_CONFIG --pkglibdir):\$libdir"
if [ "$version" -ge 18 ]; then
	setting extension_control_path "$1$($PG_CONFIG --sharedir):\$system"
else
	setting extension_destdir "$1"
fi
