#!/bin/sh
# Installs the drivers that package-lock.json names into build/test/drivers, once
# for each state of that file.  Where npm cannot, it says so: whoever needs a
# driver looks whether it is there, and skips what it is for.
set -eu
cd "$(dirname "$0")/../.."

modules=build/test/drivers
if ! command -v npm > /dev/null; then
	echo "npm is not here: no drivers of node.js"
	exit 0
fi
mkdir -p "$modules"
# Two suites may ask for them at a time; the second waits, and finds them.
exec 9> "$modules/lock"
flock 9
cmp -s test/drivers/package-lock.json "$modules/ready" && exit 0
echo "installing node.js drivers (better-sqlite3 may compile SQLite: two minutes)"
rm -f "$modules/ready"
cp test/drivers/package.json test/drivers/package-lock.json "$modules"
if npm ci --no-audit --no-fund --prefix "$modules" > "$modules/log" 2>&1; then
	cp test/drivers/package-lock.json "$modules/ready"
else
	tail -n 5 "$modules/log"
fi
