import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { startProcess } from "../processes/start-process.js";

/**
 * The compiled bench is in `dist/bench` below its sources, and the compiler leaves the C where it
 * is.
 */
const SOURCE = join(import.meta.dirname, "../../../disk/slow-sync.c");

export type SlowDisk = { env: NodeJS.ProcessEnv } | { skipped: string };

/**
 * What a process must be started with to have a disk whose syncs take so long.
 *
 * @param under where the library and the files of a trial are made
 */
export async function makeSlowDisk(under: string, syncMs: number): Promise<SlowDisk> {
  if (process.platform !== "linux") return { skipped: `no LD_PRELOAD on ${process.platform}` };
  const library = join(under, "slow-sync.so");
  try {
    execFileSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl", "-lpthread"], {
      stdio: "pipe",
    });
  } catch (error) {
    return { skipped: `the C compiler cc failed: ${(error as Error).message}` };
  }
  const env = { LD_PRELOAD: library, SLOW_SYNC_MS: String(syncMs) };
  // A library that is not loaded is silent, and everything would look fast.
  const trial = startProcess("disk/trial.js", {}, { env });
  try {
    const measuredMs = await trial.ask<number>("sync", { folder: under });
    if (measuredMs < syncMs)
      return { skipped: `the slow disk synced in ${measuredMs.toFixed(1)} ms` };
  } finally {
    await trial.stop();
  }
  return { env };
}
