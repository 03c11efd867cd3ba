/*
 * chromium.mjs - the npm package in headless Chromium: vectors, damaged bytes, errors, speed; and the page of
 * `make demo-web`, if make demo-web-page has made it.  Screenshots go to build/test.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { serve } from './serve.mjs';
import { browser } from './browser.mjs';
import { check, done, equal, vectors } from './check.mjs';

/* The package itself, on a page of its own. */
async function library(chromium) {
	const { address, server } = await serve('build/javascript');
	const page = await chromium.page(`${address}cuckoofilter/package.json`);
	await page.evaluate(`import('/cuckoofilter/index.js').then((all) => { Object.assign(globalThis, all); })`);
	const rows = vectors('filters.tsv').map(([name, , count, hex, inside]) => ({ name, count: Number(count), hex, inside }));
	const wrong = await page.evaluate(`(() => {
		const wrong = [];
		const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (two) => parseInt(two, 16));
		const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
		for (const { name, count, hex, inside } of ${JSON.stringify(rows)}) {
			const filter = new Filter(fromHex(hex));
			if (filter.count !== count || toHex(filter.bytes()) !== hex) wrong.push(name);
			for (const item of inside.split(',').filter((item) => /^[ti]:[^.]*$/.test(item))) {
				if (!filter.contains(item[0] === 'i' ? BigInt(item.slice(2)) : item.slice(2))) wrong.push(name + ' ' + item);
			}
			for (let n = 0; n < 40; n++) {
				const bytes = fromHex(hex);
				bytes[(n * 7919) % Math.min(bytes.length, 60)] ^= 1 << n % 8;
				try {
					new Filter(bytes).containsMany(['a', 1n, 2.5]);
				} catch (error) {
					if (!(error instanceof CuckooFilterError)) wrong.push(name + ': ' + error);
				}
			}
		}
		return wrong.join('; ');
	})()`);
	equal(wrong, '', 'filters of the vectors, whole and damaged');
	check(rows.length > 40, `only ${rows.length} filters`);
	equal(await page.evaluate(`[hash('a'), hash(5), hash(new Date(0))].join()`),
		'-6514421779281667172,-2786206636486823246,-2112036858680256737', 'hashes');
	equal(await page.evaluate(`Filter.build(Array.from({ length: 1e6 }, (_, i) => i + 1)).bytes().length`), 1187192, 'a million items');
	equal(await page.evaluate(`try { Filter.build(['a']).contains(5); } catch (error) { error.code + ' ' + error.message; }`),
		'42804 the cuckoofilter holds text, the item is a number', 'an error');
	console.log(`questions a second: ${await page.evaluate(`(() => {
		const filter = Filter.build(Array.from({ length: 1e6 }, (_, i) => i));
		const texts = Filter.build(Array.from({ length: 1e5 }, (_, i) => 'user-' + i));
		const dates = Array.from({ length: 1e6 }, (_, i) => new Date(1.7e12 + 1000 * i));
		const moments = Filter.build(dates.slice(5e5));
		const rate = (ask) => { const start = performance.now(); ask(); return (1e3 / (performance.now() - start)).toFixed(1) + ' M'; };
		return 'contains(number) ' + rate(() => { for (let i = 0; i < 1e6; i++) filter.contains(i + 5e5); })
			+ ', contains(string) ' + rate(() => { for (let i = 0; i < 1e6; i++) texts.contains('user-' + i); })
			+ ', contains(Date) ' + rate(() => { for (let i = 0; i < 1e6; i++) moments.contains(dates[i]); });
	})()`)}`);
	server.close();
}

/* Opened from its folder, without a server. */
async function demo(chromium) {
	const page = await chromium.page(`file://${process.cwd()}/build/demo-web/index.html`);
	await page.waitFor(`document.body.dataset.ready === 'yes'`);
	const text = (id) => page.evaluate(`document.getElementById('${id}').textContent`);
	const verdict = () => page.evaluate(`document.getElementById('verdict').className + ': ' + document.getElementById('verdict').innerText`);
	const type = async (text) => {
		await page.evaluate(`(() => {
			const item = document.getElementById('item');
			item.value = ${JSON.stringify(text)};
			item.dispatchEvent(new Event('input'));
		})()`);
		return verdict();
	};
	const choose = async (name) => {
		await page.evaluate(`document.querySelector('[data-name=${name}]').click()`);
		await page.waitFor(`document.querySelector('[data-name=${name}]').getAttribute('aria-pressed') === 'true'`);
	};
	const facts = (list) => page.evaluate(`[...document.querySelectorAll('#${list} dt')].map((dt) => dt.textContent + ': ' + dt.nextSibling.textContent).join('; ')`);
	const measured = async () => {
		await page.waitFor(`!document.getElementById('run').disabled && !document.getElementById('speed').textContent.includes('…')`);
		return facts('speed');
	};
	const speed = /^lookups a second: [\d,]+; wrong answers: [\d,]+ of a million; measured rate: [\d.e-]+ %; expected rate: [\d.e-]+ %$/;
	const fits = async (pixels, name) => {
		await page.wide(pixels);
		check(await page.evaluate('document.documentElement.scrollWidth') <= pixels, `${pixels} pixels: something is wider`);
		await page.screenshot(`build/test/demo-web-${name}.png`);
	};
	check(/^yes: Probably in the list\s+cuckoo\./.test(await verdict()), `an example is answered at load: ${await verdict()}`);
	check(speed.test(await measured()), `the speed is measured at load: ${await measured()}`);
	check(/^yes: Probably in the list\s+cuckoo\. About 1 in [\d,]+ items/.test(await type('cuckoo')), 'a word');
	check(/^no: Certainly not in the list\s+glorptastic/.test(await type('glorptastic')), 'no word');
	check((await page.evaluate(`document.getElementById('foot').textContent`)).includes('PostgreSQL 1'), 'the server is named');
	check(/classes: text/.test(await facts('facts')), 'its classes');
	const colours = [];
	for (const item of ['cuckoo', 'glorptastic']) {
		await type(item);
		colours.push(await page.evaluate(`getComputedStyle(document.getElementById('verdict')).backgroundColor`));
	}
	check(colours[0] !== colours[1], `"yes" and "no" have one colour: ${colours[0]}`);
	equal(await page.evaluate(`getComputedStyle(document.getElementById('examples').lastElementChild).backgroundColor`), colours[0], 'the false positive has the colour of "yes"');
	mkdirSync('build/test', { recursive: true });
	for (const name of ['words', 'primes', 'sundays']) {
		await choose(name);
		check(/^(yes|no): /.test(await verdict()), `${name}: an example is answered, ${await verdict()}`);
		const [, filter, unit, plain, plainUnit] = /^([\d.]+) (.B) instead of ([\d.]+) (.B)$/.exec(await text('size')) ?? [];
		const bytes = (count, unit) => count * { kB: 1e3, MB: 1e6 }[unit];
		const times = bytes(plain, plainUnit) / bytes(filter, unit);
		check(times > 2 && Math.abs(times - parseFloat(await text('times'))) < 0.1, `${name}: ${await text('size')}, ${await text('times')}`);
		const share = await page.evaluate(`parseFloat(document.getElementById('share').firstElementChild.style.width)`);
		check(Math.abs(share - 100 / times) < 1, `${name}: the bar of sizes, ${share} %`);
		await page.evaluate(`document.getElementById('examples').lastElementChild.click()`);
		check(/^yes: Probably in the list\s+\S+: a false positive\. It is not in the list\./.test(await verdict()), `${name}: a false positive, ${await verdict()}`);
		check(speed.test(await measured()), `${name}: ${await measured()}`);
	}
	await choose('primes');
	check((await type('1999993')).startsWith('yes'), 'a prime');
	check((await type('1,000')).startsWith('no'), 'no prime');
	check((await type('abc')).startsWith('error'), 'no number');
	await choose('sundays');
	check((await type('1969-07-20')).startsWith('yes'), 'a Sunday');
	check((await type('1969-07-21')).startsWith('no'), 'a Monday');
	// a clock that stands still
	await page.evaluate(`performance.now = () => 5`);
	await page.evaluate(`document.getElementById('run').click()`);
	check(/^lookups a second: more than/.test(await measured()), 'a speed without end');
	await page.evaluate(`delete performance.now`);
	await choose('words');
	await page.evaluate(`document.getElementById('examples').lastElementChild.click()`);
	await measured();
	await fits(1200, 'wide');
	await fits(390, 'narrow');
	await page.dark(true);
	await type('glorptastic');
	await fits(1200, 'wide-dark');
	await fits(390, 'narrow-dark');
}

const chromium = await browser();
try {
	await library(chromium);
	if (existsSync('build/demo-web/index.html')) {
		await demo(chromium);
	} else {
		console.log('skipped: the page of make demo-web, which make demo-web-page makes by PostgreSQL');
	}
} finally {
	await chromium.end();
}
done('chromium');
