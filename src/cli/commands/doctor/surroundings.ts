import { lookup } from "node:dns/promises";
import { accessSync, constants, statfsSync } from "node:fs";
import { createRequire } from "node:module";
import { isIP } from "node:net";
import { loadDriver } from "../../../sqlite/sqlite-driver.js";

/** What the examinations read of this machine. A test passes others. */
export interface Surroundings {
  nodeVersion: string;
  /** Of better-sqlite3; null when it is not installed. */
  driverVersion: () => string | null;
  /** @throws what loading the driver throws */
  sqliteVersion: () => string;
  /** The addresses of a host. @throws when it has none */
  resolve: (host: string) => Promise<readonly string[]>;
  /** The number of statfs(2) (meaningful only on Linux) and the free bytes. */
  fileSystemOf: (folder: string) => { type: number; freeBytes: number };
  isWritable: (path: string) => boolean;
  /** Milliseconds since 1970. */
  now: () => number;
  monotonicMs: () => number;
}

const require = createRequire(import.meta.url);

export const SURROUNDINGS: Surroundings = {
  nodeVersion: process.versions.node,
  driverVersion() {
    try {
      return (require("better-sqlite3/package.json") as { version: string }).version;
    } catch {
      return null;
    }
  },
  sqliteVersion() {
    const driver = loadDriver();
    const db = new driver(":memory:");
    try {
      return db.prepare("SELECT sqlite_version()").pluck().get() as string;
    } finally {
      db.close();
    }
  },
  async resolve(host) {
    if (isIP(host) !== 0) return [host];
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address);
  },
  fileSystemOf(folder) {
    const { type, bavail, bsize } = statfsSync(folder);
    return { type: type >>> 0, freeBytes: bavail * bsize };
  },
  isWritable(path) {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};
