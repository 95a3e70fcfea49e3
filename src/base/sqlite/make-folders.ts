import { existsSync, mkdirSync } from "node:fs";
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
