/*
 * make_filter.mjs - builds filters of items by the npm package, for PostgreSQL's suite
 * 053_one_truth:  make_filter.mjs FOLDER.  make_filter.py describes the lines; "-" stands for values
 * that JavaScript has not.
 */
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { Filter } = await import(pathToFileURL(process.argv[2] + '/node.js').href)
	.catch(() => import(pathToFileURL(process.argv[2] + '/index.js').href));
const read = {
	i: BigInt,
	r: Number,
	y: BigInt,
	t: hex => Buffer.from(hex, 'hex').toString('utf8'),
	b: hex => new Uint8Array(Buffer.from(hex, 'hex')),
	u: hex => new Uint8Array(Buffer.from(hex, 'hex')),
	z: microseconds => new Date(Number(BigInt(microseconds) / 1000n)),
	n: () => null,
};

for await (const line of createInterface({ input: process.stdin })) {
	const [fpr, capacity, options, list] = line.split('\t');
	const items = list.split(',');
	if (items.some(item => !(item[0] in read))) {
		console.log('-');
		continue;
	}
	const named = Object.fromEntries(options.split(',').filter(Boolean).map(option => option.split('=')));
	const filter = Filter.build(items.map(item => read[item[0]](item.slice(2))), {
		fpr: Number(fpr),
		capacity: BigInt(capacity),
		kind: named.kind,
		layout: named.layout,
		bucketSize: named.bucket_size && Number(named.bucket_size),
		seed: named.seed && BigInt(named.seed),
	});
	console.log(Buffer.from(filter.bytes()).toString('hex'));
	filter.free();
}
