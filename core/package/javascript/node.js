/*
 * node.js - the package for node.js.
 */
import { readFile } from 'node:fs/promises';
import { start } from './wasm.js';

await start(async (imports) =>
	WebAssembly.instantiate(await readFile(new URL('./cuckoofilter.wasm', import.meta.url)), imports));

export * from './filter.js';
