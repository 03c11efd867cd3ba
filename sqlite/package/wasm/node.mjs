/*
 * node.mjs - SQLite in WebAssembly for node.js:
 *
 *     import init from './node.mjs';
 *     const sqlite3 = await init();
 *     const db = new sqlite3.oo1.DB(':memory:');
 *
 * Debian's emscripten writes a module that looks for the names of CommonJS.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

globalThis.require ??= createRequire(import.meta.url);
globalThis.__dirname ??= fileURLToPath(new URL('.', import.meta.url));

const { default: start } = await import('./sqlite3.mjs');

export default (options = {}) =>
	start({ wasmBinary: readFileSync(new URL('sqlite3.wasm', import.meta.url)), ...options });
