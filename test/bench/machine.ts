import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { availableParallelism, cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { median } from "./statistics.js";

/** `TMPFS_MAGIC` of Linux. */
const TMPFS = 0x01_02_19_94;

/** @param folder where the servers' files will be */
export function describeMachine(folder: string) {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
    syncMs: measureSync(folder),
    /** A file system in memory, where syncs cost nothing and the figures say little. */
    isInMemory: process.platform === "linux" && statfsSync(folder).type === TMPFS,
  };
}

export type Machine = ReturnType<typeof describeMachine>;

const PAGE = Buffer.alloc(4096, 1);

/** How long a 4 KB append and its `fdatasync` take in this folder: milliseconds, the median. */
function measureSync(folder: string): number {
  const own = mkdtempSync(join(folder, "sync-"));
  const file = openSync(join(own, "pages"), "a");
  try {
    const times = Array.from({ length: 100 }, () => {
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
