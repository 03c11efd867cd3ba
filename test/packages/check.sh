# What the scripts beside this one begin with.  Each is run by test/packages.sh as root of a bare system,
# in which /packages has the packages and these scripts; VERSION names the release.
# shellcheck shell=sh
export DEBIAN_FRONTEND=noninteractive

# The filter of 'a', 'b' and 'c', whatever it is built by.
# shellcheck disable=SC2034 # for the scripts
ABC=434B46020100000400400007000002000300000000000000000000000000000003000000000000007B14AE47E17A843FAAD197D956397D119C1BD918E81F98A5885EE78C835288F4

equal() # what got want
{
	if [ "$2" = "$3" ]; then
		echo "ok   $1"
	else
		echo "FAIL $1: got $2, want $3"
	fi
}

# What is not ours to test and takes long to read, unless it fails.
quietly() # command argument...
{
	"$@" > /tmp/log 2>&1 || {
		tail -n 30 /tmp/log
		return 1
	}
}

packages() # package...
{
	quietly apt-get install -y -q --no-install-recommends "$@"
}
