import { createRequire } from "node:module";
import { join } from "node:path";
import { codeOf, isSignalboxError, SignalboxError } from "../errors.js";
import { processWide } from "../process-wide.js";
import type { Database, OpenOptions, SqliteDriver } from "./database.js";
import { nodeSqlite } from "./node-sqlite.js";

// A bundler that writes CommonJS leaves no `import.meta.url`. The driver is then looked for from
// the working folder.
const require = createRequire(import.meta.url ?? join(process.cwd(), "bundle.js"));

/**
 * The first SQLite without the WAL-reset race, in which two connections can lose a commit at a
 * checkpoint.
 */
export const OLDEST_SQLITE = [3, 51, 3] as const;

let chosen: SqliteDriver | undefined;

/** Of all copies of this package in the process. */
const ofProcess = processWide("signalbox.sqlite", (): { name?: SqliteDriver["name"] } => ({}));

/**
 * The driver of this process: better-sqlite3 where it is installed and works, otherwise Node's own.
 * All threads of a process, and all copies of this package in it, must use one: with two copies of
 * SQLite, closing a file in one drops the locks of the other.
 *
 * @param name the driver that the process uses already
 * @throws SignalboxError `store_unsupported`
 */
export function loadDriver(name = ofProcess.name): SqliteDriver {
  if (chosen !== undefined) return chosen;
  chosen = chooseDriver(
    () => (name === "node:sqlite" ? undefined : betterSqlite3()),
    () => (name === "better-sqlite3" ? undefined : nodeSqlite()),
  );
  ofProcess.name = chosen.name;
  return chosen;
}

/** @throws SignalboxError that says how better-sqlite3 can be had, if there is no driver */
export function chooseDriver(
  installed: () => SqliteDriver | undefined,
  ofNode: () => SqliteDriver | undefined,
): SqliteDriver {
  let problem: unknown;
  for (const load of [installed, ofNode]) {
    try {
      const driver = load();
      if (driver === undefined) continue;
      checkSqliteVersion(driver);
      if (problem !== undefined) warnOf(problem);
      return driver;
    } catch (error) {
      problem ??= error;
    }
  }
  throw problem;
}

/** An app that opens the inbox's file by its better-sqlite3 would drop the locks of the receiver. */
function warnOf(problem: unknown): void {
  const { message, cause } = problem as Error;
  if (codeOf(cause) === "MODULE_NOT_FOUND") return;
  process.emitWarning(`${message} Until then signalbox uses the SQLite of Node.`, {
    code: "SIGNALBOX_DRIVER",
    type: "SignalboxWarning",
  });
}

/** @throws SignalboxError where it is not installed, has no binary, or would crash the process */
function betterSqlite3(): SqliteDriver {
  refuseCrash(installedVersion(), process.versions.node);
  const BetterSqlite3 = require("better-sqlite3") as new (
    source: string | Buffer,
    options?: OpenOptions,
  ) => Database;
  return { name: "better-sqlite3", open: (source, options) => new BetterSqlite3(source, options) };
}

/**
 * Version 13 crashes Node below 22 when it is loaded. Versions up to 12 crash Node 24 and later
 * when their objects are garbage-collected.
 */
export function refuseCrash(driver: string, node: string): void {
  const [driverMajor, nodeMajor] = [Number.parseInt(driver), Number.parseInt(node)];
  if (driverMajor >= 13 ? nodeMajor < 22 : nodeMajor >= 24)
    throw unsupported(`better-sqlite3 ${driver} crashes Node ${node}.`, howToInstall(node));
}

/** On Node 20 npm would choose a later 12, which has no binary for it. */
function howToInstall(node: string): string {
  const version = Number.parseInt(node) < 22 ? "12.9.0" : "13";
  return `Use Node 24.21 or later, which brings its own SQLite, or run: npm install better-sqlite3@${version} (more: docs/installing.md).`;
}

function installedVersion(): string {
  try {
    return (require("better-sqlite3/package.json") as { version: string }).version;
  } catch (cause) {
    const help = howToInstall(process.versions.node);
    throw unsupported("The package better-sqlite3 is not installed.", help, cause);
  }
}

/** @throws SignalboxError for an SQLite that is too old, or a binary that cannot be loaded */
function checkSqliteVersion({ name, open }: SqliteDriver): void {
  let version: string;
  try {
    const db = open(":memory:");
    version = db.prepare<[], string>("SELECT sqlite_version()").pluck().get() ?? "";
    db.close();
  } catch (error) {
    throw missingBinaryError(error) ?? error;
  }
  if (!isOlder(version)) return;
  throw unsupported(
    `SQLite ${version} can lose a commit at a checkpoint.`,
    `Upgrade ${name === "better-sqlite3" ? name : "Node"} (SQLite ${OLDEST_SQLITE.join(".")} or later).`,
  );
}

export function isOlder(version: string): boolean {
  const found = version.split(".").map(Number);
  const differences = OLDEST_SQLITE.map((part, index) => (found[index] ?? 0) - part);
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}

/**
 * @returns an error if `cause` means that the driver's compiled part is missing or for another
 * Node. The `bindings` package gives no code, so its message is compared.
 */
function missingBinaryError(cause: unknown): SignalboxError | undefined {
  if (!(cause instanceof Error) || isSignalboxError(cause)) return undefined;
  const code = "code" in cause ? cause.code : undefined;
  const isMissing = code === "ERR_DLOPEN_FAILED" || code === "MODULE_NOT_FOUND";
  if (!isMissing && !cause.message.startsWith("Could not locate the bindings file"))
    return undefined;
  const { node } = process.versions;
  const help =
    "Let its install script run, then type: npm rebuild better-sqlite3 (other package managers: docs/installing.md). Node 24 and later need none.";
  return unsupported(
    `better-sqlite3 has no binary that Node ${node} on ${process.platform}-${process.arch} can load.`,
    help,
    cause,
  );
}

function unsupported(message: string, help: string, cause?: unknown): SignalboxError {
  return new SignalboxError("store_unsupported", message, help, { cause });
}
