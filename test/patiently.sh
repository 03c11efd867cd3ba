#!/bin/sh
# Runs a command and says each 30 seconds that it still runs:
#
#   [EACH=PATTERN OF="212 files"] test/patiently.sh WHAT LOG COMMAND...
#
# The command's output goes to the file LOG, and is shown if the command fails.  In a terminal one line
# is written anew each second.  With EACH it also says how far the command is: the lines of LOG that have this
# pattern, divided by PER if there are so many for each of OF.
set -eu
what=$1
log=$2
shift 2
each=${EACH:-}
of=${OF:-}
per=${PER:-1}
unset EACH OF PER
mkdir -p "$(dirname "$log")"
"$@" > "$log" 2>&1 &
pid=$!
trap 'kill "$pid" 2> /dev/null; exit 130' INT
trap 'kill "$pid" 2> /dev/null; exit 143' TERM HUP

far()
{
	[ -z "$each" ] || echo "$(($(grep -c "$each" "$log") / per)) of $of, "
}

anew=
end='\n'
every=${EVERY:-30}
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
	anew='\r\033[K'
	end=
	every=1
fi
started=$(date +%s)
said=$started
while kill -0 "$pid" 2> /dev/null; do
	sleep 0.2
	now=$(date +%s)
	if [ $((now - said)) -ge "$every" ]; then
		# shellcheck disable=SC2059 # the format has the control characters
		printf "$anew  %s: %s%d s$end" "$what" "$(far)" $((now - started))
		said=$now
	fi
done
# shellcheck disable=SC2059
printf "$anew"
status=0
wait "$pid" || status=$?
if [ "$status" != 0 ]; then
	tail -n 60 "$log" >&2
	echo "$what: failed, exit status $status; all of its output is in $log" >&2
fi
exit "$status"
