import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * Where a test that asks nothing of the disk keeps its files: in memory, where there is such a
 * place.
 */
export const MEMORY_DISK: string = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A folder of this test alone, gone when the test is over. */
export function tempFolder(disk = tmpdir()): string {
  const folder = mkdtempSync(join(disk, "signalbox-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
