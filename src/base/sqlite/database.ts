/**
 * An SQLite database: what signalbox uses of better-sqlite3, whose names these are. node-sqlite.ts
 * makes the same of Node's own.
 */
export interface Database {
  prepare<Bound extends unknown[] | object = unknown[], Row = unknown>(
    sql: string,
  ): Statement<Bound extends unknown[] ? Bound : [Bound], Row>;
  exec(sql: string): unknown;
  /** `simple`: the first value of the first row, in place of the rows. */
  pragma(source: string, options?: { simple?: boolean }): unknown;
  /** Returns a function that runs `work` in a transaction, which an error undoes. */
  transaction<Args extends unknown[], Result>(
    work: (...args: Args) => Result,
  ): Transaction<Args, Result> & { immediate: Transaction<Args, Result> };
  /** The bytes of the whole database. */
  serialize(): Buffer;
  close(): unknown;
}

type Transaction<Args extends unknown[], Result> = (...args: Args) => Result;

/**
 * Values stand for `?` by their order, or in one object for `@name`. A binary value is a
 * `Uint8Array`.
 */
export interface Statement<Bound extends unknown[] = unknown[], Row = unknown> {
  get(...bound: Bound): Row | undefined;
  all(...bound: Bound): Row[];
  run(...bound: Bound): { changes: number; lastInsertRowid: number | bigint };
  /** From now on a row is the value of its first column. */
  pluck(): this;
}

export interface OpenOptions {
  /** How long a statement waits for a lock, in ms. */
  timeout?: number;
  readonly?: boolean;
  fileMustExist?: boolean;
}

/** Errors have the name of SQLite's result in `code`, such as `SQLITE_BUSY`. */
export interface SqliteDriver {
  name: "better-sqlite3" | "node:sqlite";
  /** @param source the path of a file, `:memory:`, or the bytes of a database */
  open(source: string | Buffer, options?: OpenOptions): Database;
}
