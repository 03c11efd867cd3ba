#!/bin/sh
# PostgreSQL's drivers, those of node.js where npm can install them.
set -eu
cd "$(dirname "$0")/../.."

test/drivers/npm.sh
exec test/pg/run.sh test/drivers/postgresql.pl
