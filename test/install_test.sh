#!/bin/sh
# test/install.sh, with a dpkg-query and an apt-get that only tell what they were asked for; how test/next.sh undoes
# it, and how test/patiently.sh says how far it is.
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/build/test/install
rm -rf "$bin"
mkdir -p "$bin"
# shellcheck source=test/counts.sh
. test/counts.sh

stub() # name line...
{
	name=$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" > "$bin/$name"
	chmod +x "$bin/$name"
}

# What install.sh says, and its exit status; $INSTALL is the caller's.
says() # group...
{
	status=0
	PATH=$bin:$PATH test/install.sh "$@" 2>&1 || status=$?
	echo "status $status"
}

stub id 'echo 0'
stub apt-get 'case $* in' '*--print-uris*) echo "0 upgraded, 3 newly installed, 0 to remove and 0 not upgraded."' \
	'echo "After this operation, 1,234 MB of additional disk space will be used." ;;' \
	"*) echo \"\$@\" >> '$bin/asked' ;;" 'esac'
missing="gcc libc6-dev libsqlite3-dev libxxhash-dev make valgrind"
unset INSTALL
export INSTALLED="$bin/installed"

# Of the two that come, one was not asked for; another was there.
stub dpkg-query 'case $* in' "*binary:Package*) printf 'ii  old\nrc  removed\n'; [ ! -e '$bin/asked' ] || printf 'ii  cpp\nii  gcc:amd64\n' ;;" '*) exit 1 ;;' 'esac'
same "it names what it is about to install, its size, and how to forbid it" "$(says valgrind)" \
	"Installing by apt-get (INSTALL=no forbids it), 1,234 MB of disk space: $missing
status 0"
same "it installs just these" "$(cat "$bin/asked" 2>&1)" "-o DPkg::Lock::Timeout=600 -q install -y --no-install-recommends $missing"
same "it keeps what came, for the demos" "$(paste -sd ' ' "$INSTALLED")" "cpp gcc:amd64"
same "a demo says to root how to remove all that came, and nothing else" "$(PATH=$bin:$PATH test/next.sh "sudo make install" "make clean")" "
Next:  make install
Undo:  dpkg --purge \$(cat $INSTALLED); make clean"
stub id 'echo 1000'
same "to others with sudo" "$(PATH=$bin:$PATH test/next.sh "sudo make install" "make clean")" "
Next:  sudo make install
Undo:  sudo dpkg --purge \$(cat $INSTALLED); make clean"
stub id 'echo 0'
rm -f "$INSTALLED"
same "without packages to remove, how to remove the files" "$(PATH=$bin:$PATH test/next.sh reading "make clean" | tail -n 1)" "Undo:  make clean"

# apt-get goes on when it was said how far it is.
stub waits "for i in \$(seq 300); do ! grep -q \"\$1\" '$bin/said' || break; sleep 0.1; done"
# shellcheck disable=SC2016 # the stub expands it
stub apt-get 'case $* in' '*--print-uris*) echo "1 upgraded, 2 newly installed, 0 to remove and 0 not upgraded."' \
	'echo "After this operation, 1,234 MB of additional disk space will be used." ;;' \
	'*) for i in 1 2 3; do echo "Get:$i http://deb.debian.org/debian x"; done; for i in 1 2 3; do echo "Unpacking $i (1.0) ..."; done' \
	"waits '2 of 3 packages'; for i in 1 2 3; do echo \"Setting up \$i (1.0) ...\"; done; waits '3 of 3 packages' ;;" 'esac'
EVERY=0 says valgrind > "$bin/said"
same "it says how many packages came" "$(sed -n 's/^  installing: \(. of . packages\), [0-9]* s$/\1/p' "$bin/said" | uniq | tail -n 2)" "2 of 3 packages
3 of 3 packages"
rm -f "$bin/said" "$bin/waits" "$INSTALLED"

rm -f "$bin/asked"
same "INSTALL=no installs nothing, and names them" "$(INSTALL=no says valgrind)" \
	"Not installed, as INSTALL=no says, so that what needs them will fail: $missing
status 0"
same "INSTALL=no never comes to apt-get" "$(ls "$bin")" "apt-get
dpkg-query
id"

# PostgreSQL's packages read this file.
CLUSTER_SETTINGS=$bin/createcluster.conf
export CLUSTER_SETTINGS
echo "#create_main_cluster = true" > "$CLUSTER_SETTINGS"
stub apt-get "cp '$CLUSTER_SETTINGS' '$bin/read'"
same "it says that the server comes without a cluster" "$(says pg | grep -c 'without a cluster')" 1
same "the server's package is told so" "$(cat "$bin/read")" "#create_main_cluster = true
create_main_cluster = false"
same "the setting is as before afterwards" "$(cat "$CLUSTER_SETTINGS"; ls "$bin"/createcluster*)" "#create_main_cluster = true
$CLUSTER_SETTINGS"

stub apt-get 'echo broken' 'exit 100'
same "a failure leaves the setting as before" "$(says pg > /dev/null; cat "$CLUSTER_SETTINGS")" "#create_main_cluster = true"
same "a failure is one, with apt-get's words" "$(INSTALL=yes says valgrind | sed -n '/^broken/p; $p' | uniq)" "broken
status 1"

stub dpkg-query "echo 'install ok installed'"
same "where nothing is missing it says nothing" "$(says valgrind)" "status 0"

stub dpkg-query 'exit 1'
same "make hands INSTALL=no on" "$(PATH=$bin:$PATH make -s install-deps INSTALL=no PG_CONFIG=none | cut -d : -f 1)" \
	"Not installed, as INSTALL=no says, so that what needs them will fail"

# The size that is named is that of all that comes.
same "the demo of PostgreSQL asks for the server and its headers at once" \
	"$(PATH=$bin:$PATH INSTALL=no PG_CONFIG=none test/pg/demo.sh 2> /dev/null | sed -n 's/.* \(postgresql .*dev-all\).*/\1/p')" \
	"postgresql postgresql-common postgresql-server-dev-all"
same "and so does that of the browser" "$(make -n demo-web PG_CONFIG=none | sed -n 's/^test.install.sh //p')" "demo-web demo-pg pgdev"

# Debian's client package: a pg_config, but no headers of the server.
# shellcheck disable=SC2016 # the stub expands it
stub pg_config 'case $1 in' '--version) echo "PostgreSQL 16.9 (Debian 16.9-1.pgdg120+1)" ;;' "--includedir-server) echo '$bin/none' ;;" \
	"--pgxs) echo '$bin/pgxs.mk' ;;" 'esac'
needs() # pg_config target
{
	make -s "$2" PG_CONFIG="$1" 2>&1 | sed -n 's/.*\(the server headers .*\) (on Debian.*/\1/p'
}
wants="the server headers of PostgreSQL are missing: install postgresql-server-dev"
same "make pg without headers names their package" "$(needs "$bin/pg_config" pg)" "$wants-16"
same "and so does make install" "$(needs "$bin/pg_config" install)" "$wants-16"
same "without a pg_config, that of all versions" "$(needs none pg)" "$wants-all"

counts install
