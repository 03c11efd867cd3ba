// better-sqlite3, which has a newer SQLite of its own and binds every number
// as REAL.  Run by better_sqlite3.sh.
const path = require('path');
const root = path.join(__dirname, '..', '..');
const Database = require(path.join(root, 'build', 'test', 'node', 'node_modules', 'better-sqlite3'));

const db = new Database(':memory:');
let passed = 0;
let failed = 0;

function one(sql, ...parameters) {
	return db.prepare(sql).pluck().get(...parameters);
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
	try {
		equal(sql, one(sql, ...parameters), `error: ${sentence}`);
	} catch (error) {
		equal(sql, error.message, sentence);
	}
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
refuses('cuckoofilter must be a BLOB or come from cuckoofilter_open, not TEXT', "SELECT cuckoofilter_count('a')");

db.close();
console.log(`sqlite-node: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
