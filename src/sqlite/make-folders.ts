import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and what is missing above it, one by one. With `recursive` Node 20 tries for ever where the folder above is
 * there and the file system still says that it is not, as in `/proc`.
 *
 * @param onMade told of each that was made, the topmost first
 */
export function makeFolders(folder: string, onMade: (path: string) => void = () => undefined): void {
  const missing: string[] = [];
  for (let path = folder; !isThere(path) && path !== dirname(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) if (makeFolder(path)) onMade(path);
}

/** False: another process was quicker. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && statSync(path).isDirectory()) return false;
    throw error;
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
