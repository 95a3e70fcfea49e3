/**
 * As much of its driver as the emulator uses, described here: its own types would have to be installed by everybody
 * who compiles against `signalbox/emulator`.
 */
export interface Database {
  /** @param sql with a type for what is bound (one value, or all of them), and for a row */
  prepare<Bound extends unknown[] | object = unknown[], Row = unknown>(sql: string): Statement<Bound, Row>;
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
  /** Runs in one transaction, inside another one as a part of it. */
  transaction<Work extends (...given: never[]) => unknown>(work: Work): Work & { immediate: Work };
  /** The whole database, as bytes. */
  serialize(): Buffer;
  close(): unknown;
}

/** A prepared statement; see {@link Database}. */
export interface Statement<Bound extends unknown[] | object = unknown[], Row = unknown> {
  get(...bound: Values<Bound>): Row | undefined;
  all(...bound: Values<Bound>): Row[];
  run(...bound: Values<Bound>): { changes: number; lastInsertRowid: number | bigint };
  /** Rows are the values of their first column from now on. */
  pluck(): this;
}

type Values<Bound> = Bound extends unknown[] ? Bound : [Bound];
