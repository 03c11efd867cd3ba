/*
 * filter.js - class Filter.
 */
import { REAL, forBatches, isBytes, momentOf, plainArray, putBytes, putShort, sizeOf, withItem, withPair } from './items.js';
import {
	CuckooFilterError, address, at, lastError, doubles, halves, memory, noMemory, readInfo, version, wasm, withMemory,
} from './wasm.js';

export { CuckooFilterError, version };

const DEFAULT_FPR = 0.01;

/* Bytes that become base64 at once: a multiple of three, and arguments that a call may have. */
const BASE64_BYTES = 12288;

/* A call's pointer, which is 0 where it failed. */
function pointerOf(number) {
	const pointer = address(number);
	if (pointer === 0) {
		throw lastError();
	}
	return pointer;
}

/* A call's answer, which is negative where it failed. */
function answerOf(number) {
	if (number < 0) {
		throw lastError();
	}
	return number;
}

/* A call that gives 0 where it failed. */
function must(ok) {
	if (!ok) {
		throw lastError();
	}
}

/* What an argument of the wrong type is, such as "a string". */
function nameOf(value) {
	const type = value === null ? 'null' : typeof value;
	return type === 'null' || type === 'undefined' ? type : `${type === 'object' ? 'an' : 'a'} ${type}`;
}

function seedOf(seed) {
	if (typeof seed !== 'bigint' && !Number.isSafeInteger(seed)) {
		throw new TypeError(`seed must be an integer, or a bigint, not ${typeof seed === 'number' ? seed : nameOf(seed)}`);
	}
	const value = BigInt(seed);
	if (BigInt.asIntN(64, value) !== value && BigInt.asUintN(64, value) !== value) {
		throw new RangeError('seed must be an integer of 64 bits');
	}
	return BigInt.asIntN(64, value);
}

function hashOf(hash) {
	if (typeof hash !== 'bigint') {
		throw new TypeError(`hash must be a bigint, not ${nameOf(hash)}`);
	}
	return BigInt.asIntN(64, hash);
}

function capacityOf(capacity) {
	if (typeof capacity === 'bigint' || Number.isInteger(capacity)) {
		const value = BigInt(capacity);
		if (BigInt.asIntN(64, value) !== value) {
			throw new CuckooFilterError(`capacity must be from 1 to ${2 ** 40}, not ${capacity}`, '22023');
		}
		return value;
	}
	throw new TypeError(`capacity must be an integer, not ${typeof capacity === 'number' ? capacity : nameOf(capacity)}`);
}

function fprOf(fpr) {
	if (typeof fpr !== 'number') {
		throw new TypeError(`fpr must be a number, not ${nameOf(fpr)}`);
	}
	return fpr;
}

/*
 * The options text of an object's members, which have the names of JavaScript.  A comma or a zero in a value
 * would end the option: with another letter in its place, it is refused as any wrong value.
 */
function optionsText({ kind, bucketSize, layout, seed }) {
	return Object.entries({ kind, bucket_size: bucketSize, layout, seed: seed === undefined ? undefined : seedOf(seed) })
		.filter(([, value]) => value !== undefined)
		.map(([name, value]) => `${name}=${String(value).replace(/[,\0]/g, '\ufffd')}`)
		.join(',');
}

const OPTIONS = new Set(['fpr', 'capacity', 'kind', 'bucketSize', 'layout', 'seed']);

function checkOptions(options) {
	if (typeof options !== 'object' || options === null) {
		throw new TypeError('options must be an object');
	}
	for (const name of Object.keys(options)) {
		if (!OPTIONS.has(name)) {
			throw new TypeError(`unknown option "${name}": options are ${[...OPTIONS].join(', ')}`);
		}
	}
}

/* Calls `use` with the address of a text that ends with a zero. */
function withText(text, use) {
	const bytes = new TextEncoder().encode(text);
	return withMemory(bytes.length + 1, (room) => {
		memory().set(bytes, room);
		memory()[room + bytes.length] = 0;
		return use(room);
	});
}

/* Frees the memory of filters that JavaScript has collected. */
const collected = new FinalizationRegistry((pointer) => wasm.cuckoofilter_free(pointer));

/* Makes a Filter of a pointer without the constructor, which takes bytes. */
const OWN = Symbol('pointer');

export class Filter {
	#pointer;

	constructor(bytes, own) {
		this.#pointer = own === OWN ? bytes : openBytes(bytes);
		collected.register(this, this.#pointer, this);
	}

	static #of(pointer) {
		return new Filter(pointerOf(pointer), OWN);
	}

	static create(capacity, options = {}) {
		checkOptions(options);
		return withText(optionsText(options), (text) =>
			Filter.#of(wasm.cuckoofilter_create(
				capacityOf(capacity), fprOf(options.fpr ?? DEFAULT_FPR), text, at.error)));
	}

	static build(items, options = {}) {
		return Filter.#build(items, options, 1);
	}

	static buildPairs(pairs, options = {}) {
		return Filter.#build(pairs, options, 2);
	}

	static #build(items, options, width) {
		checkOptions(options);
		const builder = withText(optionsText(options), (text) => pointerOf(
			wasm.cuckoofilter_build(
				fprOf(options.fpr ?? DEFAULT_FPR), capacityOf(options.capacity ?? 0), text, at.error)));
		try {
			forBatches(items, (n) => must(wasm.build_add(builder, n)), width);
			return Filter.#of(wasm.cuckoofilter_build_end(builder, at.error));
		} finally {
			wasm.cuckoofilter_build_free(builder);
		}
	}

	/* The pointer, while there is one. */
	#live() {
		if (this.#pointer === 0) {
			throw new TypeError('the filter was freed');
		}
		return this.#pointer;
	}

	contains(item) {
		const pointer = this.#live();
		if (typeof item === 'number') {
			return answerOf(wasm.contains_number(pointer, item)) === 1;
		}
		if (typeof item === 'string') {
			const size = putShort(item);
			if (size >= 0) {
				return answerOf(wasm.contains_text(pointer, size)) === 1;
			}
		}
		if (item instanceof Date) {
			return answerOf(wasm.contains_moment(pointer, momentOf(item))) === 1;
		}
		return withItem(item, null, () => answerOf(wasm.contains(pointer)) === 1);
	}

	containsPair(item, value) {
		const pointer = this.#live();
		return withPair(item, value, null, () => answerOf(wasm.contains(pointer)) === 1);
	}

	containsMany(items) {
		const pointer = this.#live();
		const numbers = plainArray(items);
		if (numbers instanceof Float64Array) {
			return containsDoubles(pointer, numbers);
		}
		let answers = new Uint8Array(Array.isArray(items) ? items.length : numbers?.length ?? 1024);
		let total = 0;
		forBatches(items, (n) => {
			must(wasm.contains_batch(this.#live(), n)); /* an iterator may have freed the filter */
			if (total + n > answers.length) {
				const larger = new Uint8Array(answers.length * 2 + n);
				larger.set(answers);
				answers = larger;
			}
			answers.set(memory().subarray(at.answers, at.answers + n), total);
			total += n;
		});
		return total === answers.length ? answers : answers.slice(0, total);
	}

	copies(item) {
		const pointer = this.#live();
		return withItem(item, null, () => answerOf(wasm.copies(pointer)));
	}

	add(item) {
		const pointer = this.#live();
		withItem(item, 0, () => answerOf(wasm.change(pointer, 1)));
		return this;
	}

	remove(item) {
		const pointer = this.#live();
		return withItem(item, false, () => answerOf(wasm.change(pointer, 0)) === 1);
	}

	addPair(item, value) {
		const pointer = this.#live();
		withPair(item, value, 0, () => answerOf(wasm.change(pointer, 1)));
		return this;
	}

	removePair(item, value) {
		const pointer = this.#live();
		return withPair(item, value, false, () => answerOf(wasm.change(pointer, 0)) === 1);
	}

	addMany(items) {
		this.#changeMany(items, 1);
		return this;
	}

	removeMany(items) {
		this.#changeMany(items, 0);
		return this;
	}

	#changeMany(items, add) {
		const list = address(wasm.list_new(this.#live()));
		if (list === 0) {
			throw noMemory();
		}
		try {
			forBatches(items, (n) => {
				if (!wasm.list_add(list, n)) {
					throw noMemory();
				}
			});
			must(wasm.list_change(list, this.#live(), add));
		} finally {
			wasm.list_free(list);
		}
	}

	containsHash(hash) {
		return wasm.contains_hash(this.#live(), hashOf(hash)) === 1;
	}

	addHash(hash) {
		answerOf(wasm.change_hash(this.#live(), 1, hashOf(hash)));
		return this;
	}

	removeHash(hash) {
		return answerOf(wasm.change_hash(this.#live(), 0, hashOf(hash))) === 1;
	}

	/* The pointer of another filter. */
	static #other(filter) {
		if (!(filter instanceof Filter)) {
			throw new TypeError('the argument must be a Filter');
		}
		return filter.#live();
	}

	union(filter) {
		return Filter.#of(wasm.cuckoofilter_union(this.#live(), Filter.#other(filter), at.error));
	}

	sum(filter) {
		return Filter.#of(wasm.cuckoofilter_sum(this.#live(), Filter.#other(filter), at.error));
	}

	static unionAll(filters) {
		return Filter.#mergeAll(filters, wasm.cuckoofilter_union_many);
	}

	static sumAll(filters) {
		return Filter.#mergeAll(filters, wasm.cuckoofilter_sum_many);
	}

	static #mergeAll(filters, merge) {
		if (typeof filters?.[Symbol.iterator] !== 'function') {
			throw new TypeError('filters must be an array or another iterable');
		}
		const all = [...filters];
		return withMemory(4 * all.length, (room) => {
			const pointers = all.map(Filter.#other); /* after what the iterator did */
			memory();
			halves.set(pointers, room >>> 2);
			return Filter.#of(merge(room, all.length, at.error));
		});
	}

	intersect(filter) {
		return Filter.#of(wasm.cuckoofilter_intersect(this.#live(), Filter.#other(filter), at.error));
	}

	overlap(filter) {
		return answerOf(wasm.compare(this.#live(), Filter.#other(filter), 0));
	}

	overlapError(filter) {
		return answerOf(wasm.compare(this.#live(), Filter.#other(filter), 2));
	}

	jaccard(filter) {
		const answer = wasm.compare(this.#live(), Filter.#other(filter), 1);
		return answer === -2 ? null : answerOf(answer);
	}

	compact() {
		must(wasm.cuckoofilter_compact(this.#live(), at.error));
		return this;
	}

	copy() {
		return Filter.#of(wasm.cuckoofilter_copy(this.#live(), at.error));
	}

	bytes() {
		const pointer = this.#live();
		const from = address(wasm.data(pointer));
		return memory().slice(from, from + address(wasm.size(pointer)));
	}

	/* PostgreSQL's text of a filter, which is also its JSON. */
	toJSON() {
		const bytes = this.bytes();
		const parts = [];
		for (let from = 0; from < bytes.length; from += BASE64_BYTES) {
			parts.push(btoa(String.fromCharCode(...bytes.subarray(from, from + BASE64_BYTES))));
		}
		return parts.join('');
	}

	get count() {
		return Number(wasm.cuckoofilter_count(this.#live()));
	}

	get fpr() {
		return wasm.cuckoofilter_fpr(this.#live());
	}

	get seed() {
		return wasm.seed(this.#live());
	}

	info() {
		return readInfo(this.#live());
	}

	free() {
		if (this.#pointer !== 0) {
			collected.unregister(this);
			wasm.cuckoofilter_free(this.#pointer);
			this.#pointer = 0;
		}
	}
}

/* `using filter = ..` frees it, where JavaScript knows this. */
if (Symbol.dispose) {
	Filter.prototype[Symbol.dispose] = Filter.prototype.free;
}

/* The bytes of a base64 text. */
function bytesOf(text) {
	let binary;
	try {
		binary = atob(text);
	} catch {
		throw new CuckooFilterError('not a cuckoofilter: the text is not base64', '22P03');
	}
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++) {
		bytes[i] = binary.charCodeAt(i);
	}
	return bytes;
}

/* The pointer of the filter in some bytes, or in their base64. */
function openBytes(bytes) {
	const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : typeof bytes === 'string' ? bytesOf(bytes) : bytes;
	if (!isBytes(view)) {
		throw new TypeError('a filter is made of a Uint8Array, an ArrayBuffer or a base64 text; Filter.create makes an empty one');
	}
	const size = sizeOf(view);
	return withMemory(size, (room) => {
		putBytes(view, room, size);
		return pointerOf(wasm.cuckoofilter_open(room, size, at.error));
	});
}

/* containsMany of doubles, which are copied at once. */
function containsDoubles(pointer, items) {
	const answers = new Uint8Array(items.length);
	for (let from = 0; from < items.length; from += at.ITEMS) {
		const some = items.subarray(from, from + at.ITEMS);
		memory().fill(REAL, at.kinds, at.kinds + some.length);
		doubles.set(some, at.words >>> 3);
		must(wasm.contains_batch(pointer, some.length));
		answers.set(memory().subarray(at.answers, at.answers + some.length), from);
	}
	return answers;
}

/** The part of an item in a filter that is kept in parts; null of null. */
export function part(item, parts) {
	if (typeof parts !== 'bigint' && !Number.isInteger(parts)) {
		throw new TypeError(`parts must be an integer, not ${typeof parts === 'number' ? parts : nameOf(parts)}`);
	}
	if (parts < 1 || parts > 2147483647) {
		throw new CuckooFilterError(`parts must be from 1 to 2147483647, not ${parts}`, '22023');
	}
	return withItem(item, null, () => wasm.part(Number(parts)));
}

/** The hash of an item, as cuckoofilter_hash of SQL: a signed integer of 64 bits; null of null. */
export function hash(item, seed = 0n) {
	return withItem(item, null, () => wasm.hash(seedOf(seed)));
}
