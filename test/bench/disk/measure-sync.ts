import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { median } from "../statistics.js";

const PAGE = Buffer.alloc(4096, 1);

/** How long a 4 KB append and its `fdatasync` take in this folder: milliseconds, the median. */
export function measureSync(folder: string, syncs = 100): number {
  const own = mkdtempSync(join(folder, "sync-"));
  const file = openSync(join(own, "pages"), "a");
  try {
    const times = Array.from({ length: syncs }, () => {
      const before = performance.now();
      writeSync(file, PAGE);
      fdatasyncSync(file);
      return performance.now() - before;
    });
    return median(times);
  } finally {
    closeSync(file);
    rmSync(own, { recursive: true });
  }
}
