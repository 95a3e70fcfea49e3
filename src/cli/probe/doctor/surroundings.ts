import { lookup } from "node:dns/promises";
import { accessSync, constants } from "node:fs";
import { isIP } from "node:net";
import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";

/** What the examinations read from this machine. Tests pass other values. */
export const SURROUNDINGS = {
  /** @throws Error when the host has no address */
  async resolve(host: string): Promise<string[]> {
    if (isIP(host) !== 0) return [host];
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address);
  },
  /** @throws Error when SQLite's driver cannot be used */
  tryDriver(): void {
    new (loadDriver())(":memory:").close();
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
