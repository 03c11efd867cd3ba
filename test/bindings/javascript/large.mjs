/*
 * large.mjs - large filters and many filters: the memory grows, is reused when filters are freed or
 * collected, and a lack of it is an error.
 *
 * node runs it with --expose-gc.
 */
import { readFile } from 'node:fs/promises';
import { Filter, check, done, equal, fails, randomness, rounds, toHex } from './check.mjs';
import { wasm } from '../../../build/javascript/cuckoofilter/wasm.js';

const { below } = randomness();
const memory = () => wasm.memory.buffer.byteLength;

/* Two million items by an iterator: the bytes of SQL's README. */
function* numbers(from, to) {
	for (let i = from; i <= to; i++) {
		yield i;
	}
}
const million = Filter.build(numbers(1, 1e6));

equal(million.bytes().length, 1187192, 'a million items');
equal(Filter.build(Float64Array.from(numbers(1, 1e6))).bytes().length, 1187192, 'a million doubles');
let absent = 0;
for (let from = 1000001; from <= 2000000; from += 100000) {
	absent += million.containsMany(Float64Array.from(numbers(from, from + 99999))).reduce((a, b) => a + b);
}
equal(absent, 7541, 'false positives of a million');

/* A filter that is freed gives its memory to the next. */
let steady = 0;
for (let round = 0; round < 60; round++) {
	const copy = million.copy();
	copy.addMany(numbers(1, 1000)).free();
	steady = round === 5 ? memory() : steady;
}
equal(memory(), steady, 'freed filters give their memory back');

/* So does one that JavaScript has collected. */
for (let round = 0; round < 60; round++) {
	million.copy();
	globalThis.gc();
	await new Promise((resolve) => { setTimeout(resolve, 1); });
}
check(memory() <= steady + 30 * 1187192, `collected filters give their memory back: ${memory()} bytes, ${steady} before`);

/* But not before the turn ends, as the page says. */
{
	const before = memory();
	for (let round = 0; round < 60; round++) {
		million.copy();
		globalThis.gc();
	}
	check(memory() >= before + 20 * 1187192, `filters of one turn take memory: ${memory()} bytes, ${before} before`);
}

/* Filters of all sizes that come and go, beside what they should be. */
const kept = new Map();
for (let round = 0; round < rounds(2000); round++) {
	const slot = below(200);
	if (kept.has(slot) && below(3) > 0) {
		const { filter, items } = kept.get(slot);
		if (below(2) > 0) {
			const more = Array.from({ length: below(300) }, () => below(1e9));
			filter.addMany(more);
			items.push(...more);
		} else {
			check(filter.containsMany(items).every((answer) => answer === 1), `round ${round}: an item is denied`);
			filter.free();
			kept.delete(slot);
		}
	} else {
		kept.get(slot)?.filter.free();
		const items = Array.from({ length: 1 + below(below(2) ? 20 : 6000) }, () => below(1e9));
		kept.set(slot, { filter: Filter.build(items, { capacity: 10000 }), items });
	}
}
for (const { filter, items } of kept.values()) {
	check(filter.containsMany(items).every((answer) => answer === 1), 'an item is denied at the end');
	equal(toHex(new Filter(filter.bytes()).bytes()), toHex(filter.bytes()), 'bytes open again');
	filter.free();
}

/* Past 2 GB addresses look negative in JavaScript.  Nothing writes to this memory, so it takes none. */
const rooms = [wasm.malloc(2 ** 30), wasm.malloc(2 ** 30 + 2 ** 20)];
check(rooms.every((room) => room !== 0), 'more than 2 GB');
{
	const high = [];
	for (let n = 0; n < 40; n++) {
		high.push(Filter.build(numbers(n, n + 30000), { capacity: 1e6 }));
	}
	check(high.some((filter) => wasm.memory.buffer.byteLength > 2 ** 31 && filter.bytes().length > 30000), 'filters past 2 GB');
	equal(toHex(high[0].bytes()), toHex(Filter.build(numbers(0, 30000), { capacity: 1e6 }).bytes()), 'the same bytes past 2 GB');
	for (const [n, filter] of high.entries()) {
		check(filter.contains(n) && filter.contains(n + 30000) && filter.containsMany([n, n + 7, n + 29999]).join() === '1,1,1', `filter ${n} past 2 GB`);
		check(filter.union(high[0]).contains(n + 5), `union ${n} past 2 GB`);
	}
	fails(() => high[0].contains('x'), '42804', 'the cuckoofilter holds numbers');
	equal(high[3].info().kind, 'deletable', 'info past 2 GB');
	check(wasm.malloc(2 ** 31) === 0, 'there are no 4 GB and more');
	rooms.forEach((room) => wasm.free(room));
}

/* A text of more than 2^26 bytes, which is more than an array of numbers holds. */
fails(() => new Filter('A'.repeat(148e6)), '22P03', 'not a cuckoofilter');

/* Where the memory cannot grow, that is an error, and later calls work. */
{
	const rooms = [];
	for (let size = 2 ** 31; size >= 1024; size /= 2) {
		for (let got = wasm.malloc(size); got !== 0; got = wasm.malloc(size)) {
			rooms.push(got);
		}
	}
	fails(() => million.copy(), '53200', 'out of memory');
	fails(() => Filter.build(numbers(1, 1e5)), '53200', 'out of memory');
	fails(() => million.addMany(numbers(1, 1e5)), '53200', 'out of memory');
	fails(() => million.union(million), '53200', 'out of memory');
	fails(() => million.contains('x'.repeat(1e6)), '53200', 'out of memory');
	equal(million.contains(77), true, 'a question without memory');
	rooms.forEach((address) => wasm.free(address));
	equal(million.copy().contains(77), true, 'memory again');
	equal(million.bytes().length, 1187192, 'what failed changed nothing');
}

const size = (await readFile(new URL('../../../build/javascript/cuckoofilter/cuckoofilter.wasm', import.meta.url))).length;
check(size <= 80000, `cuckoofilter.wasm has ${size} bytes, more than 80 kB`);

done('large');
