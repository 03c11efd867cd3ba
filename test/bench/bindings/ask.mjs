/*
 * ask.mjs - the npm package in the benchmark of the bindings, beside npm's bloom-filters where
 * build/bench/npm has it.  A line of output: package, figure, items, seconds of user time.
 */
const root = new URL('../../../', import.meta.url);
const { Filter } = await import(new URL('build/javascript/cuckoofilter/node.js', root));

const ITEMS = 1e6;
const asked = Array.from({ length: ITEMS }, (_, i) => ITEMS / 2 + (i * 7919) % ITEMS);

function measure(name, figure, items, call) {
	const start = process.cpuUsage().user;
	const found = call();
	console.log([name, figure, items, ((process.cpuUsage().user - start) / 1e6).toFixed(6)].join('\t'));
	if (figure.startsWith('build') ? false : found < items / 2 || found > items * 0.52) {
		throw new Error(`${figure}: ${found} of ${items} were found`);
	}
	return found;
}

/* Questions one by one and at once, about the same values. */
function ask(kind, valueOf) {
	const filter = Filter.build((function* () {
		for (let i = 0; i < ITEMS; i++) {
			yield valueOf(i);
		}
	})());
	const values = asked.map(valueOf);
	measure('JavaScript', `one by one, ${kind}`, ITEMS, () => values.reduce((sum, value) => sum + filter.contains(value), 0));
	measure('JavaScript', `many, ${kind}`, ITEMS, () => filter.containsMany(values).reduce((a, b) => a + b));
	filter.free();
}

const all = Float64Array.from({ length: ITEMS }, (_, i) => i);
const numbers = measure('JavaScript', 'build, integers', ITEMS, () => Filter.build(all));
const doubles = Float64Array.from(asked);
measure('JavaScript, Float64Array', 'many, integers', ITEMS, () => numbers.containsMany(doubles).reduce((a, b) => a + b));
ask('integers', (i) => i);
ask('bigints', (i) => BigInt(i));
ask('texts', (i) => `user-${i}`);
ask('dates', (i) => new Date(1.7e12 + i * 1000));

const bloom = await import(new URL('build/bench/npm/node_modules/bloom-filters/dist/api.js', root)).catch(() => null);
if (bloom === null) {
	console.error('skipped: npm\'s bloom-filters (npm install --prefix build/bench/npm bloom-filters)');
} else {
	const few = ITEMS / 20;
	const filter = bloom.default.BloomFilter.create(few, 0.01);
	measure('bloom-filters (npm)', 'build, texts', few, () => { for (let i = 0; i < few; i++) filter.add(`user-${i}`); });
	measure('bloom-filters (npm)', 'one by one, texts', few, () => {
		let found = 0;
		for (let i = 0; i < few; i++) {
			found += filter.has(`user-${few / 2 + i}`);
		}
		return found;
	});
}
