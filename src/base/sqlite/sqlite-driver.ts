import { createRequire } from "node:module";
import { join } from "node:path";
import type Database from "better-sqlite3";
import { SignalboxError } from "../errors.js";

// A bundler that writes CommonJS leaves no `import.meta.url`. The driver is then looked for from
// the working folder.
const require = createRequire(import.meta.url ?? join(process.cwd(), "bundle.js"));

/**
 * The first SQLite without the WAL-reset race, in which two connections can lose a commit at a
 * checkpoint.
 */
export const OLDEST_SQLITE = [3, 51, 3] as const;

/**
 * Loads better-sqlite3, unless it would crash the process. Version 13 crashes Node below 22 when it
 * is loaded. Versions up to 12 crash Node 24 and later when their objects are garbage-collected.
 *
 * @throws SignalboxError `store_unsupported`
 */
export function loadDriver(
  versions: { driver: string; node: string } = {
    driver: installedVersion(),
    node: process.versions.node,
  },
): typeof Database {
  const [driver, node] = [Number.parseInt(versions.driver), Number.parseInt(versions.node)];
  const install = "npm install better-sqlite3@12 (other package managers: docs/installing.md)";
  if (driver >= 13 && node < 22)
    throw crashes(versions, `Use Node 22 or later, or run: ${install}.`);
  if (driver < 13 && node >= 24) throw crashes(versions, "Run: npm install better-sqlite3@13");
  return require("better-sqlite3") as typeof Database;
}

/** @throws SignalboxError when the driver, an optional dependency, is not installed */
function installedVersion(): string {
  try {
    return (require("better-sqlite3/package.json") as { version: string }).version;
  } catch (cause) {
    throw new SignalboxError(
      "store_unsupported",
      "The package better-sqlite3 is not installed.",
      "Run: npm install better-sqlite3. If npm has to compile it, or a bundler wrote your app, see docs/installing.md.",
      { cause },
    );
  }
}

function crashes({ driver, node }: { driver: string; node: string }, help: string): SignalboxError {
  return new SignalboxError(
    "store_unsupported",
    `better-sqlite3 ${driver} crashes Node ${node}.`,
    help,
  );
}

/**
 * @returns an error if `cause` means that the driver's compiled part is missing or for another
 * Node. The `bindings` package gives no code, so its message is compared.
 */
export function missingBinaryError(cause: unknown): SignalboxError | undefined {
  if (!(cause instanceof Error)) return undefined;
  const code = "code" in cause ? cause.code : undefined;
  const isMissing = code === "ERR_DLOPEN_FAILED" || code === "MODULE_NOT_FOUND";
  if (!isMissing && !cause.message.startsWith("Could not locate the bindings file"))
    return undefined;
  return new SignalboxError(
    "store_unsupported",
    `better-sqlite3 has no binary that Node ${process.versions.node} on ${process.platform}-${process.arch} can load.`,
    "Let its install script run, then type: npm rebuild better-sqlite3 (other package managers: docs/installing.md).",
    { cause },
  );
}

/** @throws SignalboxError `store_unsupported` */
export function checkSqliteVersion(version: string): void {
  const found = version.split(".").map(Number);
  const difference =
    OLDEST_SQLITE.map((part, index) => (found[index] ?? 0) - part).find((part) => part !== 0) ?? 0;
  if (difference >= 0) return;
  throw new SignalboxError(
    "store_unsupported",
    `SQLite ${version} can lose a commit at a checkpoint.`,
    `Upgrade better-sqlite3 (SQLite ${OLDEST_SQLITE.join(".")} or later).`,
  );
}
