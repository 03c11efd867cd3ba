#!/bin/sh
# npm's package: Debian's node.js and npm install and find it, better-sqlite3 and node:sqlite load it.  Those two
# want a newer node.js than Debian's may be, and better-sqlite3 an npm that compiles for it; npm has both as packages.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages npm g++ make python3
mkdir /app
cd /app
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
quietly npm init -y
quietly npm install --offline "/packages/sqlite-cuckoofilter-$VERSION.tgz"
installed=/app/node_modules/sqlite-cuckoofilter
library=$installed/lib/linux-$(node -p process.arch)/cuckoofilter.so
equal "npm: require finds the library" \
	"$(node -p "require('sqlite-cuckoofilter').getLoadablePath()" 2>&1)" "$library"
equal "npm: import finds it, too" \
	"$(node --input-type=module -e "import * as c from 'sqlite-cuckoofilter'; console.log(c.getLoadablePath(), typeof c.load)" 2>&1)" \
	"$library function"
equal "npm: its version is the release's" "$(node -p "require('sqlite-cuckoofilter/package.json').version")" "$VERSION"
mv "$library" /tmp
equal "npm: on other machines it says so" \
	"$(node -e "require('sqlite-cuckoofilter').getLoadablePath()" 2>&1 | grep -c 'this package has libraries for linux-arm64, ')" 1
mv /tmp/cuckoofilter.so "$library"
equal "npm: the library for Windows is there" "$(head -c 2 "$installed/lib/win32-x64/cuckoofilter.dll")" MZ

# The engine in WebAssembly.  Its example runs, and a filter of this package is the databases'.
quietly npm install --offline "/packages/cuckoofilter-$VERSION.tgz"
equal "npm: cuckoofilter builds the same bytes" \
	"$(node --input-type=module -e "import { Filter, version } from 'cuckoofilter';
		console.log(version(), Buffer.from(Filter.build(['a', 'b', 'c']).bytes()).toString('hex').toUpperCase())" 2>&1)" "$VERSION $ABC"
equal "npm: cuckoofilter has its types and licences" \
	"$(cd /app/node_modules/cuckoofilter && cat LICENSE LICENSE.xxhash LICENSE.wasi-libc README.md cuckoofilter.wasm index.d.ts > /tmp/all && echo yes)" yes
said=$(sed -n 's/.*WebAssembly of \([0-9]*\) kB.*/\1/p' /app/node_modules/cuckoofilter/README.md)
size=$(stat -c %s /app/node_modules/cuckoofilter/cuckoofilter.wasm)
equal "npm: the WebAssembly has at most the kB that its page tells" "$([ $(((size + 500) / 1000)) -le "$said" ] && echo yes)" yes

cpu=$(node -p process.arch)
if ! quietly npm install "node-linux-$cpu@22" npm@10; then
	echo "skipped: better-sqlite3 and node:sqlite, since npm cannot install node.js 22 here"
	exit 0
fi
PATH="/app/node_modules/node-linux-$cpu/bin:/app/node_modules/.bin:$PATH"

cat > builtin.js << 'TEXT'
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(':memory:', { allowExtension: true });
require('sqlite-cuckoofilter').load(db);
console.log(db.prepare("SELECT cuckoofilter_version() || ' ' || hex(cuckoofilter_agg(column1)) AS f FROM (VALUES ('a'), ('b'), ('c'))").get().f);
TEXT
equal "npm: node:sqlite loads it" "$(node --no-warnings builtin.js 2>&1)" "$VERSION $ABC"

export npm_config_nodedir="/app/node_modules/node-linux-$cpu"
if ! quietly npm install "better-sqlite3@$BETTER_SQLITE3"; then
	echo "skipped: better-sqlite3, since npm cannot install it here"
	exit 0
fi
cat > better.mjs << 'TEXT'
import Database from 'better-sqlite3';
import { load } from 'sqlite-cuckoofilter';
const db = new Database(':memory:');
load(db);
console.log(db.prepare("SELECT cuckoofilter_version() || ' ' || hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))").pluck().get());
TEXT
equal "npm: better-sqlite3 loads it" "$(node better.mjs 2>&1)" "$VERSION $ABC"

# shellcheck disable=SC2016 # no command
sed -n '/^```js/,/^```/{/^```/!p}' "$installed/README.md" | sed 's/^\(db.prepare.*\);.*/console.log(\1.length)/' > example.mjs
equal "npm: its README's example runs" "$(node example.mjs 2>&1)" 72
