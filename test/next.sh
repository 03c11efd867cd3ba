#!/bin/sh
# How a demo ends: what to read and do next, and how to take away what it brought.
#
#   test/next.sh NEXT COMMAND     COMMAND removes what the demo left in this folder
set -eu
cd "$(dirname "$0")/.."
echo
echo "Next:  $1"
if [ -s build/installed ]; then
	echo "Undo:  sudo apt-get autoremove --purge $(sort -u build/installed | tr '\n' ' ')"
fi
echo "Undo:  $2"
