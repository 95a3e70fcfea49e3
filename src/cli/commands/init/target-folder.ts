import { lstatSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { environmentError, usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";

/** What a folder may hold and still count as empty: a repository somebody made first, and what a file manager leaves. */
const NOTHING = new Set([".git", ".DS_Store"]);

/**
 * Whether there is something in the folder already; a folder that is not there is empty.
 *
 * @throws CliError when it is a file, a link to nothing or below one, or cannot be read
 */
export function isTaken(directory: string): boolean {
  try {
    const found = statSync(directory, { throwIfNoEntry: false });
    if (found === undefined) {
      assertNoDanglingLink(directory);
      return false;
    }
    if (!found.isDirectory()) throw usageError(`${echoed(directory)} is a file: name a folder, such as my-receiver`);
    return readdirSync(directory).some((name) => !NOTHING.has(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    // A path that goes through a file.
    if (code === "ENOTDIR") throw usageError(`${echoed(directory)} leads through a file: name another folder`);
    throw environmentError(`cannot look into ${echoed(directory)} (${code})`);
  }
}

/** No folder can be made in place of the link. */
function assertNoDanglingLink(directory: string): void {
  for (let path = directory; path !== dirname(path); path = dirname(path)) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) continue;
    if (!found.isSymbolicLink() || statSync(path, { throwIfNoEntry: false }) !== undefined) return;
    throw usageError(`${echoed(path)} is a link to a place that does not exist: name another folder`);
  }
}
