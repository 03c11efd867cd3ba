/*
 * items.js - JavaScript's values as items: each has the class under which both databases hash it.
 *
 *   number      integer or real, as in SQL: 5 and 5.0 are one item
 *   boolean     0 or 1
 *   bigint      integer of any size, as PostgreSQL's numeric
 *   string      text, in UTF-8
 *   Uint8Array  bytes: bytea, BLOB, uuid
 *   Date        timestamp with time zone
 *   null        no item, as SQL's NULL; so is undefined
 */
import { allocate, at, doubles, halves, memory, wasm, words } from './wasm.js';

/* The classes of cuckoofilter.h. */
const INTEGER = 1;
export const REAL = 2;
const TEXT = 3;
const BYTES = 4;
const TIMESTAMPTZ = 6;
const DECIMAL = 8;
const NO_ITEM = 0;


/* Added to the class of a pair's item; its value is the next item of the batch. */
const PAIR = 16;

const LEAST_TIMESTAMP = -210866803200000; /* 4713 BC, PostgreSQL's least, in milliseconds since 1970 */

const encoder = new TextEncoder();

/* What JavaScript itself knows of an object: a caller's class may have another `length`, say. */
const { getTime } = Date.prototype;
const TypedArray = Object.getPrototypeOf(Uint8Array);
const getterOf = (name) => Object.getOwnPropertyDescriptor(TypedArray.prototype, name).get;
const tagOf = getterOf(Symbol.toStringTag);
const lengthOf = getterOf('length');
const bufferOf = getterOf('buffer');
const offsetOf = getterOf('byteOffset');
const { keys } = TypedArray.prototype;

/** Whether a value is a Uint8Array, or of a class made from it, such as Buffer. */
export function isBytes(value) {
	return tagOf.call(value) === 'Uint8Array';
}

/** Copies the bytes of a Uint8Array to memory that has room for so many. */
export function putBytes(value, room, size) {
	const all = memory();
	if (bufferOf.call(value) instanceof ArrayBuffer) {
		all.set(value, room); /* throws if it was detached */
	} else {
		all.subarray(room, room + size).set(value); /* shared memory may grow meanwhile: then this throws */
	}
}

/** The bytes of a Uint8Array. */
export function sizeOf(value) {
	return lengthOf.call(value);
}

/** A typed array as one of JavaScript's own class, with the same memory; of another value null. */
export function plainArray(value) {
	const name = tagOf.call(value);
	if (name === undefined) {
		return null;
	}
	keys.call(value); /* throws if it was detached, or its memory was cut */
	return new globalThis[name](bufferOf.call(value), offsetOf.call(value), lengthOf.call(value));
}

/* A string of so many characters fits into so many bytes. */
const MOST_BYTES_OF_CHARACTER = 3;
const SHORT = 64;

/** The milliseconds of a Date since 1970, if PostgreSQL has such a timestamp. */
export function momentOf(date) {
	const milliseconds = getTime.call(date);
	if (milliseconds >= LEAST_TIMESTAMP) {
		return milliseconds;
	}
	if (Number.isNaN(milliseconds)) {
		throw new TypeError('an item is an invalid Date');
	}
	throw new RangeError(`timestamp out of range: ${date.toISOString()}`);
}

/** A batch of items that is being written. */
export class Batch {
	/* Begins a batch.  `end` frees what long texts took. */
	constructor() {
		this.used = 0; /* bytes of the batch's text */
		this.long = []; /* addresses of longer ones */
	}

	end() {
		for (const room of this.long) {
			wasm.free(room);
		}
		this.long.length = 0;
		this.used = 0;
	}

	/* The address of room for so many bytes, or 0: the batch's text is full. */
	room(size) {
		if (size > at.TEXT >>> 2) {
			const room = allocate(size);
			this.long.push(room);
			return room;
		}
		return size <= at.TEXT - this.used ? at.text + this.used : 0;
	}

	/* Bytes of the room were written. */
	took(room, size) {
		if (room >= at.text && room < at.text + at.TEXT) {
			this.used += size;
		}
	}

	setBytes(number, kind, room, size) {
		memory()[at.kinds + number] = kind;
		halves[(at.words >>> 2) + number * 2] = room;
		halves[(at.words >>> 2) + number * 2 + 1] = size;
	}

	putString(number, text, kind = TEXT) {
		const most = text.length * MOST_BYTES_OF_CHARACTER;
		const room = this.room(most);
		if (room === 0) {
			return false;
		}
		const size = writeText(text, room, most);
		this.took(room, size);
		this.setBytes(number, kind, room, size);
		return true;
	}

	putBytes(number, value) {
		const size = sizeOf(value);
		const room = this.room(size);
		if (room === 0) {
			return false;
		}
		putBytes(value, room, size);
		this.took(room, size);
		this.setBytes(number, BYTES, room, size);
		return true;
	}

	putInteger(number, word) {
		memory()[at.kinds + number] = INTEGER;
		words[(at.words >>> 3) + number] = word;
		return true;
	}

	putReal(number, kind, value) {
		memory()[at.kinds + number] = kind;
		doubles[(at.words >>> 3) + number] = value;
		return true;
	}

	/** Writes a pair to two places.  If one part is null, it is no item.  false: the batch is full. */
	putPair(number, item, value) {
		if (!this.put(number, item) || !this.put(number + 1, value)) {
			return false;
		}
		const kinds = memory();
		if (kinds[at.kinds + number] === NO_ITEM || kinds[at.kinds + number + 1] === NO_ITEM) {
			kinds.fill(NO_ITEM, at.kinds + number, at.kinds + number + 2);
		} else {
			kinds[at.kinds + number] += PAIR;
		}
		return true;
	}

	/** Writes an item.  false: the batch is full. */
	put(number, value) {
		switch (typeof value) {
			case 'number':
				return this.putReal(number, REAL, value);
			case 'string':
				return this.putString(number, value);
			case 'bigint':
				return BigInt.asIntN(64, value) === value
					? this.putInteger(number, value)
					: this.putString(number, String(value), DECIMAL);
			case 'boolean':
				return this.putReal(number, REAL, Number(value));
			default:
				break;
		}
		if (value === null || value === undefined) {
			memory()[at.kinds + number] = NO_ITEM;
			return true;
		}
		if (isBytes(value)) {
			return this.putBytes(number, value);
		}
		if (value instanceof Date) {
			return this.putReal(number, TIMESTAMPTZ, momentOf(value));
		}
		throw new TypeError(
			'an item must be a number, bigint, string, boolean, Uint8Array, Date or null, not ' +
				(typeof value === 'object' ? (value.constructor?.name ?? 'an object') : typeof value));
	}
}

/* Writes a text as UTF-8.  Returns its bytes. */
function writeText(text, room, most) {
	if (text.length <= SHORT) {
		const size = writeAscii(text, room);
		if (size >= 0) {
			return size;
		}
	}
	return encoder.encodeInto(text, memory().subarray(room, room + most)).written;
}

/* Writes a text of ASCII, which the encoder would take longer for.  -1: it is not ASCII. */
function writeAscii(text, room) {
	const all = memory();
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code >= 128) {
			return -1;
		}
		all[room + i] = code;
	}
	return text.length;
}

/** Writes a short text of ASCII to the batch's text.  Returns its bytes; -1: it is another text. */
export function putShort(text) {
	return text.length <= SHORT ? writeAscii(text, at.text) : -1;
}

const single = new Batch();

/** Calls `use` with one item, which is number 0 of the batch; `none` is the result for null. */
export function withItem(item, none, use) {
	if (item === null || item === undefined) {
		return none;
	}
	try {
		single.put(0, item);
		return use();
	} finally {
		single.end();
	}
}

/** The same with a pair. */
export function withPair(item, value, none, use) {
	if (item === null || item === undefined || value === null || value === undefined) {
		return none;
	}
	try {
		single.putPair(0, item, value);
		return use();
	} finally {
		single.end();
	}
}

/** Calls `use(n)` for each batch of n items of an iterable, or of 2n parts of pairs. */
export function forBatches(items, use, width = 1) {
	if (typeof items === 'string' || typeof items?.[Symbol.iterator] !== 'function') {
		throw new TypeError('items must be an array or another iterable');
	}
	/* Iterators and getters of the caller may use filters, and so the batch: none runs while one is written. */
	for (const chunk of chunks(items)) {
		const parts = width === 1 ? chunk : chunk.flatMap(partsOf);
		for (let from = 0; from < parts.length;) {
			from += putSome(parts, from, use, width);
		}
	}
}

function partsOf(pair) {
	if (!Array.isArray(pair) || pair.length !== 2) {
		throw new TypeError('a pair must be an array of two items, [item, value]');
	}
	return [pair[0], pair[1]];
}

/* Writes a batch of the parts from a place on, and uses it.  Returns how many they were. */
function putSome(parts, from, use, width) {
	const batch = new Batch();
	try {
		let n = 0;
		const end = Math.min(parts.length - from, at.ITEMS);
		if (width === 1) {
			while (n < end && batch.put(n, parts[from + n])) {
				n++;
			}
		} else {
			while (n < end && batch.putPair(n, parts[from + n], parts[from + n + 1])) {
				n += 2;
			}
		}
		use(n);
		return n;
	} finally {
		batch.end();
	}
}

/* Arrays of the items, of JavaScript's own class, whose elements are values. */
function* chunks(items) {
	const list = plainArray(items) ?? (Array.isArray(items) ? items : null);
	let chunk = [];
	if (list !== null) {
		for (let from = 0; from < list.length; from += at.ITEMS) {
			const end = Math.min(list.length, from + at.ITEMS);
			chunk = [];
			for (let i = from; i < end; i++) {
				chunk.push(list[i]);
			}
			yield chunk;
		}
		return;
	}
	for (const item of items) {
		chunk.push(item);
		if (chunk.length === at.ITEMS) {
			yield chunk;
			chunk = [];
		}
	}
	yield chunk;
}
