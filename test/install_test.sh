#!/bin/sh
# test/install.sh, with a dpkg-query and an apt-get that only tell what they were asked for.
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/build/test/install
rm -rf "$bin"
mkdir -p "$bin"
passed=0
failed=0

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

same() # what got want
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED: %s: got\n%s\nwant\n%s\n' "$1" "$2" "$3"
	fi
}

stub id 'echo 0'
stub apt-get "echo \"\$@\" >> '$bin/asked'"
missing="gcc libc6-dev libsqlite3-dev libxxhash-dev make valgrind"
unset INSTALL

stub dpkg-query 'exit 1'
same "it names what it is about to install, and how to forbid it" "$(says valgrind)" \
	"Installing by apt-get (INSTALL=no forbids it): $missing
status 0"
same "it installs just these" "$(cat "$bin/asked" 2>&1)" "install -y -q --no-install-recommends $missing"

rm -f "$bin/asked"
same "INSTALL=no installs nothing, and names them" "$(INSTALL=no says valgrind)" \
	"Not installed, as INSTALL=no says, so that what needs them will fail: $missing
status 0"
same "INSTALL=no never comes to apt-get" "$(ls "$bin")" "apt-get
dpkg-query
id"

stub apt-get 'echo broken' 'exit 100'
same "a failure is one, with apt-get's words" "$(INSTALL=yes says valgrind | tail -n 2)" "broken
status 1"

stub dpkg-query "echo 'install ok installed'"
same "where nothing is missing it says nothing" "$(says valgrind)" "status 0"

stub dpkg-query 'exit 1'
same "make hands INSTALL=no on" "$(PATH=$bin:$PATH make -s install-deps INSTALL=no PG_CONFIG=none | cut -d : -f 1)" \
	"Not installed, as INSTALL=no says, so that what needs them will fail"

echo "install: $passed passed, $failed failed"
[ "$failed" = 0 ]
