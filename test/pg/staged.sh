#!/bin/sh
# Settings with which the server of PG_CONFIG takes the extension from the folder where stage.sh
# put it:
#
#   test/pg/staged.sh STAGE         lines of postgresql.conf
#   test/pg/staged.sh STAGE -o      options of pg_virtualenv
#
# PostgreSQL 18 has a setting of its own for extensions, and takes them from what `make image` laid
# out, too; before, Debian's servers have one. Nothing is printed for a server that has neither.
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
if [ "$version" -ge 18 ] && [ -d "$1/share/extension" ]; then
	setting extension_control_path "$1/share:\$system"
	setting dynamic_library_path "$1/lib:\$libdir"
	exit 0
elif [ "$version" -ge 18 ]; then
	setting extension_control_path "$1$($PG_CONFIG --sharedir):\$system"
elif "$($PG_CONFIG --bindir)/postgres" --describe-config | grep -q '^extension_destdir	'; then
	setting extension_destdir "$1"
else
	exit 0
fi
setting dynamic_library_path "$1$($PG_CONFIG --pkglibdir):\$libdir"
