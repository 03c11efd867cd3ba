/*
 * wasm.mjs - SQLite in WebAssembly, in node.js and in headless Chromium: the statements of README.md, and the
 * bytes of a filter.
 */
import { existsSync, readFileSync } from 'node:fs';
import { serve } from '../bindings/javascript/serve.mjs';
import { browser } from '../bindings/javascript/browser.mjs';

let passed = 0;
let failed = 0;

function equal(got, want, what) {
	if (got === want) {
		passed++;
	} else {
		failed++;
		console.log(`FAILED: ${what}: got "${got}", want "${want}"`);
	}
}

/* The SQL of the README's part about SQLite, without the line for the shell; what each statement gives. */
const [, part] = /```sql sqlite\n\.load .*\n([^]*?)```/.exec(readFileSync('README.md', 'utf8'));
const statements = part.split(';').map((text) => text.trim().replace(/^-- .*\n/, '')).filter(Boolean);
const shown = [...part.matchAll(/-- (.*)/g)].map(([, text]) => text);
equal(statements.filter((text) => !text.startsWith('--')).length, 4, 'statements');

/* Runs in either. */
const ask = `(sqlite3, statements) => {
	const db = new sqlite3.oo1.DB(':memory:');
	const rows = [];
	for (const sql of statements) {
		db.exec({ sql, rowMode: 'array', callback: (row) => { rows.push(row.join('|')); } });
	}
	rows.push(db.selectValue('SELECT cuckoofilter_version()'));
	rows.push(db.selectValue("SELECT hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))"));
	db.exec("CREATE VIRTUAL TABLE known USING cuckoofilter(fpr=0.001, capacity=1000); INSERT INTO known(item) VALUES ('x'), (77)");
	rows.push(db.selectValue("SELECT count(*) FROM known WHERE item IN ('x', 77, 78)"));
	try {
		db.exec("SELECT cuckoofilter_count('a')");
	} catch (error) {
		rows.push(error.message.includes('cuckoofilter must be a BLOB'));
	}
	return JSON.stringify(rows);
}`;
const version = /CKF_VERSION "(.*)"/.exec(readFileSync('core/cuckoofilter.h', 'utf8'))[1];
const abc = /^ABC=(.*)$/m.exec(readFileSync('test/packages/check.sh', 'utf8'))[1];
const want = JSON.stringify([...shown, version, abc, 2, true]);

const { default: init } = await import('../../build/sqlite-wasm/node.mjs');
const sqlite3 = await init();
equal(new Function(`return ${ask}`)()(sqlite3, statements), want, 'node.js');
console.log(`ok   node.js, SQLite ${sqlite3.version.libVersion}`);

if (existsSync('/usr/bin/chromium')) {
	const chromium = await browser();
	const { address, server } = await serve('build/sqlite-wasm');
	try {
		const page = await chromium.page(`${address}node.mjs`);
		const got = await page.evaluate(`import('/sqlite3.mjs').then((all) => all.default()).then((sqlite3) => (${ask})(sqlite3, ${JSON.stringify(statements)}))`);
		equal(got, want, 'Chromium');
		console.log('ok   Chromium');
	} finally {
		server.close();
		await chromium.end();
	}
} else {
	console.log('skipped: SQLite in Chromium, which is not here');
}

console.log(`sqlite-wasm: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
