// better-sqlite3, which has a newer SQLite of its own and binds every number
// as REAL.  Run by better_sqlite3.sh.
const path = require('path');
const root = path.join(__dirname, '..', '..');
const Database = require(path.join(root, 'build', 'test', 'drivers', 'node_modules', 'better-sqlite3'));

const db = new Database(':memory:');
let passed = 0;
let failed = 0;

// The first column of the first row; the error, where it fails.
function one(sql, ...parameters) {
	try {
		return db.prepare(sql).pluck().get(...parameters);
	} catch (error) {
		return error;
	}
}

function equal(what, got, want) {
	if (Buffer.isBuffer(got) && Buffer.isBuffer(want) ? got.equals(want) : got === want) {
		passed++;
	} else {
		failed++;
		console.log(`FAILED: ${what}: got ${got}, want ${want}`);
	}
}

function refuses(sentence, sql, ...parameters) {
	const got = one(sql, ...parameters);
	equal(sql, got instanceof Error ? got.message : got, sentence);
}

db.loadExtension(path.join(root, 'build', 'sqlite', 'cuckoofilter'));
console.log(`SQLite ${one('SELECT sqlite_version()')}`);

// Numbers that come as REAL
equal('typeof', one('SELECT typeof(?)', 5), 'real');
equal('integer', one('SELECT cuckoofilter_hash(?) = cuckoofilter_hash(5)', 5), 1);
equal('bigint', one('SELECT cuckoofilter_hash(?) = cuckoofilter_hash(?)', 5n, 5), 1);
equal('2^53', one('SELECT cuckoofilter_hash(?) = cuckoofilter_hash(9007199254740992)', 2 ** 53), 1);
equal('-0', one('SELECT cuckoofilter_hash(?) = cuckoofilter_hash(0)', -0), 1);
equal('fraction', one('SELECT cuckoofilter_hash(?) = cuckoofilter_hash(0.5)', 0.5), 1);
equal('capacity', one('SELECT cuckoofilter_create(?, ?)', 1000, 0.001),
	one('SELECT cuckoofilter_create(1000, 0.001)'));
equal('seed', one('SELECT cuckoofilter_hash(1, ?) = cuckoofilter_hash(1, 7)', 7), 1);
refuses('capacity must be an integer, not 1.5', 'SELECT cuckoofilter_create(?)', 1.5);

// A filter of 100,000 numbers, all of them bound
db.exec('CREATE TABLE item (x)');
const insert = db.prepare('INSERT INTO item VALUES (?)');
db.transaction(() => { for (let i = 0; i < 100000; i++) insert.run(i); })();
const filter = one('SELECT cuckoofilter_agg(x) FROM item');
equal('Buffer', Buffer.isBuffer(filter), true);
equal('of integers too', filter, one('SELECT cuckoofilter_agg(CAST(x AS INTEGER)) FROM item'));
equal('contains', one('SELECT sum(cuckoofilter_contains(?, x)) FROM item', filter), 100000);
equal('handle', one('SELECT sum(cuckoofilter_contains((SELECT cuckoofilter_open(?)), x)) FROM item', filter), 100000);
equal('hash as BigInt', one('SELECT cuckoofilter_contains_hash(?, ?)', filter,
	db.prepare('SELECT cuckoofilter_hash(77)').safeIntegers().pluck().get()), 1);

// JSON, RETURNING, window frames, untrusted schema
equal('info', JSON.parse(one('SELECT cuckoofilter_info(?)', filter)).count, 100000);
equal('subtype', one("SELECT json_type(json_array(cuckoofilter_info(?)), '$[0]')", filter), 'object');
db.exec('PRAGMA trusted_schema = OFF; CREATE TABLE stored (f BLOB)');
equal('returning', one('INSERT INTO stored VALUES (?) RETURNING cuckoofilter_count(f)', filter), 100000);
db.exec('CREATE VIEW counted AS SELECT cuckoofilter_count(f) AS n FROM stored');
equal('view', one('SELECT n FROM counted'), 100000);
equal('window', one('SELECT max(n) FROM (SELECT cuckoofilter_count(cuckoofilter_agg(x) OVER (ORDER BY x)) AS n ' +
	'FROM item WHERE x < 50)'), 50);
refuses('cuckoofilter must be a BLOB or come from cuckoofilter_open, not TEXT: ask a filter table by EXISTS (SELECT 1 FROM name WHERE item = ..)', "SELECT cuckoofilter_count('a')");

// Parameters of each type, beside columns and the handle
const mixed = one("SELECT cuckoofilter_add_all(cuckoofilter_create(1000), 1, 2, 3, 0.5, 'x', '7', x'78', 9007199254740993)");
db.exec('CREATE TABLE mixed (f BLOB); CREATE VIEW handle AS SELECT cuckoofilter_open(f) AS h FROM mixed');
db.prepare('INSERT INTO mixed VALUES (?)').run(mixed);
for (const [item, want] of [[1, 1], [1n, 1], [0.5, 1], ['x', 1], [Buffer.from('x'), 1], [new Uint8Array([0x78]), 1], ['7', 1],
	[9007199254740993n, 1], [null, null], [7, 0], ['1', 0], [1.5, 0], [Buffer.from('1'), 0]]) {
	const what = `${typeof item} ${item}`;
	equal(what, one('SELECT cuckoofilter_contains(?, ?)', mixed, item), want);
	equal(`${what}, by handle`, one('SELECT cuckoofilter_contains(h, ?) FROM handle', item), want);
	equal(`${what}, among others`, one('SELECT cuckoofilter_contains_any(f, ?, ?) FROM mixed', item, null), want === 1 ? 1 : 0);
	equal(`${what}, joined`, one('SELECT count(*) FROM (SELECT ? AS item) JOIN handle ON cuckoofilter_contains(h, item)', item), want === 1 ? 1 : 0);
	equal(`${what}, added`, one('SELECT cuckoofilter_contains(cuckoofilter_add(f, ?), ?) FROM mixed', item, item), item === null ? null : 1);
	equal(`${what}, aggregated`, one('SELECT cuckoofilter_count(cuckoofilter_agg(x)) FROM (SELECT ? AS x UNION ALL SELECT ?)', item, item), item === null ? 0 : 1);
}
equal('a change by null', one('SELECT cuckoofilter_add(?, ?)', mixed, null), mixed);
equal('all of null', one('SELECT cuckoofilter_add_all(?, ?, ?)', mixed, null, null), mixed);
equal('removed by null', one('SELECT cuckoofilter_remove(?, ?)', mixed, null), mixed);
equal('named', one('SELECT cuckoofilter_contains(@f, @item)', { f: mixed, item: 1 }), 1);
const again = db.prepare('SELECT cuckoofilter_contains(f, ?) FROM mixed').pluck();
equal('a statement again', [1, '1', 1n, 'x', null, 7].map((item) => again.get(item)).join(), '1,0,1,1,,0');
// A handle in the program's hands
const handle = one('SELECT h FROM handle');
equal('a handle as a Buffer', Buffer.isBuffer(handle) && handle.length < 48, true);
equal('and back', one('SELECT cuckoofilter_contains(?, ?)', handle, 3), 1);
equal('add_agg', one('SELECT cuckoofilter_count(cuckoofilter_add_agg(f, x)) FROM mixed, item WHERE x > ?', 99000), 1007);

db.close();
console.log(`better-sqlite3: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
