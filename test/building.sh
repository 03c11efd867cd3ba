#!/bin/sh
# make, which says each 30 seconds how many of its files are built:
#
#   test/building.sh WHAT LOG ARGUMENT...
#
# With make -s, where make names no file, it says only that it still runs.
set -eu
what=$1
log=$2
shift 2
# Flags of one letter come first.
flags=${MAKEFLAGS:-}
flags=${flags%% *}
case ${flags%%[=-]*} in
	*s*) ;;
	*)
		# A rule names the file on a line of its own, or is a command that writes it.
		files=$(make -n "$@" 2> /dev/null | sed -n "s/^echo '  \([^' ]*\)'.*/\1/p; s/.* -o \([^ ]*\).*/\1/p" | sort -u | wc -l)
		export EACH='^  [^ ]*$\| -o ' OF="$files files"
		;;
esac
exec "$(dirname "$0")/patiently.sh" "$what" "$log" make "$@"
