#!/bin/sh
# `make demo`: test/demo.sql in SQLite's shell, on a database in memory.  TIMER=on shows the shell's own time of
# each statement, too.
set -eu
cd "$(dirname "$0")/.."
test/install.sh demo
test/patiently.sh "building the extension" build/demo.make.log make -s -j2 sqlite
exec sqlite3 -batch -cmd ".timer ${TIMER:-off}" :memory: < test/demo.sql
