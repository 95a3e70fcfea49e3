import { lookup } from "node:dns/promises";
import { accessSync, constants, statfsSync } from "node:fs";
import { createRequire } from "node:module";
import { isIP } from "node:net";
import { loadDriver } from "../../../sqlite/sqlite-driver.js";

const require = createRequire(import.meta.url);

/** What the examinations read from this machine. Tests pass other values. */
export const SURROUNDINGS = {
  nodeVersion: process.versions.node,
  driverVersion(): string | null {
    try {
      return (require("better-sqlite3/package.json") as { version: string }).version;
    } catch {
      return null;
    }
  },
  /** @throws Error when the driver cannot be loaded */
  sqliteVersion(): string {
    const driver = loadDriver();
    const db = new driver(":memory:");
    try {
      return db.prepare("SELECT sqlite_version()").pluck().get() as string;
    } finally {
      db.close();
    }
  },
  /** @throws Error when the host has no address */
  async resolve(host: string): Promise<string[]> {
    if (isIP(host) !== 0) return [host];
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address);
  },
  /** `type` is the number that statfs(2) gives for the kind of file system. Only Linux defines these numbers. */
  fileSystemOf(folder: string): { type: number; freeBytes: number } {
    const { type, bavail, bsize } = statfsSync(folder);
    return { type: type >>> 0, freeBytes: bavail * bsize };
  },
  isWritable(path: string): boolean {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  now: () => Date.now(),
};

export type Surroundings = typeof SURROUNDINGS;
