/*
 * demo.js - the page of `make demo-web`: choose a filter, look up items, see its size and how fast it is.
 */
import { Filter, version } from '../filter.js';
import { start } from '../wasm.js';

const MILLION = 1e6;
const LEAST_SECONDS = 0.25; /* some browsers show the time in steps of 0.1 */
const MOST_ROUNDS = 20;
const BATCH = 50000; /* between two of them the page reacts */
const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');
const percent = (rate, digits = 3) => `${Number((rate * 100).toPrecision(digits))} %`;

/* What is typed, as an item of the filter's class. */
const readers = {
	text: (text) => text,
	number: (text) => {
		const value = Number(text.replace(/[\s,_]/g, ''));
		if (Number.isNaN(value)) {
			throw new Error('Type a number.');
		}
		return value;
	},
	date: (text) => {
		const date = new Date(`${text}T00:00:00Z`);
		if (Number.isNaN(date.getTime())) {
			throw new Error('Type a date as 2026-11-22.');
		}
		return date;
	},
};

/* A million items that none of the filters has. */
const unrelated = {
	text: (i) => `item-${i}`,
	number: (i) => 3e6 + i,
	date: (i) => new Date(Date.UTC(2200, 0, 1) + i * 1000),
};

function facts(list, rows) {
	list.replaceChildren(...rows.flatMap(([name, value]) => {
		const term = document.createElement('dt');
		const text = document.createElement('dd');
		term.textContent = name;
		text.textContent = value;
		return [term, text];
	}));
}

function size(bytes) {
	return bytes < 1e6 ? `${number.format(Math.round(bytes / 100) / 10)} kB` : `${(bytes / 1e6).toFixed(2)} MB`;
}

function button(text, click) {
	const made = document.createElement('button');
	made.type = 'button';
	made.textContent = text;
	made.addEventListener('click', click);
	return made;
}

let current = null; /* { entry, filter } */

function say(kind, text, detail = '') {
	const verdict = $('verdict');
	verdict.className = kind;
	verdict.textContent = text;
	if (detail) {
		const small = document.createElement('small');
		small.textContent = detail;
		verdict.append(small);
	}
}

function ask() {
	const text = $('item').value.trim();
	if (!current || text === '') {
		say('idle', 'Type something, or choose an example.');
		return;
	}
	const { entry, filter } = current;
	try {
		if (!filter.contains(readers[entry.input](text))) {
			say('no', 'Certainly not in the list', text);
		} else if (text === entry.wrong) {
			say('yes', 'Probably in the list', `${text}: a false positive. It is not in the list. ${odds(filter)}`);
		} else {
			say('yes', 'Probably in the list', `${text}. ${odds(filter)}`);
		}
	} catch (error) {
		say('error', error.message);
	}
}

function odds(filter) {
	return `About 1 in ${number.format(Number((1 / filter.fpr).toPrecision(2)))} items that are not in it gets this answer.`;
}

function show({ entry, filter }) {
	const info = filter.info();
	for (const tab of $('filters').children) {
		tab.setAttribute('aria-pressed', String(tab.dataset.name === entry.name));
	}
	$('question').textContent = entry.question;
	[$('item').value] = entry.examples;
	const tries = [...entry.examples, entry.wrong].map((example) => button(example, () => {
		$('item').value = example;
		ask();
	}));
	tries.at(-1).append(' (a false positive)');
	tries.at(-1).className = 'yes';
	$('examples').replaceChildren(...tries);
	$('size').textContent = `${size(info.bytes)} instead of ${size(entry.plain)}`;
	$('share').firstElementChild.style.width = `${info.bytes / entry.plain * 100}%`;
	$('times').textContent = `${(entry.plain / info.bytes).toFixed(1)} times as small as its items alone`;
	facts($('facts'), [
		['items', number.format(info.count)],
		['bits an item', info.bits_per_item.toFixed(2)],
		['false positive rate', percent(info.fpr)],
		['asked for', percent(info.target_fpr)],
		['classes', info.item_classes.join(', ')],
		['layout', info.layout.replace('_', '-')],
		['buckets', `${info.bucket_size} slots of ${info.fingerprint_bits} bits`],
		['slots filled', percent(info.load_factor)],
	]);
	$('sql').textContent = entry.sql;
	ask();
	measure();
}

/* The bytes of a base64 text: PostgreSQL's text of a filter is one. */
function decoded(text) {
	return Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
}

function choose(entry, opened) {
	if (!opened.has(entry.name)) {
		opened.set(entry.name, new Filter(decoded(entry.filter)));
	}
	current = { entry, filter: opened.get(entry.name) };
	show(current);
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

let turns = 0;

/* Looks up a million items that the filter has not, again until the clock has moved far enough.  It ends when
   it begins anew, as for another filter. */
async function measure(again = false) {
	const { entry, filter } = current;
	const turn = ++turns;
	if (again || !entry.speed) {
		$('run').disabled = true;
		facts($('speed'), [['lookups a second', '…'], ['wrong answers', '…'], ['measured rate', '…'], ['expected rate', '…']]);
		let seconds = 0;
		let lookups = 0;
		let wrong = 0;
		for (let round = 0; round < MOST_ROUNDS && (round === 0 || seconds < LEAST_SECONDS); round++) {
			for (let from = 0; from < MILLION; from += BATCH) {
				await pause(0);
				if (turn !== turns) {
					return;
				}
				const items = Array.from({ length: BATCH }, (_, i) => unrelated[entry.input](from + i));
				const start = performance.now();
				const answers = filter.containsMany(items);
				seconds += (performance.now() - start) / 1000;
				lookups += BATCH;
				wrong += round === 0 ? answers.reduce((sum, answer) => sum + answer, 0) : 0;
			}
		}
		entry.speed = [
			['lookups a second', seconds > 0 ? number.format(Number((lookups / seconds).toPrecision(2))) : 'more than this clock can show'],
			['wrong answers', `${number.format(wrong)} of a million`],
			['measured rate', percent(wrong / MILLION)],
			['expected rate', percent(filter.fpr)],
		];
	}
	facts($('speed'), entry.speed);
	$('run').disabled = false;
}

await start((imports) => WebAssembly.instantiate(decoded($('wasm').textContent), imports));
const { filters, server } = JSON.parse($('made').textContent);
const opened = new Map();
for (const entry of filters) {
	const tab = button(entry.title, () => choose(entry, opened));
	tab.dataset.name = entry.name;
	$('filters').append(tab);
}
$('form').addEventListener('submit', (event) => { event.preventDefault(); ask(); });
$('item').addEventListener('input', ask);
$('run').addEventListener('click', () => measure(true));
$('foot').textContent = `Filters by ${server} and cuckoofilter; lookups by cuckoofilter ${version()} in WebAssembly.`;
choose(filters[0], opened);
document.body.dataset.ready = 'yes';
