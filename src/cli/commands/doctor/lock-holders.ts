import { readFileSync, statSync } from "node:fs";

/** SQLite locks bytes from here on, far beyond the end of any file. */
const FIRST_LOCK_BYTE = 0x40000000;

/**
 * The processes that have SQLite's lock on a file, from the table of Linux. No lock is taken, so no process is kept out.
 *
 * @returns null where there is no such table
 */
export function lockHolders(path: string): number[] | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  let table: string;
  try {
    table = readFileSync("/proc/locks", "utf8");
  } catch {
    return null;
  }
  return holdersIn(table, stats);
}

/** Lines are like `1: POSIX  ADVISORY  WRITE 4242 fe:00:393231 1073741824 1073742335`. */
export function holdersIn(table: string, { dev, ino }: { dev: number; ino: number }): number[] {
  const file = `${hex(majorOf(dev))}:${hex(minorOf(dev))}:${ino}`;
  const holders = table.split("\n").flatMap((line) => {
    const [, kind, , , pid, locked, start] = line.trim().split(/\s+/);
    const isHeld = kind === "POSIX" && locked === file && Number(start) >= FIRST_LOCK_BYTE;
    return isHeld ? [Number(pid)] : [];
  });
  return [...new Set(holders)];
}

function hex(value: number): string {
  return value.toString(16).padStart(2, "0");
}

function majorOf(dev: number): number {
  return Number((BigInt(dev) >> 8n) & 0xfffn);
}

function minorOf(dev: number): number {
  const number = BigInt(dev);
  return Number((number & 0xffn) | ((number >> 12n) & 0xfff00n));
}
