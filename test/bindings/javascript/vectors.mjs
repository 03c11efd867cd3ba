/*
 * vectors.mjs - test/vectors in JavaScript: hashes, filters, overlaps, and golden filters.
 */
import { Filter, check, done, equal, fails, fromHex, hash, items, options, toHex, vectors } from './check.mjs';

/* ------------------------------------------------------------------ hashes */

/* The values of JavaScript that have these canonical bytes. */
function values(kind, bytes, postgres) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	switch (kind) {
		case '1': {
			const integer = view.getBigInt64(0, true);
			const number = Number(integer);
			return BigInt(number) === integer && !(number === 0 && 1 / number < 0) ? [integer, number] : [integer];
		}
		case '2': return [view.getFloat64(0, true)];
		case '3': return [Buffer.from(bytes).toString('utf8')];
		case '4': return [bytes, Buffer.from(bytes)];
		case '6': {
			const milliseconds = (view.getBigInt64(0, true) + 946684800000000n) / 1000n;
			const date = new Date(Number(milliseconds));
			return view.getBigInt64(0, true) % 1000n === 0n && !Number.isNaN(date.getTime()) && date.getTime() >= -210866803200000
				? [date] : [];
		}
		case '8': return /^numeric '-?\d+'$/.test(postgres) ? [BigInt(postgres.slice(9, -1))] : [];
		default: return [];
	}
}

const seen = {};
for (const [kind, bytes, seed, want, , postgres] of vectors('hashes.tsv')) {
	for (const value of values(kind, fromHex(bytes), postgres)) {
		equal(hash(value, BigInt(seed)), BigInt(want), `class ${kind}, ${bytes}, seed ${seed}`);
		seen[kind] = (seen[kind] ?? 0) + 1;
	}
}
for (const [kind, least] of Object.entries({ 1: 40, 2: 20, 3: 20, 4: 20, 6: 3, 8: 4 })) {
	check(seen[kind] >= least, `class ${kind}: only ${seen[kind]} vectors were asked`);
}

/* ------------------------------------------------------------------- pairs */

/* A value of SQLite's literal: a number, 'text' or x'bytes'. */
function literal(text) {
	if (/^x?'/.test(text)) {
		const inside = text.slice(text.indexOf("'") + 1, -1);
		return text[0] === 'x' ? fromHex(inside) : inside;
	}
	return text.includes(' - ') ? -(2n ** 63n) : /[.e]/.test(text) ? Number(text) : BigInt(text);
}

let pairs = 0;
for (const [, , seed, want, sqlite] of vectors('pairs.tsv').filter((fields) => fields[4] !== '-')) {
	const [item, value] = sqlite.split(', ').map(literal);
	const filter = Filter.create(9, { seed: BigInt(seed) }).addPair(item, value);
	equal(filter.removeHash(BigInt(want)), true, `pair ${sqlite}, seed ${seed}`);
	const built = Filter.buildPairs([[item, value], [null, value], [item, value]], { seed: BigInt(seed) });
	equal(built.containsHash(BigInt(want)), true, `built pair ${sqlite}, seed ${seed}`);
	equal(built.count, 1, `built pair ${sqlite}, seed ${seed}: count`);
	pairs++;
}
check(pairs >= 18, `only ${pairs} pairs`);

/* ----------------------------------------------------------------- filters */

const filters = {};

/* Adds an item.  One of a class that the filter never saw is refused; a sum takes it. */
function add(filter, item) {
	try {
		return filter.add(item);
	} catch (error) {
		check(error.code === '42804', `add ${item}: ${error.message}`);
		const { capacity, target_fpr: fpr } = filter.info();
		return filter.sum(Filter.create(capacity, { fpr }).add(item));
	}
}

function step(filter, words) {
	const [verb, first, second, third, fourth] = words;
	switch (verb) {
		case 'create': return Filter.create(Number(first), { fpr: Number(second), ...options(third) });
		case 'agg': return Filter.build(items(fourth), { fpr: Number(first), capacity: Number(second), ...options(third) });
		case 'add': return items(first).reduce(add, filter);
		case 'remove': for (const item of items(first)) filter.remove(item); return filter;
		case 'union': return filter.union(filters[first]);
		case 'sum': return filter.sum(filters[first]);
		case 'intersect': return filter.intersect(filters[first]);
		case 'compact': return filter.compact();
		default: throw new Error(`step ${verb}`);
	}
}

function ask(filter, inside, outside, name) {
	for (const [list, want] of [[items(inside), 1], [items(outside), 0]]) {
		/* one by one, where a class that was never added is an error */
		for (const item of list) {
			let got;
			try {
				got = Number(filter.contains(item));
			} catch (error) {
				got = error.code === '42804' ? 0 : error.code;
			}
			equal(got, want, `${name}: contains ${item}`);
		}
		if (want) {
			check(filter.containsMany(list).every((answer) => answer === 1), `${name}: contains all of ${inside}`);
		}
	}
}

let replayed = 0;
for (const [name, recipe, count, hex, inside, outside] of vectors('filters.tsv')) {
	let filter = null;
	for (const words of recipe.split('; ')) {
		filter = step(filter, words.split(' '));
	}
	/* another object than a later step changes */
	filters[name] = filter;
	equal(filter.count, Number(count), `${name}: count`);
	equal(toHex(filter.bytes()), hex, `${name}: bytes`);
	ask(filter, inside, outside, name);
	const opened = new Filter(fromHex(hex));
	equal(toHex(opened.bytes()), hex, `${name}: bytes of the opened filter`);
	ask(opened, inside, outside, `${name}, opened`);
	replayed++;
}
check(replayed > 40, `only ${replayed} filters`);

/* Writing many at once gives the same as one by one, where the database does. */
for (const [name, recipe, , hex] of vectors('filters.tsv')) {
	const [[verb, fpr, capacity, text, list], ...rest] = recipe.split('; ').map((words) => words.split(' '));
	if (verb === 'agg' && rest.length === 0) {
		const backwards = items(list).reverse();
		const settings = { fpr: Number(fpr), capacity: Number(capacity), ...options(text) };
		equal(toHex(Filter.build(new Set(backwards), settings).bytes()), hex, `${name}: of a Set, backwards`);
		equal(toHex(Filter.build([...backwards, ...backwards, null], settings).bytes()), hex, `${name}: twice, and null`);
	}
}

/* ---------------------------------------------------------------- overlaps */

for (const [a, b, overlap, jaccard] of vectors('overlaps.tsv')) {
	if (overlap === 'sizes') {
		fails(() => filters[a].overlap(filters[b]), '22023', 'is too coarse');
		continue;
	}
	const near = (got, want) => Math.abs(got - Number(want)) < 1e-8 * Math.max(1, Math.abs(Number(want)));
	check(near(filters[a].overlap(filters[b]), overlap), `overlap of ${a} and ${b}`);
	const got = filters[a].jaccard(filters[b]);
	check(jaccard === '-' ? got === null : near(got, jaccard), `jaccard of ${a} and ${b}: got ${got}`);
}

/* ------------------------------------------------------------------ golden */

for (const version of [1, 2]) {
	for (const [name, text, inside, outside, copies, hex] of vectors(`golden/format-${version}.tsv`)) {
		const filter = new Filter(fromHex(hex));
		const info = filter.info();
		for (const [field, want] of Object.entries(JSON.parse(text))) {
			equal(JSON.stringify(field === 'seed' ? Number(info[field]) : info[field]), JSON.stringify(want), `${name}: ${field}`);
		}
		equal(toHex(filter.bytes()), hex, `${name}: bytes`);
		ask(filter, inside, outside, name);
		for (const pair of copies === '-' ? [] : copies.split(',')) {
			const [item, n] = pair.split('=');
			equal(filter.copies(items(item)[0]), Number(n), `${name}: copies of ${item}`);
		}
	}
}

done('vectors');
