import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { safely, SignalboxError } from "../errors.js";
import type { Database, OpenOptions, SqliteDriver, Statement } from "./database.js";

/** The part of `node:sqlite` that is used here. The types of Node 20 do not have it. */
interface NodeDatabase {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  /** From Node 24 on. */
  serialize?(): Uint8Array;
  deserialize?(bytes: Uint8Array): void;
  close(): void;
}

interface NodeStatement extends Omit<Statement, "pluck"> {
  setAllowUnknownNamedParameters(isAllowed: boolean): void;
  setReturnArrays(areArrays: boolean): void;
}

type Module = Record<
  "DatabaseSync",
  new (source: string | URL, options: { timeout?: number; readOnly?: boolean }) => NodeDatabase
>;

/** SQLite of Node itself. @returns undefined where Node has none */
export function nodeSqlite(): SqliteDriver | undefined {
  // Not by `import`, which would fail on a Node without it.
  const load = createRequire(process.execPath);
  const sqlite = safely(() => load("node:sqlite") as Module, undefined);
  if (sqlite === undefined) return undefined;
  return {
    name: "node:sqlite",
    open: (source, options = {}) => new NodeSqlite(open(sqlite, source, options)),
  };
}

function open(
  { DatabaseSync }: Module,
  source: string | Buffer,
  { timeout, readonly, fileMustExist }: OpenOptions,
): NodeDatabase {
  return named(() => {
    const options = { timeout: timeout ?? 5000, readOnly: readonly ?? false };
    if (typeof source === "string") {
      // Only an address can say that the file must be there.
      const mode = fileMustExist === true && readonly !== true;
      return new DatabaseSync(mode ? existing(source) : source, options);
    }
    const db = new DatabaseSync(":memory:", options);
    if (db.deserialize === undefined) throw noSnapshots();
    db.deserialize(source);
    return db;
  });
}

function existing(path: string): URL {
  const url = pathToFileURL(path);
  url.search = "mode=rw";
  return url;
}

function noSnapshots(): SignalboxError {
  return new SignalboxError(
    "store_unsupported",
    `The SQLite of Node ${process.versions.node} makes no snapshots.`,
    "Use Node 24, or run: npm install better-sqlite3",
  );
}

/** Gives Node's SQLite the form of better-sqlite3. */
class NodeSqlite implements Database {
  readonly #db: NodeDatabase;
  readonly #steps = new Map<string, NodeStatement>();

  constructor(db: NodeDatabase) {
    this.#db = db;
  }

  prepare<Bound extends unknown[] | object, Row>(
    sql: string,
  ): Statement<Bound extends unknown[] ? Bound : [Bound], Row> {
    // The rows have the type that the caller says, as they do in better-sqlite3.
    return new PreparedStatement(named(() => this.#db.prepare(sql))) as never;
  }

  exec(sql: string): void {
    named(() => this.#db.exec(sql));
  }

  pragma(source: string, { simple = false }: { simple?: boolean } = {}): unknown {
    const statement = this.prepare(`PRAGMA ${source}`);
    return simple ? statement.pluck().get() : statement.all();
  }

  transaction<Args extends unknown[], Result>(work: (...args: Args) => Result) {
    const run =
      (begin: string) =>
      (...args: Args): Result => {
        const isInner = this.#db.isTransaction;
        this.#step(isInner ? "SAVEPOINT inner" : begin);
        try {
          const result = work(...args);
          this.#step(isInner ? "RELEASE inner" : "COMMIT");
          return result;
        } catch (error) {
          // After some errors, such as a full disk, SQLite has undone it already.
          if (this.#db.isTransaction)
            this.exec(isInner ? "ROLLBACK TO inner; RELEASE inner" : "ROLLBACK");
          throw error;
        }
      };
    return Object.assign(run("BEGIN"), { immediate: run("BEGIN IMMEDIATE") });
  }

  serialize(): Buffer {
    return named(() => {
      const bytes = this.#db.serialize?.();
      if (bytes === undefined) throw noSnapshots();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    });
  }

  close(): void {
    if (this.#db.isOpen) named(() => this.#db.close());
  }

  /** A commit has two of these, which are prepared once. */
  #step(sql: string): void {
    let statement = this.#steps.get(sql);
    if (statement === undefined)
      this.#steps.set(sql, (statement = named(() => this.#db.prepare(sql))));
    named(() => statement.run());
  }
}

class PreparedStatement implements Statement {
  readonly #statement: NodeStatement;
  #isPlucked = false;

  constructor(statement: NodeStatement) {
    this.#statement = statement;
    statement.setAllowUnknownNamedParameters(true);
  }

  get(...bound: unknown[]): unknown {
    const row = named(() => this.#statement.get(...withNulls(bound)));
    return row === undefined ? undefined : this.#valueOf(row);
  }

  all(...bound: unknown[]): unknown[] {
    return named(() => this.#statement.all(...withNulls(bound))).map((row) => this.#valueOf(row));
  }

  run(...bound: unknown[]): ReturnType<Statement["run"]> {
    return named(() => this.#statement.run(...withNulls(bound)));
  }

  pluck(): this {
    this.#isPlucked = true;
    this.#statement.setReturnArrays(true);
    return this;
  }

  #valueOf(row: unknown): unknown {
    if (this.#isPlucked) return bufferOf((row as unknown[])[0]);
    // Node gives its rows no prototype, which users of an event would notice.
    const plain: Record<string, unknown> = {};
    for (const name in row as object)
      plain[name] = bufferOf((row as Record<string, unknown>)[name]);
    return plain;
  }
}

/** Node takes no undefined where better-sqlite3 writes NULL. */
function withNulls(bound: unknown[]): unknown[] {
  for (let index = 0; index < bound.length; index += 1) bound[index] ??= null;
  return bound;
}

function bufferOf(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** Names of SQLite's results by their numbers, https://www.sqlite.org/rescode.html. */
const RESULTS = (
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL " +
  "EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB"
).split(" ");

/** What is told apart of the more exact ones. */
const EXACT: Partial<Record<number, string>> = {
  522: "IOERR_SHORT_READ",
  1034: "IOERR_FSYNC",
  4874: "IOERR_SHMSIZE",
};

/** Gives an error of SQLite the code that better-sqlite3 gives it. */
function named<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    if (errcode !== undefined)
      Object.assign(error as Error, { code: `SQLITE_${EXACT[errcode] ?? RESULTS[errcode & 255]}` });
    throw error;
  }
}
