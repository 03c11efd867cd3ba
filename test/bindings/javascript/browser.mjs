/*
 * browser.mjs - headless Chromium, driven through its pipe of commands (--remote-debugging-pipe).
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SECONDS = 900; /* a command that takes longer fails */

/** Starts Chromium.  `end` must be called. */
export async function browser() {
	const folder = mkdtempSync(join(tmpdir(), 'cuckoofilter-chromium-'));
	const child = spawn('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run',
		'--disable-background-networking', '--disable-component-update', '--window-size=1100,900', '--disable-sync', '--remote-debugging-pipe',
		`--user-data-dir=${folder}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
	const waiting = new Map();
	let number = 0;
	let rest = '';
	child.stdio[4].setEncoding('utf8').on('data', (data) => {
		const messages = (rest + data).split('\0');
		rest = messages.pop();
		for (const message of messages.map((text) => JSON.parse(text))) {
			const call = waiting.get(message.id);
			waiting.delete(message.id);
			call?.(message);
		}
	});
	const send = (method, params = {}, sessionId = undefined) => new Promise((done, fail) => {
		const id = ++number;
		const timer = setTimeout(() => fail(new Error(`${method} took more than ${SECONDS} s`)), SECONDS * 1000);
		waiting.set(id, (message) => {
			clearTimeout(timer);
			if (message.error) {
				fail(new Error(`${method}: ${message.error.message}`));
			} else {
				done(message.result);
			}
		});
		child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
	});

	/** A page at an address: evaluate(expression) gives its value, awaited; screenshot(file) writes a PNG. */
	async function page(url) {
		const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
		const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
		const evaluate = async (expression) => {
			const { result, exceptionDetails } = await send('Runtime.evaluate',
				{ expression, awaitPromise: true, returnByValue: true, userGesture: true }, sessionId);
			if (exceptionDetails) {
				throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
			}
			return result.value;
		};
		const waitFor = async (expression) => {
			for (const end = Date.now() + SECONDS * 1000; Date.now() < end;) {
				// a question that comes while the page changes to another one has no answer
				const answer = await evaluate(expression).catch((error) => {
					if (!/context|navigated/i.test(error.message)) {
						throw error;
					}
				});
				if (answer) {
					return;
				}
				await new Promise((resolve) => { setTimeout(resolve, 50); });
			}
			throw new Error(`${expression} did not become true`);
		};
		await send('Page.enable', {}, sessionId);
		await send('Page.navigate', { url }, sessionId);
		await waitFor(`document.readyState === 'complete' && location.href !== 'about:blank'`);
		return {
			evaluate,
			waitFor,
			dark: (on) => send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: on ? 'dark' : 'light' }] }, sessionId),
			wide: (pixels) => send('Emulation.setDeviceMetricsOverride', { width: pixels, height: 900, deviceScaleFactor: 1, mobile: pixels < 600 }, sessionId),
			screenshot: async (file) => {
				const { data } = await send('Page.captureScreenshot', { captureBeyondViewport: true }, sessionId);
				writeFileSync(file, Buffer.from(data, 'base64'));
			},
		};
	}
	return {
		page,
		end: async () => {
			const ended = new Promise((done) => { child.on('exit', done); });
			send('Browser.close').catch(() => {});
			const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
			await ended;
			clearTimeout(timer);
			// its other processes may still write there, and end soon
			rmSync(folder, { recursive: true, force: true, maxRetries: 30 });
		},
	};
}
