/*
 * check.mjs - what the suites of the npm package share: checks, random numbers, and the vectors.
 */
import { readFileSync } from 'node:fs';

const root = new URL('../../../', import.meta.url);

export const cuckoofilter = await import(new URL('build/javascript/cuckoofilter/node.js', root));
export const { CuckooFilterError, Filter, hash } = cuckoofilter;

let passed = 0;
let failed = 0;

export function check(ok, what) {
	if (ok) {
		passed++;
	} else {
		failed++;
		if (failed <= 20) {
			console.log(`FAIL ${what}`);
		}
	}
}

export function equal(got, want, what) {
	check(Object.is(got, want), `${what}: got ${got}, want ${want}`);
}

/** Checks that a call fails with this code (PostgreSQL's, or the name of an error) and sentence. */
export function fails(call, code, sentence, what = sentence) {
	try {
		call();
	} catch (error) {
		check((error.code ?? error.name) === code && error.message.includes(sentence),
			`${what}: got ${error.code ?? error.name} "${error.message}", want ${code} "${sentence}"`);
		return error;
	}
	check(false, `${what}: got no error, want ${code}`);
	return null;
}

export function done(name) {
	console.log(`javascript-${name}: ${passed} passed, ${failed} failed`);
	process.exit(failed ? 1 : 0);
}

/** Lines of a file of test/vectors, as lists of fields. */
export function vectors(name) {
	return readFileSync(new URL(`test/vectors/${name}`, root), 'utf8').split('\n')
		.filter((line) => line && !line.startsWith('#')).map((line) => line.split('\t'));
}

export const fromHex = (hex) => Uint8Array.from(Buffer.from(hex === '-' ? '' : hex, 'hex'));
export const toHex = (bytes) => Buffer.from(bytes).toString('hex');

/** The items of a recipe in filters.tsv. */
export function items(text) {
	return text === '-' ? [] : text.split(',').flatMap((item) => {
		const value = item.slice(2);
		switch (item[0]) {
			case 'i': {
				const [first, last = first] = value.split('..').map(BigInt);
				return Array.from({ length: Number(last - first) + 1 }, (_, n) => first + BigInt(n));
			}
			case 'r': return [Number(value)];
			case 't': return [value];
			case 'b': return [fromHex(value)];
			default: throw new Error(`item ${item}`);
		}
	});
}

/** An object of options from the text that SQL takes. */
export function options(text) {
	const names = { bucket_size: 'bucketSize' };
	return text === '-' ? {} : Object.fromEntries(text.split(',').map((option) => {
		const [name, value] = option.split('=').map((word) => word.trim());
		return [names[name] ?? name, name === 'seed' ? BigInt(value) : value];
	}));
}

/** Random numbers from SEED, or from a seed that is printed. */
export function randomness() {
	const seed = process.env.SEED ?? String(Date.now() % 1000000);
	console.log(`SEED=${seed}`);
	let state = BigInt(seed) * 0x9E3779B97F4A7C15n;
	const next = () => {
		state = BigInt.asUintN(64, state + 0x9E3779B97F4A7C15n);
		let z = state;
		z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xBF58476D1CE4E5B9n);
		z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94D049BB133111EBn);
		return z ^ (z >> 31n);
	};
	return { next, below: (n) => Number(next() % BigInt(n)), pick: (list) => list[Number(next() % BigInt(list.length))] };
}

/** So many rounds, scaled by ROUNDS per cent. */
export const rounds = (n) => Math.max(1, Math.floor(n * Number(process.env.ROUNDS ?? 100) / 100));
