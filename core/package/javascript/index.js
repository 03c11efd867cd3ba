/*
 * index.js - the package for browsers and bundlers.
 */
import { start } from './wasm.js';

const url = new URL('./cuckoofilter.wasm', import.meta.url);

/* In node.js, a program that imports this file by its path: fetch reads no files there. */
async function readFile() {
	const name = 'node:fs/promises'; /* not in the call, where bundlers would look for it */
	const { readFile: read } = await import(/* webpackIgnore: true */ /* @vite-ignore */ name);
	return read(url);
}

await start(async (imports) => {
	if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
		return WebAssembly.instantiate(await readFile(), imports);
	}
	const response = await fetch(url);
	if (!response.ok) {
		throw new Error(`cuckoofilter: ${url} cannot be loaded: ${response.status} ${response.statusText}`);
	}
	return WebAssembly.instantiate(await response.arrayBuffer(), imports);
});

export * from './filter.js';
