declare global {
	/** Symbol.dispose, for programs that compile without the library "esnext.disposable". */
	interface SymbolConstructor {
		readonly dispose: unique symbol;
	}
}

/** A value that a filter can have: see README.md, "Items".  null and undefined are no items. */
export type Item = number | bigint | string | boolean | Uint8Array | Date | null | undefined;

export interface FilterOptions {
	/** Target false positive rate, inside (0, 1).  0.01 unless given. */
	fpr?: number;
	/** A set keeps one copy of each item and refuses removals.  'deletable' unless given. */
	kind?: 'deletable' | 'set';
	/** Slots of a bucket: 4 unless given. */
	bucketSize?: 2 | 4 | 8;
	/** 'semi_sorted' unless given; it needs a bucket size of 4. */
	layout?: 'semi_sorted' | 'plain';
	/** Seed of the hash, an integer of 64 bits: 0 unless given.  Only filters of one seed merge. */
	seed?: number | bigint;
}

export interface BuildOptions extends FilterOptions {
	/** The filter keeps its rate up to so many distinct items: the number of the items unless given. */
	capacity?: number | bigint;
}

/** The fields of `cuckoofilter_info` in SQL. */
export interface FilterInfo {
	count: number;
	capacity: number;
	target_fpr: number;
	fpr: number;
	bytes: number;
	bits_per_item: number;
	load_factor: number;
	encoding: 'hashes' | 'table';
	layout: 'semi_sorted' | 'plain';
	kind: 'deletable' | 'set';
	bucket_size: number;
	fingerprint_bits: number;
	prefix_bits: number;
	segments: number;
	seed: bigint;
	format_version: number;
	item_classes: ('number' | 'text' | 'bytes' | 'timestamp' | 'timestamptz' | 'other' | 'hash')[];
	/** So many items can be added at the target rate: the capacity less the count, never below 0. */
	items_left: number;
	/** At least so many items can be added until adding fails; in 1 of 1,000 filters fewer. */
	items_to_limit: number;
}

/**
 * An error of cuckoofilter.  The sentences are PostgreSQL's, and so is `code`, the SQLSTATE:
 * 22023 a bad parameter, or two filters whose seeds differ; 22P03 bytes that are no filter; 42804 an
 * item of a class that the filter has never seen; 55000 a removal from a set; 54000 the precision of
 * the filter is used up; 53200 out of memory.
 */
export declare class CuckooFilterError extends Error {
	readonly code: '22023' | '22P03' | '42804' | '55000' | '54000' | '53200' | '57014';
	readonly detail: string;
	readonly hint: string;
}

/**
 * A cuckoo filter: asked for an item, it answers "certainly not" (false) or "probably" (true).
 *
 * Its bytes are those of PostgreSQL and SQLite.  They are in the memory of WebAssembly, which is freed by
 * free(), or some time after JavaScript collects the object: not before the current turn of the event loop
 * ends.  A call that fails changes nothing.
 */
export declare class Filter {
	/**
	 * The filter in bytes that any version of cuckoofilter has written, or in their base64: PostgreSQL's
	 * text of a filter.  They are copied and validated, every slot of them, and may come from anybody.
	 * Throws CuckooFilterError 22P03.
	 */
	constructor(bytes: Uint8Array | ArrayBuffer | string);

	/** An empty filter that keeps its rate up to `capacity` distinct items, 1 to 2^40. */
	static create(capacity: number | bigint, options?: FilterOptions): Filter;

	/** The filter of items, as `cuckoofilter_agg` in SQL: the same items give the same bytes, in any order. */
	static build(items: Iterable<Item>, options?: BuildOptions): Filter;

	/** The filter of pairs, as `cuckoofilter_agg_pair` in SQL.  A pair with a null is no item. */
	static buildPairs(pairs: Iterable<readonly [item: Item, value: Item]>, options?: BuildOptions): Filter;

	/** Whether the filter probably contains an item.  null for null. */
	contains(item: Exclude<Item, null | undefined>): boolean;
	contains(item: Item): boolean | null;

	/** The same of many items: 1 or 0 for each.  0 for null. */
	containsMany(items: Iterable<Item>): Uint8Array;

	/** How many copies of an item are stored, 0 to twice the bucket size.  null for null. */
	copies(item: Exclude<Item, null | undefined>): number;
	copies(item: Item): number | null;

	/** Adds one copy of an item.  Returns the filter. */
	add(item: Item): this;

	/** Adds one copy of each item.  All are added, or none. */
	addMany(items: Iterable<Item>): this;

	/**
	 * Removes one copy of an item.  Returns whether one was removed: not if there is none, and not if there are
	 * as many as can be counted (twice the bucket size), which stay.  Remove only what was added.
	 */
	remove(item: Item): boolean;

	/** Removes one copy of each item.  Items that are not there change nothing. */
	removeMany(items: Iterable<Item>): this;

	/**
	 * The same for a pair: an item with a value, such as the partition that has its rows.  Both together
	 * are one item, `ROW(item, value)` in SQL.  If one of them is null, there is no item.
	 */
	containsPair(item: Exclude<Item, null | undefined>, value: Exclude<Item, null | undefined>): boolean;
	containsPair(item: Item, value: Item): boolean | null;
	addPair(item: Item, value: Item): this;
	removePair(item: Item, value: Item): boolean;

	/** The same for hashes, as `cuckoofilter_contains_hash` and its like in SQL. */
	containsHash(hash: bigint): boolean;
	addHash(hash: bigint): this;
	removeHash(hash: bigint): boolean;

	/** A new filter of the items in either.  It is a set. */
	union(filter: Filter): Filter;

	/** A new filter in which copies add up, for filters without a common item.  Deletable if both are. */
	sum(filter: Filter): Filter;

	/**
	 * A new filter of the items in any of the filters, as `cuckoofilter_union_agg` in SQL: several times as fast
	 * as `union` for each of them.
	 */
	static unionAll(filters: Iterable<Filter>): Filter;

	/** The same by `sum`, as `cuckoofilter_sum_agg` in SQL. */
	static sumAll(filters: Iterable<Filter>): Filter;

	/** A new filter of the items in both.  It is a set. */
	intersect(filter: Filter): Filter;

	/** How many distinct items both filters have, about. */
	overlap(filter: Filter): number;

	/** The standard error of `overlap`. */
	overlapError(filter: Filter): number;

	/** `overlap` divided by the distinct items of the union: 0 to 1.  null if both are empty. */
	jaccard(filter: Filter): number | null;

	/** Moves the items into the fewest bytes.  Returns the filter. */
	compact(): this;

	/** A copy. */
	copy(): Filter;

	/** A copy of the bytes, to be stored or sent. */
	bytes(): Uint8Array;

	/** The bytes as base64, for JSON.stringify.  The constructor takes this text back. */
	toJSON(): string;

	/** Copies that are stored. */
	readonly count: number;

	/** The false positive rate to expect now. */
	readonly fpr: number;

	/** The seed, a signed integer. */
	readonly seed: bigint;

	info(): FilterInfo;

	/** Frees the memory now.  No other method may be called afterwards. */
	free(): void;

	/** The same: `using filter = Filter.build(..)` frees the filter at the end of the block. */
	[Symbol.dispose](): void;
}

/** The hash of an item, as `cuckoofilter_hash` in SQL: a signed integer of 64 bits.  null for null. */
export declare function hash(item: Exclude<Item, null | undefined>, seed?: number | bigint): bigint;
export declare function hash(item: Item, seed?: number | bigint): bigint | null;

/**
 * The part of an item, 0 to parts - 1, in a filter that is kept in parts, as `cuckoofilter_part` in SQL.
 * parts is an integer from 1 to 2147483647.  null for null.
 */
export declare function part(item: Exclude<Item, null | undefined>, parts: number | bigint): number;
export declare function part(item: Item, parts: number | bigint): number | null;

/** The version of the package, such as "1.5.1". */
export declare function version(): string;
