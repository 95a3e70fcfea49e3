import { createRequire } from "node:module";
import type Database from "better-sqlite3";
import { SignalboxError } from "../../errors.js";

const require = createRequire(import.meta.url);

/** The first SQLite with the fix of the WAL-reset race: two connections at a checkpoint could lose a commit. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/**
 * better-sqlite3, once it is known not to crash the process: major 13 on a Node below 22 does so at load.
 *
 * @throws SignalboxError `store_unsupported`
 */
export function loadDriver(
  versions: { driver: string; node: string } = {
    driver: (require("better-sqlite3/package.json") as { version: string }).version,
    node: process.versions.node,
  },
): typeof Database {
  if (Number.parseInt(versions.driver) >= 13 && Number.parseInt(versions.node) < 22) {
    throw new SignalboxError(
      "store_unsupported",
      `better-sqlite3 ${versions.driver} crashes Node ${versions.node}.`,
      "Use Node 22 or later, or run: npm install better-sqlite3@12 (README, Quick start, has other package managers).",
    );
  }
  return require("better-sqlite3") as typeof Database;
}

/** @throws SignalboxError `store_unsupported` */
export function checkSqliteVersion(version: string): void {
  const found = version.split(".").map(Number);
  const difference = OLDEST_SQLITE.map((part, index) => (found[index] ?? 0) - part).find((part) => part !== 0) ?? 0;
  if (difference >= 0) return;
  throw new SignalboxError(
    "store_unsupported",
    `SQLite ${version} can lose a commit at a checkpoint.`,
    `Upgrade better-sqlite3 (SQLite ${OLDEST_SQLITE.join(".")} or later).`,
  );
}
