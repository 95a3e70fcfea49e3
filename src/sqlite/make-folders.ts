import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and what is missing above it. Not by `mkdirSync` with `recursive`: in a folder of `/proc`, which refuses
 * with ENOENT, Node 20 then tries for ever.
 *
 * @param onMade called with each that was made, the topmost first
 */
export function makeFolders(folder: string, onMade: (path: string) => void = () => undefined): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder), onMade);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (existsSync(folder)) return;
    throw error;
  }
  onMade(folder);
}
