#!/bin/sh
# `make demo`: test/demo.sql in SQLite's shell, on a database in memory.  TIMER=on shows the shell's own time of
# each statement, too.
set -eu
cd "$(dirname "$0")/.."
test/install.sh demo
test/building.sh "building the extension" build/demo.make.log -j2 sqlite
sqlite3 -batch -cmd ".timer ${TIMER:-off}" :memory: < test/demo.sql
test/next.sh "sqlite/README.md, the guide; sudo make install-sqlite; make demo-pg, make demo-web" "make clean"
