/*
 * functions.mjs - what each function of the npm package does, its items and its errors.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CuckooFilterError, Filter, check, cuckoofilter, done, equal, fails, hash, toHex } from './check.mjs';

const ABC = '434b46020100000400400007000002000300000000000000000000000000000003000000000000007b14ae47e17a843f'
	+ 'aad197d956397d119c1bd918e81f98a5885ee78c835288f4';

/* ------------------------------------------------------------------- items */

equal(cuckoofilter.version(), /CKF_VERSION "(.*)"/.exec(readFileSync('core/cuckoofilter.h', 'utf8'))[1], 'version');
equal(toHex(Filter.build(['a', 'b', 'c']).bytes()), ABC, 'the filter that every package test builds');

for (const [name, one, other, same] of [
	['5 and 5n', 5, 5n, true],
	['5 and "5"', 5, '5', false],
	['5 and 5.5', 5, 5.5, false],
	['0 and -0', 0, -0, true],
	['true and 1', true, 1, true],
	['false and 0n', false, 0n, true],
	['"a" and its byte', 'a', Uint8Array.of(97), false],
	['a Buffer and its bytes', Buffer.from('ab'), Uint8Array.of(97, 98), true],
	['a view of a larger buffer', Uint8Array.of(1, 2, 3).subarray(1, 2), Uint8Array.of(2), true],
	['two NaN', NaN, 0 / 0, true],
	['2^53 and its bigint', 2 ** 53, 2n ** 53n, true],
	['2^63 and its bigint', 2 ** 63, 2n ** 63n, true],
	['-2^63 and its bigint', -(2 ** 63), -(2n ** 63n), true],
	['a bigint past 64 bits and its double', 10n ** 30n, 1e30, true],
	['2^63 - 1 and 2^63', 2n ** 63n - 1n, 2 ** 63, false],
	['dates', new Date(5), new Date(5), true],
	['a date and its milliseconds', new Date(5), 5, false],
	['letters of two bytes', 'é', '\u00e9', true],
	['letters of four bytes', '😀', '\u{1f600}', true],
	['letters that look alike', 'é', 'e\u0301', false],
	['an empty text and no bytes', '', new Uint8Array(0), false],
]) {
	equal(hash(one) === hash(other), same, name);
}
for (const size of [0, 1, 63, 64, 65, 5000, 16384, 21845, 21846, 65535, 65536, 70000, 200000]) {
	const ascii = 'x'.repeat(size);
	const wide = 'ä€😀'.repeat(Math.ceil(size / 4));
	equal(hash(ascii) === hash(wide), size === 0, `texts of ${size} characters`);
	const f = Filter.build([ascii, wide, 'z']);
	check(f.contains(ascii) && f.contains(wide) && f.containsMany([wide, ascii, 'z', 'y', ascii]).join() === '1,1,1,0,1',
		`texts of ${size} characters are in`);
	const b = Filter.build([new Uint8Array(size).fill(7)]);
	check(b.contains(new Uint8Array(size).fill(7)) && !b.contains(new Uint8Array(size + 1).fill(7)), `${size} bytes`);
}
equal(hash('a', 7n), hash('a', 7), 'a seed as number and bigint');
equal(hash('a', 2n ** 64n - 1n), hash('a', -1), 'an unsigned seed');
equal(hash(null), null, 'the hash of null');
fails(() => hash('a', 0.5), 'TypeError', 'seed must be an integer');
fails(() => hash('a', 2n ** 64n), 'RangeError', 'seed must be an integer of 64 bits');
fails(() => hash({}), 'TypeError', 'not Object');
fails(() => hash([1]), 'TypeError', 'not Array');
fails(() => hash(Symbol.iterator), 'TypeError', 'not symbol');
fails(() => hash(() => 1), 'TypeError', 'not function');
fails(() => hash(new Float64Array(1)), 'TypeError', 'not Float64Array');
fails(() => hash(new Date(NaN)), 'TypeError', 'invalid Date');
fails(() => hash(new Date(-8.64e15)), 'RangeError', 'timestamp out of range');
check(hash(new Date(-210866803200000)) !== hash(new Date(8.64e15)), 'the earliest and the latest Date');

/* -------------------------------------------------- questions and changes */

const f = Filter.create(1000, { fpr: 0.001 });
equal(f.count, 0, 'an empty filter');
equal(f.contains('anything'), false, 'an empty filter takes every class');
equal(f.contains(null), null, 'contains null');
equal(f.contains(undefined), null, 'contains undefined');
equal(f.add(null), f, 'add null');
equal(f.count, 0, 'null is no item');
f.add(1).add(1).addMany([2, 3n, null, 4.5]);
equal(f.count, 5, 'copies');
equal(f.copies(1), 2, 'copies of an item');
equal(f.copies(null), null, 'copies of null');
equal(f.remove(null), false, 'remove null');
equal(f.remove(99), false, 'remove what is not there');
equal(f.remove(1), true, 'remove');
equal(f.copies(1), 1, 'copies after a removal');
equal([...f.containsMany([1, null, 2, 3, 4.5, 5, undefined])].join(), '1,0,1,1,1,0,0', 'containsMany');
equal([...f.containsMany(new Set([1, 99]))].join(), '1,0', 'containsMany of a Set');
equal([...f.containsMany((function* () { yield 1; yield 99; })())].join(), '1,0', 'containsMany of a generator');
equal([...f.containsMany(Float64Array.of(1, 99, 4.5))].join(), '1,0,1', 'containsMany of doubles');
equal([...f.containsMany(Int32Array.of(1, 99))].join(), '1,0', 'containsMany of int32');
equal([...f.containsMany(BigInt64Array.of(3n, 99n))].join(), '1,0', 'containsMany of bigints');
equal(f.containsMany([]).length, 0, 'containsMany of nothing');
equal(f.containsMany(new Map()).length, 0, 'containsMany of an empty iterable');
f.removeMany([2, 99, 3]);
equal(f.count, 2, 'removeMany');
fails(() => f.contains('a'), '42804', 'the cuckoofilter holds numbers, the item is text');
fails(() => f.add(new Date()), '42804', 'the item is a timestamp with time zone');
fails(() => f.containsMany([1, Uint8Array.of(1)]), '42804', 'the item is bytes');
fails(() => f.addMany([7, 'a']), '42804', 'the item is text');
equal(f.contains(7), false, 'a call that fails changes nothing');
fails(() => f.containsMany('abc'), 'TypeError', 'items must be an array');
fails(() => f.containsMany(5), 'TypeError', 'items must be an array');
fails(() => f.addMany([8, {}]), 'TypeError', 'not Object');
equal(f.contains(8), false, 'a list with an object changes nothing');
const long = Array.from({ length: 5000 }, (_, i) => i);
equal(f.containsMany(long).length, 5000, 'more than a batch');
equal(Filter.build(long).containsMany(new Set(long)).reduce((a, b) => a + b), 5000, 'more than a batch of a Set');
equal(Filter.build(long).containsMany(Float64Array.from(long)).reduce((a, b) => a + b), 5000, 'more than a batch of doubles');

/* An iterator that uses filters while a list of items is read. */
{
	const inner = Filter.build(['x', 'y']);
	const outer = Filter.create(10000);
	outer.addMany((function* () {
		for (let i = 0; i < 5000; i++) {
			check(inner.contains('x') && inner.containsMany(['y', 'n'])[0] === 1 && !inner.contains('z'.repeat(100)), 'a filter inside an iterator');
			yield i;
		}
	})());
	equal(outer.containsMany(long).reduce((a, b) => a + b), 5000, 'items of an iterator that asks filters');
}

/* An iterator that frees the filter which it is read for. */
{
	const freed = Filter.build(long);
	fails(() => freed.containsMany((function* () {
		yield* long;
		freed.free();
		yield* long;
	})()), 'TypeError', 'the filter was freed', 'a question about a filter that its iterator frees');
	const other = Filter.build(long);
	fails(() => Filter.unionAll((function* () {
		yield other;
		other.free();
	})()), 'TypeError', 'the filter was freed', 'a union of a filter that its iterator frees');
}

/* Typed arrays, and arrays, of classes that answer something else than JavaScript itself. */
{
	const witness = Filter.build(long);
	const before = toHex(witness.bytes());
	const says = (Class, values, what) => Object.defineProperties(new Class(values), Object.fromEntries(
		Object.entries(what).map(([name, value]) => [name, { get: () => value }])));
	class Reversed extends Array {
		static get [Symbol.species]() { return Float64Array; }
		slice() { return 'abc'; }
		flatMap() { return [1, 2, 3]; }
	}
	for (const length of [0, 1, 3, 65, 5000, 1e6, 2 ** 31, 2 ** 32 + 1, -1, NaN, 'x']) {
		const what = { length, byteLength: length, byteOffset: length, buffer: new ArrayBuffer(8), constructor: null };
		const item = says(Uint8Array, 4, what);
		item[0] = 7;
		equal(hash(item), hash(Uint8Array.of(7, 0, 0, 0)), `bytes that say length ${length}`);
		check(Filter.build([item, item]).contains(Uint8Array.of(7, 0, 0, 0)) && witness.copy().addHash(hash('x')).add(item).contains(item), `add bytes that say length ${length}`);
		check(Filter.buildPairs([[item, item]]).containsPair(item, Uint8Array.of(7, 0, 0, 0)), `pairs of bytes that say length ${length}`);
		const bytes = says(Uint8Array, witness.bytes(), what);
		equal(toHex(new Filter(bytes).bytes()), before, `a filter in bytes that say length ${length}`);
		equal(new Filter(Object.defineProperty(Buffer.from(witness.bytes()), 'length', { value: length })).count, 5000, `a filter in a Buffer that says length ${length}`);
		for (const Class of [Float64Array, Float32Array, Int32Array, BigInt64Array, Uint8ClampedArray]) {
			const numbers = says(Class, Array.from({ length: 100 }, (_, i) => (Class === BigInt64Array ? BigInt(i) : i)), { ...what, subarray: () => new Float64Array(1e5), slice: null });
			equal([...witness.containsMany(numbers)].join(), '1,'.repeat(99) + '1', `${Class.name} that says length ${length}`);
			equal(Filter.build(numbers).count, 100, `the filter of a ${Class.name} that says length ${length}`);
		}
		equal([...witness.containsMany({ length, [Symbol.iterator]: () => [5, 'no'.length, -5][Symbol.iterator]() })].join(), '1,1,0', `an iterable that says length ${length}`);
	}
	equal(Filter.build(Reversed.from([5, 6])).contains(6), true, 'an array of a class with its own slice');
	equal(Filter.buildPairs(Reversed.from([['a', 5]])).containsPair('a', 5), true, 'pairs in an array of a class with its own flatMap');
	for (const fake of [new Proxy(new Uint8Array(4), {}), Object.create(Uint8Array.prototype), Object.create(Uint8Array.prototype, { length: { value: 1e6 } }),
		new DataView(new ArrayBuffer(4)), new ArrayBuffer(4), new Uint8ClampedArray(4), new Int8Array(4), new Proxy(new Date(), {})]) {
		for (const call of [() => hash(fake), () => witness.contains(fake), () => Filter.build([fake]), () => witness.add(fake), () => witness.containsPair(fake, 1)]) {
			fails(call, 'TypeError', '', `an item that only looks like bytes, ${Object.prototype.toString.call(fake)}`);
		}
	}
	fails(() => new Filter(new Proxy(witness.bytes(), {})), 'TypeError', 'a filter is made of a Uint8Array');
	fails(() => new Filter(new DataView(witness.bytes().buffer)), 'TypeError', 'a filter is made of a Uint8Array');
	fails(() => Filter.build(new DataView(new ArrayBuffer(8))), 'TypeError', 'items must be an array');
	/* The prototype of a proxy is asked while an item is written: what it does harms nothing. */
	fails(() => Filter.build(['a', new Proxy({}, { getPrototypeOf: () => { witness.containsMany(long); return Date.prototype; } })]), 'TypeError', 'Date');
	/* memory that was taken away, or cut */
	const detached = (view) => { structuredClone(view.buffer, { transfer: [view.buffer] }); return view; };
	for (const Class of [Uint8Array, Float64Array, Int32Array]) {
		fails(() => witness.containsMany(detached(new Class(8))), 'TypeError', 'detached', `containsMany of a detached ${Class.name}`);
		fails(() => Filter.build(detached(new Class(8))), 'TypeError', 'detached', `build of a detached ${Class.name}`);
		fails(() => Filter.buildPairs(detached(new Class(8))), 'TypeError', 'detached', `buildPairs of a detached ${Class.name}`);
	}
	fails(() => hash(detached(new Uint8Array(8))), 'TypeError', 'detached', 'the hash of detached bytes');
	fails(() => new Filter(detached(witness.bytes())), 'TypeError', 'detached', 'a filter in detached bytes');
	fails(() => new Filter(detached(witness.bytes()).buffer), 'TypeError', 'detached', 'a filter in a detached buffer');
	if (ArrayBuffer.prototype.resize) {
		const buffer = new ArrayBuffer(64, { maxByteLength: 128 });
		const [tracking, fixed, part] = [new Uint8Array(buffer), new Uint8Array(buffer, 0, 64), new Uint8Array(buffer, 8)];
		buffer.resize(128);
		equal(hash(tracking), hash(new Uint8Array(128)), 'bytes that grew');
		equal(hash(fixed), hash(new Uint8Array(64)), 'bytes of a buffer that grew');
		equal(hash(part), hash(new Uint8Array(120)), 'a part of a buffer that grew');
		buffer.resize(4);
		equal(hash(tracking), hash(new Uint8Array(4)), 'bytes that shrank');
		for (const gone of [fixed, part]) {
			fails(() => hash(gone), 'TypeError', '', 'bytes that are gone');
			fails(() => Filter.build([gone]), 'TypeError', '', 'a list of bytes that are gone');
			fails(() => Filter.build(gone), 'TypeError', '', 'numbers that are gone');
			fails(() => witness.containsMany(gone), 'TypeError', '', 'questions that are gone');
			fails(() => new Filter(gone), 'TypeError', '', 'a filter that is gone');
		}
	}
	equal(hash(new Uint8Array(new SharedArrayBuffer(4))), hash(new Uint8Array(4)), 'shared bytes');
	equal(toHex(witness.bytes()), before, 'another filter stays as it was');
	check(witness.contains(4999) && !witness.contains(-1), 'later calls work');
}

/* Getters of an array or of a pair, and methods of a Date, that use filters. */
{
	const inner = Filter.build(['ann']);
	const asks = (value) => (inner.contains('another, longer text') ? 'yes' : value);
	const names = [];
	const rows = [];
	for (let i = 0; i < 5; i++) {
		Object.defineProperty(names, i, { enumerable: true, get: () => asks(`name ${i}`) });
		rows.push(Object.defineProperty([`key ${i}`, null], 1, { get: () => asks(`value ${i}`) }));
	}
	class Asking extends Date {
		getTime() {
			inner.contains('another, longer text');
			return super.getTime();
		}
	}
	const dates = ['one item', new Asking(0), new Asking(86400000)];
	const [named, paired, dated] = [Filter.build(names), Filter.buildPairs(rows), Filter.build(dates)];
	check(names.every((name) => named.contains(name)), 'a getter of the items that uses a filter');
	check(rows.every(([item, value]) => paired.containsPair(item, value)), 'a getter of a pair that uses a filter');
	check(dated.contains('one item') && dated.contains(new Date(0)) && dated.contains(new Asking(86400000)), 'a Date that uses a filter');
}

/* ------------------------------------------------------------------ hashes */

const h = Filter.create(100);
h.addHash(hash('a')).add(5);
check(h.containsHash(hash('a')) && h.contains('a') && h.contains(5) && !h.contains(new Date()), 'hashes take every class');
equal(h.info().item_classes.join(), 'number,hash', 'classes');
equal(h.removeHash(hash('a')), true, 'removeHash');
equal(h.removeHash(hash('a')), false, 'removeHash again');
fails(() => h.addHash(5), 'TypeError', 'hash must be a bigint');

/* -------------------------------------------------------------- parameters */

fails(() => Filter.create(0), '22023', 'capacity must be from 1 to 1099511627776, not 0');
fails(() => Filter.create(2 ** 41), '22023', 'capacity must be from 1 to 1099511627776, not 2199023255552');
fails(() => Filter.create(1e19), '22023', 'capacity must be from 1 to 1099511627776, not 10000000000000000000');
fails(() => Filter.build([], { capacity: -(2n ** 64n) }), '22023', 'capacity must be from 1 to 1099511627776, not -18446744073709551616');
fails(() => Filter.create(Infinity), 'TypeError', 'capacity must be an integer, not Infinity');
fails(() => Filter.create(1.5), 'TypeError', 'capacity must be an integer, not 1.5');
for (const [wrong, name] of [['10', 'a string'], [null, 'null'], [undefined, 'undefined'], [{}, 'an object'], [true, 'a boolean'], [Symbol('x'), 'a symbol']]) {
	fails(() => Filter.create(wrong), 'TypeError', `capacity must be an integer, not ${name}`);
	if (wrong != null) {
		fails(() => Filter.create(9, { fpr: wrong }), 'TypeError', `fpr must be a number, not ${name}`);
	}
	if (wrong !== undefined) {
		fails(() => Filter.create(9, { seed: wrong }), 'TypeError', `seed must be an integer, or a bigint, not ${name}`);
	}
	fails(() => h.addHash(wrong), 'TypeError', `hash must be a bigint, not ${name}`);
}
fails(() => Filter.create(9, { fpr: 1.25 }), '22023', 'false positive rate must be greater than 0 and less than 1, not 1.25');
fails(() => Filter.create(9, { fpr: -1e-7 }), '22023', 'not -1e-07');
fails(() => Filter.create(9, { fpr: NaN }), '22023', 'not nan');
fails(() => Filter.create(9, { fpr: 1e22 }), '22023', 'not 1e+22');
fails(() => Filter.create(9, { fpr: 1234567 }), '22023', 'not 1234567');
fails(() => Filter.create(9, { fpr: '0.1' }), 'TypeError', 'fpr must be a number');
const precise = fails(() => Filter.create(2 ** 40, { fpr: 1e-12 }), '22023', 'capacity 1099511627776 at a false positive rate of 1e-12 is too precise');
equal(precise.detail, 'The quotient of capacity and rate must not exceed 2^56.', 'a detail');
equal(precise.hint, 'Lower the capacity or raise the false positive rate.', 'a hint');
check(precise instanceof CuckooFilterError && precise instanceof Error && precise.name === 'CuckooFilterError', 'the class of errors');
fails(() => Filter.create(9, { kind: 'bag' }), '22023', 'invalid cuckoofilter option "kind=bag"');
fails(() => Filter.create(9, { bucketSize: 3 }), '22023', 'invalid cuckoofilter option "bucketSize=3"');
fails(() => Filter.create(9, { bucketSize: 8, layout: 'semi_sorted' }), '22023', 'invalid cuckoofilter option');
for (const [option, value, shown] of [['kind', 'set\0', 'kind'], ['kind', 'set\0x', 'kind'], ['kind', 'set,seed=7', 'kind'], ['bucketSize', '8, kind=set', 'bucketSize'], ['layout', 'plain\0', 'layout']]) {
	for (const call of [() => Filter.create(9, { [option]: value }), () => Filter.build([], { [option]: value })]) {
		check(fails(call, '22023', `invalid cuckoofilter option "${shown}=${value.slice(0, 1)}`).hint.startsWith('Valid options are kind='), 'the hint of options');
	}
}
equal(fails(() => Filter.create(9, { fpr: 1 }), '22023', 'not 1').hint, 'A rate of 1 % is 0.01.', 'the hint of a rate');
/* print.c knows each conversion of the messages. */
equal([...['core/messages.h', 'core/host/error.c'].map((file) => readFileSync(file, 'utf8')).join('').replace(/\/\*[^]*?\*\//g, '').matchAll(/%(%|\.\*s|s|\.3g|g|d|lld|llu)?/g)].filter(([, known]) => !known).length, 0, 'conversions of messages');
fails(() => Filter.create(9, { bucket_size: 8 }), 'TypeError', 'unknown option "bucket_size"');
fails(() => Filter.create(9, null), 'TypeError', 'options must be an object');
fails(() => Filter.build([1], { capacity: -1 }), '22023', 'capacity must be from 1');
fails(() => Filter.build(5), 'TypeError', 'items must be an array');
equal(Filter.create(9, { seed: 2n ** 64n - 1n }).seed, -1n, 'an unsigned seed is the signed one');
equal(Filter.build(['a', 'b'], { seed: 7 }).contains('b'), true, 'a filter with a seed');

/* ------------------------------------------------------------- two filters */

const evens = Filter.build(long.map((i) => 2 * i), { capacity: 10000 });
const threes = Filter.build(long.map((i) => 3 * i), { capacity: 10000 });
const both = evens.union(threes);
check(both.contains(4) && both.contains(9) && both.info().kind === 'set', 'union');
check(evens.intersect(threes).contains(12) && evens.intersect(threes).count < 2000, 'intersect');
equal(evens.sum(threes).count, 10000, 'sum');
check(Math.abs(evens.overlap(threes) - 1667) < 60, `overlap: ${evens.overlap(threes)}`);
const chance = Math.sqrt((3333 * 3333 + 1667 * 1667 / 2) * 1.0156 / 2 ** evens.info().prefix_bits);
check(Math.abs(evens.overlapError(threes) / chance - 1) < 0.1, `its error: ${evens.overlapError(threes)}, ${chance}`);
equal(Filter.build([1, 2]).overlapError(Filter.build([2])), 0, 'no error of hashes');
fails(() => evens.overlapError(Filter.build([1], { seed: 5 })), '22023', 'different seeds');
check(Math.abs(evens.jaccard(threes) - 0.2) < 0.01, `jaccard: ${evens.jaccard(threes)}`);
equal(Filter.create(1).jaccard(Filter.create(1)), null, 'jaccard of nothing');
const set = fails(() => both.remove(4), '55000', 'cannot remove from a cuckoofilter of kind set');
equal(set.hint, 'Build it with kind=deletable, and merge with sum.', 'the hint of a set');
fails(() => both.removeMany([4, 6]), '55000', 'kind set');
const seeds = fails(() => Filter.build([1], { seed: 1 }).union(Filter.build([1], { seed: -2 })), '22023', 'different seeds');
equal(seeds.detail, 'The seeds are 1 and -2.', 'the seeds');
fails(() => Filter.build([1, 2, 3]).union(Filter.build(long, { fpr: 0.2 })).sum(evens).union({}), 'TypeError', 'must be a Filter');
fails(() => { const s = Filter.create(1); for (let i = 0; i < 1e6; i += 1000) s.addMany(Array.from({ length: 1000 }, (_, j) => i + j)); }, '54000', 'no precision left');
{
	const copy = evens.copy();
	copy.add(1);
	check(copy.contains(1) && copy.count === evens.count + 1, 'a copy is another filter');
	const much = copy.bytes().length;
	copy.removeMany(long.slice(0, 4000).map((i) => 2 * i)).compact();
	check(copy.bytes().length < much / 2, 'compact');
	const bytes = copy.bytes();
	bytes.fill(0);
	check(copy.contains(1), 'bytes() is a copy');
}

/* Many filters. */
for (const n of [0, 1, 2, 15, 16, 17, 60]) {
	const many = Array.from({ length: n }, (_, i) => Filter.build(long.slice(0, i % 7 ? 900 : 2).map((x) => x + 500 * i), { capacity: 100000 }));
	for (const [name, call] of [['union', Filter.unionAll], ['sum', Filter.sumAll]]) {
		const merged = call(new Set(many));
		check(many.every((one, i) => merged.contains(500 * i) && one.contains(500 * i)), `${name} of ${n}`);
		equal(merged.info().kind, name === 'sum' || n === 0 ? 'deletable' : 'set', `the kind of the ${name} of ${n}`);
		equal(toHex(call([...many].reverse()).bytes()), toHex(merged.bytes()), `the ${name} of ${n} in another order`);
	}
	if (n > 2) {
		equal(toHex(many.reduce((a, b) => a.union(b)).bytes()), toHex(Filter.unionAll(many).bytes()), `the union of ${n} one by one`);
	}
}
for (const wrong of [5, null, [5], [evens, null], evens, 'ab']) {
	fails(() => Filter.unionAll(wrong), 'TypeError', '', 'a union of no filters');
	fails(() => Filter.sumAll(wrong), 'TypeError', '', 'a sum of no filters');
}
equal(fails(() => Filter.unionAll([evens, threes, Filter.build([1], { seed: -7 })]), '22023', 'different seeds').detail, 'The seeds are 0 and -7.', 'the seeds of many');
equal(fails(() => Filter.sumAll(Array.from({ length: 20 }, (_, i) => Filter.build(long.map((x) => x + 5000 * i)))), '54000', 'at least one was built for only ').hint,
	'Build each filter with a capacity for the items of all: Filter.build(items, { fpr, capacity }).', 'the hint of a coarse filter');

/* Parts. */
for (const item of [5, 'a', Uint8Array.of(1), 0.5, new Date(5)]) {
	for (const parts of [1, 2, 64n, 2 ** 31 - 1]) {
		equal(cuckoofilter.part(item, parts), Number(BigInt.asUintN(32, hash(item)) % BigInt(parts)), `part of ${item} of ${parts}`);
	}
}
equal(cuckoofilter.part(null, 5), null, 'the part of null');
for (const parts of [0, -1, 2 ** 31, 2n ** 64n, 1e300]) {
	fails(() => cuckoofilter.part(5, parts), '22023', `parts must be from 1 to 2147483647, not ${parts}`);
	fails(() => cuckoofilter.part(null, parts), '22023', 'parts must be from 1 to 2147483647');
}
for (const parts of [1.5, NaN, Infinity, '5', null, undefined]) {
	fails(() => cuckoofilter.part(5, parts), 'TypeError', 'parts must be an integer');
}

/* ------------------------------------------------------------------- bytes */

equal(new Filter(evens.bytes().buffer).contains(4), true, 'an ArrayBuffer');
equal(new Filter(Buffer.from(evens.bytes())).contains(4), true, 'a Buffer');
fails(() => new Filter(new Uint8Array(48)), '22P03', 'not a cuckoofilter');
fails(() => new Filter(new Uint8Array(0)), '22P03', 'not a cuckoofilter');
fails(() => new Filter(), 'TypeError', 'a filter is made of a Uint8Array');
{
	const later = evens.bytes();
	later[3] = 9;
	equal(fails(() => new Filter(later), '22P03', 'unknown format').hint, 'It needs a newer release of cuckoofilter.', 'a later version');
	const gone = evens.copy();
	gone.free();
	gone.free();
	fails(() => gone.count, 'TypeError', 'the filter was freed');
	fails(() => evens.union(gone), 'TypeError', 'the filter was freed');
	fails(() => gone.contains(1), 'TypeError', 'the filter was freed');
}
equal(evens.info().bytes, evens.bytes().length, 'info().bytes');
equal(evens.info().fpr, evens.fpr, 'info().fpr');

/* -------------------------------------------------------------------- JSON */

equal(JSON.stringify({ f: new Filter(Buffer.from(ABC, 'hex')) }), `{"f":"${Buffer.from(ABC, 'hex').toString('base64')}"}`, 'JSON');
for (const size of [0, 1, 2, 3, 4, 1000, 20000]) { /* less than a piece of base64, and more */
	const one = Filter.build(long.concat(long.map((i) => i + 0.5)).slice(0, size).concat(size % 2 ? ['x'] : []));
	equal(one.toJSON(), Buffer.from(one.bytes()).toString('base64'), `base64 of ${size} items`);
	equal(toHex(new Filter(JSON.parse(JSON.stringify(one))).bytes()), toHex(one.bytes()), `JSON of ${size} items`);
}
equal(new Filter(` ${Buffer.from(ABC, 'hex').toString('base64').replace(/.{20}/g, '$&\n')}`).contains('b'), true, 'base64 in lines');
fails(() => new Filter('\\x434b46'), '22P03', 'not a cuckoofilter: the text is not base64');
fails(() => new Filter('ä'), '22P03', 'not a cuckoofilter: the text is not base64');
fails(() => new Filter(''), '22P03', 'not a cuckoofilter: the bytes are damaged');

/* ------------------------------------------------------------------- pairs */

{
	const pairs = Filter.build([], { capacity: 1000 }).addPair('ann', 5).addPair(5, 'ann').addPair('bob', new Date(7)).addPair('x'.repeat(30000), 'y'.repeat(30000));
	check(pairs.containsPair('ann', 5) && pairs.containsPair(5n, 'ann') && pairs.containsPair('bob', new Date(7)), 'containsPair');
	check(pairs.containsPair('x'.repeat(30000), 'y'.repeat(30000)) && !pairs.containsPair('x'.repeat(30000), 'y'.repeat(30001)), 'a pair of long texts');
	check(!pairs.containsPair('ann', 6) && !pairs.containsPair('ann', 'ann') && !pairs.containsPair('ann', '5'), 'other pairs');
	equal(pairs.info().item_classes.join(), 'other', 'the class of pairs');
	fails(() => pairs.contains('ann'), '42804', 'the item is text');
	check(fails(() => f.addPair(1, 2), '42804', 'the item is of another type').hint.includes('Use a pair only if pairs were added.'), 'the hint of a pair');
	for (const [item, value] of [[null, 5], ['ann', null], [undefined, null]]) {
		equal(pairs.containsPair(item, value), null, 'a pair with null');
		equal(pairs.addPair(item, value).count, 4, 'add a pair with null');
		equal(pairs.removePair(item, value), false, 'remove a pair with null');
	}
	equal(pairs.removePair('ann', 5), true, 'removePair');
	equal(pairs.removePair('ann', 5), false, 'removePair again');
	check(!pairs.containsPair('ann', 5) && pairs.containsPair(5, 'ann'), 'a removed pair');
	fails(() => pairs.addPair(5, {}), 'TypeError', 'not Object');
	const list = long.map((i) => [`user ${i}`, i % 2 ? i % 7 : null]);
	for (const [name, entries] of [['a list', list], ['a Map', new Map(list)], ['entries', Object.entries(Object.fromEntries(list))]]) {
		const built = Filter.buildPairs(entries, { fpr: 0.0001, seed: 9 });
		equal(built.count, 2500, `pairs of ${name}`);
		equal(long.filter((i) => built.containsPair(`user ${i}`, i % 7)).length, 2500, `pairs of ${name} are in`);
		equal(toHex(built.bytes()), toHex(Filter.buildPairs(list.reverse(), { fpr: 0.0001, seed: 9 }).bytes()), `the order of ${name}`);
	}
	const wide = Array.from({ length: 300 }, (_, i) => [`${i}`.repeat(1 + i * 40), 'ä'.repeat(1 + 9 * (i % 50))]);
	check(wide.every(([item, value]) => Filter.buildPairs(wide).containsPair(item, value)), 'pairs of long texts');
	for (const Class of [Float64Array, Uint8Array, BigInt64Array]) {
		fails(() => Filter.buildPairs(new Class(4)), 'TypeError', 'a pair must be an array of two items', `pairs of a ${Class.name}`);
		equal(Filter.buildPairs(new Class(0)).count, 0, `pairs of an empty ${Class.name}`);
	}
	for (const wrong of [5, 'ab', null, [1], [1, 2, 3], { 0: 1, 1: 2, length: 2 }]) {
		fails(() => Filter.buildPairs([[1, 2], wrong]), 'TypeError', 'a pair must be an array of two items', `a pair ${wrong}`);
	}
}

/* -------------------------------------------------- the types, and browsers' entry */

if (Symbol.dispose) {
	const disposed = Filter.create(1);
	disposed[Symbol.dispose]();
	fails(() => disposed.count, 'TypeError', 'the filter was freed');
}
{
	/* What index.d.ts declares is there, and the other way round. */
	const types = readFileSync('core/package/javascript/index.d.ts', 'utf8').replace(/\/\*\*[^]*?\*\//g, '');
	const [, body] = /class Filter \{([^]*?)\n\}/.exec(types);
	const declared = (pattern) => [...new Set([...body.matchAll(pattern)].map(([, name]) => name))].sort().join();
	const has = (of, but) => Reflect.ownKeys(of).filter((key) => !but.includes(key))
		.map((key) => (key === Symbol.dispose ? '[Symbol.dispose]' : key)).sort().join();
	equal(declared(/^\tstatic (\w+)/gm), has(Filter, ['length', 'name', 'prototype']), 'static members in the types');
	const members = declared(/^\t(?!static|constructor)(?:readonly )?(\w+|\[[\w.]+\])/gm);
	equal(Symbol.dispose ? members : members.replace('[Symbol.dispose],', ''), has(Filter.prototype, ['constructor']), 'members in the types');
	equal(['CuckooFilterError', 'Filter', ...[...types.matchAll(/^export declare function (\w+)/gm)].map(([, name]) => name)].filter((name, i, all) => all.indexOf(name) === i).sort().join(),
		Object.keys(cuckoofilter).sort().join(), 'exports in the types');
	const browsers = await import('../../../build/javascript/cuckoofilter/index.js');
	check(browsers.Filter === Filter && evens.contains(4) && browsers.Filter.build(['a']).contains('a'), 'index.js by its path, beside node.js');
	const url = new URL('../../../build/javascript/cuckoofilter/index.js', import.meta.url);
	const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e',
		`import { Filter } from ${JSON.stringify(url)}; console.log(Filter.build(['a']).contains('a'))`], { encoding: 'utf8' });
	equal(stdout, 'true\n', `index.js by its path, alone: ${stderr}`);
}

/* ---------------------------------------------------------------- the page */

/* The first example of README.md: what a line gives stands behind it. */
{
	const page = readFileSync('core/package/javascript/README.md', 'utf8');
	const [, block] = /```js\n([^]*?)```/.exec(page);
	const shown = [];
	const code = block.replace(/^import .*$/m, '').split('\n').map((line) => {
		const [, expression, comment] = /^(.*?);\s*\/\/ (.*)$/.exec(line) ?? [];
		if (!expression) {
			return line;
		}
		shown.push(comment);
		return expression.startsWith('const ') ? `${expression}; got.push(bytes.length);` : `got.push(${expression});`;
	}).join('\n');
	const got = [];
	new Function('Filter', 'got', code)(Filter, got);
	equal(got.length, 5, 'lines of the example');
	check(new Filter(/new Filter\('(.*)'\)/.exec(page)[1]).contains('b'), 'the base64 of the example');
	shown.forEach((comment, n) => check(comment.includes(String(got[n])), `README.md: got ${got[n]}, shows ${comment}`));
}

done('functions');
