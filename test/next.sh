#!/bin/sh
# How a demo ends: what to read and do next, and how to take away what it brought.
#
#   test/next.sh NEXT COMMAND     COMMAND removes what the demo left in this folder
#
# dpkg keeps the packages that others need. apt-get would remove those others, too, such as a server of PostgreSQL
# that was installed after the demo, with its clusters.
set -eu
cd "$(dirname "$0")/.."
undo=$2
installed=${INSTALLED:-build/installed}
if [ -s "$installed" ]; then
	undo="sudo dpkg --purge \$(cat $installed); $2"
fi
sudo='sudo '
[ "$(id -u)" != 0 ] || sudo=
{
	echo
	echo "Next:  $1"
	echo "Undo:  $undo"
} | sed "s/sudo /$sudo/g"
