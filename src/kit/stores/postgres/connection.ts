import { setTimeout as delay } from "node:timers/promises";
import { codeOf, SignalboxError, ignore } from "../../../base/errors.js";
import { systemClock } from "../../../base/time/clock.js";
import { withDeadline } from "../../../base/time/timers.js";

/** The part of a `pg` client that the store uses. */
export interface PgClient {
  /** Runs a statement. */
  query(query: PgQuery): Promise<{ rows: unknown[] }>;
  /** Gives it back to its pool; with an error, the pool closes it. */
  release(error?: Error): void;
  /** Adds a listener for the loss of the connection, or for warnings. */
  on(event: "error" | "notice", listener: (error: Error) => void): unknown;
  /** Removes it. */
  removeListener(event: "error" | "notice", listener: (error: Error) => void): unknown;
}

/**
 * The part of a `pg` pool that the store uses: `new pg.Pool()`, or another pool with the same
 * methods.
 */
export interface PgPool {
  /** Takes a client, or waits for one. */
  connect(): Promise<PgClient>;
  /** Closes all clients. The store calls it only for a pool that it made. */
  end(): Promise<void>;
  /** Adds a listener for the loss of an idle connection. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Adds a listener for new clients. */
  on(event: "connect", listener: (client: PgClient) => void): unknown;
  /** Removes one. */
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  /** Removes one. */
  removeListener(event: "connect", listener: (client: PgClient) => void): unknown;
  /** `max`: the most connections that it makes. The store checks whether that is enough. */
  readonly options?: { readonly max?: number | undefined };
  /** Whether `end` was called. The store then gives up the connections that it keeps. */
  readonly ending?: boolean;
}

/** A statement for a {@link PgClient}. */
export interface PgQuery {
  text: string;
  values?: unknown[];
  /** Finds the converter of a type of columns. */
  types?: {
    /** Finds the converter of a type. */
    getTypeParser(oid: number): (text: string) => unknown;
  };
}

/**
 * The converters of the application's `pg` can be changed by the application, so the store uses its
 * own.
 */
const CONVERTERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === "t", // boolean
  17: (text) => Buffer.from(text.slice(2), "hex"), // bytea
  20: Number, // bigint: `seq` and times are below 2^53
  23: Number, // integer
  114: (text) => JSON.parse(text) as unknown, // json
};
const types = { getTypeParser: (oid: number) => CONVERTERS[oid] ?? String };

/** A connection can be cut so that nothing says it: then only this ends the wait. */
const TIMEOUT_MS = 10_000;
/**
 * The place in PostgreSQL of the warning that someone cancelled the commit's wait for a synchronous
 * standby, which may not have it. Its SQLSTATE is that of most warnings, such as those of a server
 * that must be vacuumed soon.
 */
const SYNC_CANCELLED = "SyncRepWaitForLSN";
/** How often a transaction is tried again that PostgreSQL ended because of other transactions. */
const MOST_RETRIES = 5;
const RETRYABLE = /^40(001|P01)$/;

/**
 * Without a listener, the error of a lost connection would end the process, even of an idle one. A
 * server that ends can say so together with the end of the handshake, before the one who waits for
 * the client has it.
 */
function ignoreErrorsOf(client: PgClient): void {
  client.on("error", ignore);
}

/** Hears a pool's errors. @returns a function that gives it back, and ends it if it is ours */
export function usePool(pool: PgPool, isOurs: boolean): () => Promise<void> {
  pool.on("error", ignore);
  pool.on("connect", ignoreErrorsOf);
  return async () => {
    if (isOurs) return pool.end().catch(ignore);
    pool.removeListener("error", ignore);
    pool.removeListener("connect", ignoreErrorsOf);
  };
}

/**
 * `pg` is loaded only here, because it is optional. The name is a variable, so that no bundler and
 * no compiler needs it.
 *
 * @param max the most connections
 */
export async function makePool(connectionString: string, max = 2): Promise<PgPool> {
  const packageName: string = "pg";
  type Pg = { default: { Pool: new (config: object) => PgPool } };
  const { default: pg } = await import(packageName).then(
    (loaded: unknown) => loaded as Pg,
    (error: unknown) => {
      const help = "Run: npm install pg";
      const message =
        codeOf(error) === "ERR_MODULE_NOT_FOUND" ? "is not installed" : "cannot be loaded";
      throw new SignalboxError("store_unsupported", `The package pg ${message}.`, help, {
        cause: error,
      });
    },
  );
  return new pg.Pool({
    connectionString,
    max,
    // Otherwise an attempt to connect that is never answered keeps its place in the pool.
    connectionTimeoutMillis: TIMEOUT_MS,
    application_name: "signalbox",
    keepAlive: true,
  });
}

/**
 * @param keeps whether it keeps a client until `release`, so that other users of the pool cannot
 * keep its statements waiting. After an error or a time-out the next statement takes another one
 */
export function createRun(pool: PgPool, keeps = false) {
  let kept: PgClient | null = null;
  let isReleased = !keeps;

  async function attempt(query: PgQuery, timeoutMs: number): Promise<unknown[]> {
    const client = kept ?? (await connect(pool, timeoutMs));
    kept = null;
    let warning: Error | undefined;
    const onNotice = (notice: Error): void => {
      if ((notice as { routine?: unknown }).routine === SYNC_CANCELLED) warning = notice;
    };
    client.on("notice", onNotice);
    let broken: Error | undefined;
    try {
      const result = await withDeadline(client.query(query), systemClock, timeoutMs, null);
      if (result === null) throw timedOut(`PostgreSQL did not answer within ${timeoutMs} ms`);
      if (warning !== undefined) throw warning;
      return result.rows;
    } catch (error) {
      // After an error of the server the connection is as good as before. Any other error leaves it
      // in an unknown state.
      if (!isServerError(error)) broken = error as Error;
      throw error;
    } finally {
      client.removeListener("notice", onNotice);
      // The end of a pool waits for all of its clients.
      const isKept = broken === undefined && kept === null && !isReleased && pool.ending !== true;
      if (isKept) kept = client;
      else giveBack(client, broken);
    }
  }

  const run: Run = async <Row>(text: string, values: unknown[] = [], timeoutMs = TIMEOUT_MS) => {
    for (let tries = 0; ; tries += 1) {
      try {
        return (await attempt({ text, values, types }, timeoutMs)) as Row[];
      } catch (error) {
        if (!RETRYABLE.test(codeOf(error)) || tries === MOST_RETRIES) throw error;
        await delay(Math.random() * 10 * 2 ** tries);
      }
    }
  };

  return {
    run,
    /** Gives the client back. */
    release() {
      isReleased = true;
      if (kept !== null) giveBack(kept);
      kept = null;
    },
  };
}

export type KeptRun = ReturnType<typeof createRun>;
/** Runs one statement, which is one transaction. */
export type Run = <Row>(text: string, values?: unknown[], timeoutMs?: number) => Promise<Row[]>;

async function connect(pool: PgPool, timeoutMs: number): Promise<PgClient> {
  const connecting = pool.connect();
  const client = await withDeadline(connecting, systemClock, timeoutMs, null);
  if (client === null) {
    connecting.then((late) => late.release(), ignore);
    throw timedOut(`the pool had no connection within ${timeoutMs} ms`);
  }
  client.on("error", ignore);
  return client;
}

function giveBack(client: PgClient, broken?: Error): void {
  client.removeListener("error", ignore);
  client.release(broken);
}

function timedOut(message: string): Error {
  return Object.assign(new Error(message), { code: "ETIMEDOUT" });
}

/**
 * Whether the server refused a statement and continues: an error of PostgreSQL, without those
 * classes that can end the connection. Its `severity` would tell, but it is in the server's
 * language.
 */
function isServerError(error: unknown): boolean {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === "string" && severity !== undefined && !/^(08|28|53|57P|XX)/.test(code);
}
