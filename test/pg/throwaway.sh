# A folder for a throw-away cluster, and a user who may run it; sourced by the scripts that start a server.
#
#   throwaway NAME     sets work, a new folder, and as_user, which begins a command of the server's user
#
# The folder is in TMPDIR if the server's user can enter that, and if a socket's name has room there; else in /tmp.
# The caller removes it.  What the environment says about other servers is unset, and so is a locale that this
# machine does not have.
# shellcheck shell=sh
# shellcheck disable=SC2034 # work, as_user: for the caller

# The server refuses to run as root.
if [ "$(id -u)" = 0 ]; then
	as_user="runuser -u postgres --"
else
	as_user=
fi

# shellcheck disable=SC2086 # a command and its arguments
can_hold() # folder
{
	case $1 in
		/*[!A-Za-z0-9/._+-]* | [!/]*) return 1 ;;
	esac
	[ ${#1} -le 40 ] && [ -d "$1" ] && [ -w "$1" ] && (cd / && $as_user test -x "$1")
}

throwaway() # name
{
	# shellcheck disable=SC2046 # names are words
	unset $(env | sed -n 's/^\(PG[A-Z]*\)=.*/\1/p') CDPATH
	# shellcheck disable=SC2046 # names are words
	[ -z "$(locale 2>&1 > /dev/null)" ] || unset LANG LANGUAGE $(env | sed -n 's/^\(LC_[A-Z]*\)=.*/\1/p')
	can_hold "${TMPDIR:-/tmp}" || TMPDIR=/tmp
	export TMPDIR="${TMPDIR:-/tmp}"
	work=$(mktemp -d -t "cuckoofilter-$1.XXXXXX")
}
