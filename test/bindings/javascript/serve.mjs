/*
 * serve.mjs - serves a folder to browsers on this machine, over HTTP.
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';

const types = {
	'.css': 'text/css', '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.json': 'application/json',
	'.mjs': 'text/javascript', '.svg': 'image/svg+xml', '.txt': 'text/plain', '.wasm': 'application/wasm',
};

/** Serves a folder.  Port 0 is any free one.  Gives the address and the server. */
export function serve(folder, port = 0) {
	const root = resolve(folder);
	const server = createServer((request, response) => {
		const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
		const file = join(root, normalize(path.endsWith('/') ? `${path}index.html` : path));
		if (!file.startsWith(root) || !existsSync(file) || !statSync(file).isFile()) {
			response.writeHead(404).end('not found');
			return;
		}
		response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream', 'cache-control': 'no-store' });
		createReadStream(file).pipe(response);
	});
	return new Promise((done) => {
		server.listen(port, '127.0.0.1', () => done({ address: `http://127.0.0.1:${server.address().port}/`, server }));
	});
}
