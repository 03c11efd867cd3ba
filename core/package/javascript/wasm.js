/*
 * wasm.js - the WebAssembly instance: its functions, its memory, its errors.
 */

/** What exports.c exports, and the functions of libcuckoofilter that package.mk names. */
export let wasm;

/*
 * The memory, as bytes, int32s, int64s and doubles.  Memory that grows gets a new buffer, and views of
 * the old one have no bytes: `memory()` makes them anew.  They are valid until the next call that may
 * allocate.
 */
export let bytes = new Uint8Array(0);
export let halves, words, doubles;

/* Addresses and sizes of what exports.c keeps for us. */
export const at = {};

const decoder = new TextDecoder();

let started;

/**
 * Starts the instance.  `instantiate` gets the imports and gives what WebAssembly.instantiate gives.  A program
 * that imports both node.js and index.js has one instance.
 */
export function start(instantiate) {
	started ??= startOnce(instantiate);
	return started;
}

async function startOnce(instantiate) {
	const env = {
		print_real: (value, digits, text) => write(text, formatReal(value, digits)),
		info_number: (name, value) => { info[string(name)] = value; },
		info_bits: (name, value) => { info[string(name)] = value; },
		info_word: (name, word) => { info[string(name)] = string(word); },
		info_list: (name, word) => {
			const list = (info[string(name)] ??= []);
			if (word !== 0) {
				list.push(string(word));
			}
		},
	};
	wasm = (await instantiate({ env })).instance.exports;
	['words', 'kinds', 'answers', 'text', 'ITEMS', 'TEXT', 'error', 'message', 'detail', 'hint'].forEach((name, number) => {
		at[name] = address(wasm.address(number));
	});
}

/** An address: WebAssembly gives it as a signed integer. */
export function address(number) {
	return number >>> 0;
}

/** Looks whether the memory has grown.  Gives it as bytes. */
export function memory() {
	if (bytes.length === 0) {
		const { buffer } = wasm.memory;
		bytes = new Uint8Array(buffer);
		halves = new Uint32Array(buffer);
		words = new BigInt64Array(buffer);
		doubles = new Float64Array(buffer);
	}
	return bytes;
}

/** The text at an address, up to its zero. */
export function string(from) {
	const start = address(from);
	const all = memory();
	return decoder.decode(all.subarray(start, all.indexOf(0, start)));
}

/* Writes ASCII.  Returns its length. */
function write(to, text) {
	for (let i = 0; i < text.length; i++) {
		memory()[address(to) + i] = text.charCodeAt(i);
	}
	return text.length;
}

/** A number as C's %g writes it with so many significant digits. */
export function formatReal(value, digits) {
	if (!Number.isFinite(value)) {
		return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';
	}
	const sign = value < 0 || Object.is(value, -0) ? '-' : '';
	const [mantissa, exponent] = Math.abs(value).toExponential(digits - 1).split('e');
	const power = Number(exponent);
	const all = mantissa.replace('.', '');
	const trimmed = (text) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
	if (power < -4 || power >= digits) {
		const short = trimmed(all.slice(0, 1) + '.' + all.slice(1));
		return `${sign}${short}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
	}
	if (power < 0) {
		return sign + trimmed('0.' + '0'.repeat(-power - 1) + all);
	}
	return sign + trimmed(all.slice(0, power + 1) + '.' + all.slice(power + 1));
}

/* Where the info_.. imports write. */
let info;

/** The fields of cuckoofilter_info. */
export function readInfo(pointer) {
	info = {};
	wasm.info(pointer);
	return info;
}

/**
 * An error of cuckoofilter, with the sentences of the databases.  `code` is PostgreSQL's SQLSTATE of
 * the same error; `detail` and `hint` are what PostgreSQL shows under these names, or ''.
 */
export class CuckooFilterError extends Error {
	constructor(message, code, detail = '', hint = '') {
		super(message);
		this.name = 'CuckooFilterError';
		this.code = code;
		this.detail = detail;
		this.hint = hint;
	}
}

/* Names of SQL in an error's texts, and what JavaScript calls the same. */
const NAMES = [
	['cuckoofilter_sum', 'sum'],
	['cuckoofilter_agg(item, fpr, capacity)', 'Filter.build(items, { fpr, capacity })'],
	['cuckoofilter_part', 'part'],
	['bucket_size', 'bucketSize'],
];

function textOf(from) {
	return NAMES.reduce((text, [sql, name]) => text.replaceAll(sql, name), string(from));
}

/** The error of the last call that failed. */
export function lastError() {
	return new CuckooFilterError(textOf(at.message), string(wasm.address(10)), textOf(at.detail), textOf(at.hint));
}

/** There is no memory: what malloc's callers say. */
export function noMemory() {
	return new CuckooFilterError('out of memory', '53200');
}

/** The address of so many bytes of memory. */
export function allocate(size) {
	const room = size < 2 ** 32 ? address(wasm.malloc(size)) : 0;
	if (room === 0) {
		throw noMemory();
	}
	return room;
}

/** Runs `use(address)` with so many bytes of memory, and frees them. */
export function withMemory(size, use) {
	const room = allocate(size);
	try {
		return use(room);
	} finally {
		wasm.free(room);
	}
}

/** The version of the library, such as "1.5.1". */
export function version() {
	return string(wasm.cuckoofilter_version());
}
