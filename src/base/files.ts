import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and its missing parents. `mkdirSync` with `recursive` is not used: in a folder of
 * `/proc`, which refuses with ENOENT, Node 20 retries without end.
 *
 * @param onMade called with each new folder, the topmost first
 */
export function makeFolders(
  folder: string,
  onMade: (path: string) => void = () => undefined,
): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder), onMade);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it.
    if (existsSync(folder)) return;
    throw error;
  }
  onMade(folder);
}

/** Syncs the names of new files in a folder, which a power cut could lose. */
export function syncFolderOf(path: string): void {
  // Windows does not need this, and cannot open a folder.
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Syncs the names of new folders, from this folder up to the first one that was made. */
export function syncFoldersFrom(folder: string, firstMade: string): void {
  syncFolderOf(folder);
  if (folder !== firstMade) syncFoldersFrom(dirname(folder), firstMade);
}
