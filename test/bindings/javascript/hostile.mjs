/*
 * hostile.mjs - damaged filters: an error or an answer, never a trap, and nothing of the memory of others
 * changes.  SEED and ROUNDS are those of all suites.
 */
import { CuckooFilterError, Filter, check, done, equal, fromHex, randomness, rounds, toHex, vectors } from './check.mjs';

const { below, pick } = randomness();

const whole = [...vectors('filters.tsv').map((fields) => fromHex(fields[3])),
	...vectors('golden/format-1.tsv').map((fields) => fromHex(fields[5])),
	...vectors('golden/format-2.tsv').map((fields) => fromHex(fields[5]))];
const witness = Filter.build(Array.from({ length: 3000 }, (_, i) => i));
const before = toHex(witness.bytes());

/* A byte of the header more often than one of the body. */
function place(bytes) {
	return below(2) && bytes.length > 48 ? below(bytes.length) : below(Math.min(bytes.length, 48));
}

function damage(bytes) {
	let copy = Uint8Array.from(bytes);
	for (let n = 1 + below(4); n > 0; n--) {
		switch (below(6)) {
			case 0: copy[place(copy)] ^= 1 << below(8); break;
			case 1: copy[place(copy)] = below(256); break;
			case 2: copy[place(copy)] = pick([0, 1, 127, 128, 255]); break;
			case 3: copy = copy.slice(0, below(copy.length + 1)); break;
			case 4: { const longer = new Uint8Array(copy.length + 1 + below(20)); longer.set(copy); copy = longer; break; }
			default: { const other = pick(whole); copy.set(other.subarray(0, Math.min(below(49), copy.length)), 0); }
		}
		if (copy.length === 0) {
			break;
		}
	}
	return copy;
}

const asks = [
	(f) => f.contains(1), (f) => f.contains('abc'), (f) => f.contains(2n ** 40n), (f) => f.containsMany([1, 2, 3, 4]),
	(f) => f.add(7), (f) => f.remove(1), (f) => f.addMany(Array.from({ length: 500 }, (_, i) => i)),
	(f) => f.removeMany([1, 2, 3]), (f) => f.union(witness), (f) => witness.sum(f), (f) => f.intersect(witness),
	(f) => f.overlap(witness), (f) => f.compact(), (f) => f.copies(1), (f) => f.info(), (f) => f.bytes(), (f) => f.copy().addHash(5n),
	(f) => f.containsPair(1, 'a'), (f) => f.addPair(1, 'a'), (f) => f.removePair(1, 'a'), (f) => new Filter(f.toJSON()),
];

const total = rounds(10000);
let opened = 0;
for (let round = 0; round < total; round++) {
	const bytes = damage(pick(whole));
	let filter;
	try {
		filter = new Filter(bytes);
		opened++;
		for (let n = 0; n < 3; n++) {
			try {
				pick(asks)(filter);
			} catch (error) {
				check(error instanceof CuckooFilterError, `round ${round}: ${error.stack}`);
			}
		}
	} catch (error) {
		check(error instanceof CuckooFilterError && error.code === '22P03' && error.message.length > 20, `round ${round}: ${error.stack}`);
	}
	filter?.free();
}
check(opened > total / 100 && opened < total, `${opened} of ${total} were opened`);
equal(toHex(witness.bytes()), before, 'another filter stays as it was');
console.log(`${total} damaged filters, of which ${opened} opened`);

done('hostile');
