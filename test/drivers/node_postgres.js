// node-postgres, which sends numbers, dates and arrays as text and names no
// types: what a parameter is, PostgreSQL takes from where it stands.  Run by
// postgresql.pl.
let pg;
try {
	pg = require('pg');
} catch {
	console.log('skipped: node-postgres is not here');
	process.exit();
}
const client = new pg.Client();

function check(what, got, want) {
	console.log(got === want ? `ok ${what}` : `not ok ${what}: got ${got}, want ${want}`);
}

// 42804; or 22021, where a Buffer comes as text and is none.
function refused(what, got, item) {
	check(what, Buffer.isBuffer(item) && got === '22021' ? '42804' : got, '42804');
}

// The first column of the first row; the SQLSTATE, where it fails.
async function one(text, ...values) {
	try {
		return Object.values((await client.query({ text, values, rowMode: 'array' })).rows[0])[0];
	} catch (error) {
		return error.code;
	}
}

const [hour, day] = [3600000, 86400000];
const start = Date.UTC(2000, 0, 1);

// kind: its SQL type, items that are in, one that is not
const kinds = {
	numbers: ['bigint', [7, 7n, '7', 7.0], 70000],
	halves: ['numeric', [3.5, '3.5', 4], 3.25],
	texts: ['text', ['item 7'], 'item x'],
	uuids: ['uuid', ['8f14e45f-ceea-167a-5a36-dedd4bea2543', '8F14E45FCEEA167A5A36DEDD4BEA2543'], 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
	bytes: ['bytea', [Buffer.from([0, 0, 0, 7]), '\\x00000007'], Buffer.from([9])],
	dates: ['date', ['2000-01-08', new Date(start + 7 * day)], '1999-01-01'],
	stamps: ['timestamp', ['2000-01-01 07:00', '2000-01-01T07:00:00', new Date(start + 7 * hour)], new Date(0)],
	zoned: ['timestamptz', ['2000-01-01 07:00Z', new Date(start + 7 * hour)], new Date(0)],
	arrays: ['int[]', [[7, 8], '{7,8}', ['7', '8']], [7, 9]],
	documents: ['jsonb', [{ i: 7 }, '{"i": 7}'], { i: -1 }],
	truths: ['boolean', [true, 'yes', 1], false],
};

async function run() {
	await client.connect();
	console.log(`driver ${require('pg/package.json').version}, node ${process.version}`);
	for (const [kind, [type, items, other]] of Object.entries(kinds)) {
		const where = `FROM filter WHERE kind = '${kind}'`;
		for (const item of items) {
			const what = `${kind}, ${item instanceof Date ? 'Date' : Buffer.isBuffer(item) ? 'Buffer' : typeof item} ${typeof item === 'object' ? JSON.stringify(item) : item}`;
			check(`${what}: $1::${type}`, await one(`SELECT bool_and(f @> $1::${type}) ${where}`, item), true);
			check(`${what}: $1::${type} <@`, await one(`SELECT bool_and($1::${type} <@ f) ${where}`, item), true);
			check(`${what}: NOT contains`, await one(`SELECT count(*) ${where} AND NOT cuckoofilter_contains(f, $1::${type})`, item), '0');
			check(`${what}: added`, await one(`SELECT bool_and((cuckoofilter_create(10) + $1::${type}) @> $1::${type}) ${where}`, item), true);
			check(`${what}: aggregated`, await one(`SELECT cuckoofilter_agg($1::${type}) @> $1::${type}`, item), true);
			if (type !== 'int[]') {
				check(`${what}: any`, await one(`SELECT bool_and(cuckoofilter_contains_any(f, $1::${type}, $2::${type})) ${where}`, other, item), true);
				check(`${what}: all of a list`, await one(`SELECT bool_and(cuckoofilter_contains_all(f, VARIADIC $1::${type}[])) ${where}`, [item, item]), true);
			}
			// Without a type it is text: right for text, an error for all else.
			const untyped = await one(`SELECT bool_and(f @> $1) ${where}`, item);
			if (kind === 'texts') {
				check(`${what}: $1`, untyped, true);
			} else {
				refused(`${what}: $1`, untyped, item);
				refused(`${what}: f + $1`, await one(`SELECT cuckoofilter_count(f + $1) ${where}`, item), item);
				refused(`${what}: f - $1`, await one(`SELECT cuckoofilter_count(f - $1) ${where}`, item), item);
				refused(`${what}: NOT EXISTS`, await one(`SELECT 1 WHERE NOT EXISTS (SELECT ${where} AND f @> $1)`, item), item);
				refused(`${what}: text in an empty one`, await one(`SELECT ((SELECT f FROM filter WHERE kind = 'empty') + $1) @> $2::${type}`, item, item), item);
			}
			for (const list of ['$1, $2', '$1', 'VARIADIC $1']) {
				const got = await one(`SELECT bool_and(cuckoofilter_contains_any(f, ${list})) ${where}`, ...(list === '$1, $2' ? [item, other] : [item]));
				check(`${what}: any of ${list} is an error: ${got}`, typeof got === 'string' || (kind === 'texts' && got === true), true);
			}
		}
		check(`${kind}: another`, await one(`SELECT bool_or(f @> $1::${type}) ${where}`, other), false);
		// null is a value of its type, and of none
		for (const parameter of ['$1', `$1::${type}`]) {
			check(`${kind}: a question about null, ${parameter}`, await one(`SELECT count(f @> ${parameter}) ${where}`, null), '0');
			check(`${kind}: a change by null, ${parameter}`, await one(`SELECT bool_and(f + ${parameter} = f AND f - ${parameter} = f) ${where}`, null), true);
		}
		check(`${kind}: a list of null`, await one(`SELECT bool_and(cuckoofilter_add_all(f, VARIADIC $1::${type}[]) = f) ${where}`, null), true);
		// a prepared statement, again and again
		for (let i = 0; i < 7; i++) {
			const row = (await client.query({ name: `again ${kind}`, text: `SELECT bool_and(f @> $1::${type}) AS yes ${where}`, values: [items[i % items.length]] })).rows[0];
			check(`${kind}: prepared, ${i}`, row.yes, true);
		}
	}

	// filters as parameters and as results
	const where = "FROM filter WHERE kind = 'numbers' AND n = 2000";
	const text = await one(`SELECT f ${where}`);
	check('a filter as text', await one('SELECT cuckoofilter_contains($1, $2::int) AND $1 @> $3::int', text, 7, 8), true);
	const bytes = await one(`SELECT f::bytea ${where}`);
	check('a filter as bytes', Buffer.isBuffer(bytes) && (await one('SELECT $1::bytea::cuckoofilter @> $2::bigint', bytes, 7)), true);
	await client.query('CREATE TEMP TABLE kept (f cuckoofilter); INSERT INTO kept VALUES (cuckoofilter_create(1000))');
	await client.query('INSERT INTO kept VALUES ($1)', [text]);
	await client.query('UPDATE kept SET f = cuckoofilter_add(f, $1::bigint)', [-5]);
	await client.query('UPDATE kept SET f = cuckoofilter_add_all(f, VARIADIC $1::bigint[])', [[-6, null, -7]]);
	await client.query('UPDATE kept SET f = cuckoofilter_add(f, $1)', [null]);
	check('kept', await one('SELECT bool_and(cuckoofilter_contains_all(f, VARIADIC $1::bigint[])) FROM kept', [-5, -6, -7]), true);
	check('of a list', await one('SELECT cuckoofilter_agg(x) @> $2::bigint FROM unnest($1::bigint[]) x', [1, 2, 3], 2), true);
	check('a batch', await one('SELECT bool_and(f @> $2::bigint) FROM (SELECT cuckoofilter_add_agg(f, x) AS f FROM kept, unnest($1::bigint[]) x) a', [71, 72], 72), true);
	check('numbers of SQL', await one('SELECT cuckoofilter_info(cuckoofilter_create($1, $2, $3)) ->> $4', 5000, 0.001, 'kind=set', 'kind'), 'set');
	check('a hash', await one(`SELECT cuckoofilter_contains_hash(f, $1) ${where}`, await one('SELECT cuckoofilter_hash($1::bigint)', 7)), true);
	const { message, hint } = await client.query(`SELECT f @> $1 ${where}`, [7]).catch((error) => error);
	check(`the sentence: ${message}`, /the cuckoofilter holds numbers, the item is text/.test(message), true);
	check(`the cure: ${hint}`, /\bcast\b/i.test(hint), true);
	await client.end();
	console.log('end');
}

run().catch((error) => {
	console.error(error);
	process.exit(1);
});
