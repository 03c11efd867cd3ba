/*
 * index.js - the package for browsers and bundlers.
 */
import { start } from './wasm.js';

const url = new URL('./cuckoofilter.wasm', import.meta.url);

await start(async (imports) => {
	const response = await fetch(url);
	if (!response.ok) {
		throw new Error(`cuckoofilter: ${url} cannot be loaded: ${response.status} ${response.statusText}`);
	}
	return WebAssembly.instantiate(await response.arrayBuffer(), imports);
});

export * from './filter.js';
