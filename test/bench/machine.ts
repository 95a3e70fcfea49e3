import { statfsSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem, type } from "node:os";
import { measureSync } from "./disk/measure-sync.js";

export interface Machine {
  cpu: string;
  cores: number;
  memoryBytes: number;
  system: string;
  node: string;
  /**
   * Of a 4 KB append and its `fdatasync` in the folder that the servers' files are in: the median.
   */
  syncMs: number;
  /** A file system in memory, where syncs cost nothing and the figures say little. */
  isInMemory: boolean;
}

/** `TMPFS_MAGIC` of Linux. */
const TMPFS = 0x01_02_19_94;

/** @param folder where the servers' files will be */
export function describeMachine(folder: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
    syncMs: measureSync(folder),
    isInMemory: process.platform === "linux" && statfsSync(folder).type === TMPFS,
  };
}
