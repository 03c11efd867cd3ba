/** What better-sqlite3's `Database` and node:sqlite's `DatabaseSync` have in common. */
interface Db {
	loadExtension(file: string, entrypoint?: string | undefined): void;
}

/** The full path of the library, for whoever loads extensions in a way of their own. */
export declare function getLoadablePath(): string;

/**
 * Loads the extension into one connection, for as long as it is open.  node:sqlite loads extensions
 * into a database that was opened with `{ allowExtension: true }`.
 */
export declare function load(db: Db): void;
