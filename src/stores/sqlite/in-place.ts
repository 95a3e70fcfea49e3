import { statSync } from "node:fs";
import { SignalboxError } from "../../errors.js";

/**
 * A file that is open can be deleted or replaced under us: writes and syncs go on working, and all of it is gone with the
 * process. So before anything is acknowledged the names must still stand for the files that are open.
 *
 * @returns what to call then
 * @throws SignalboxError `store_failed`, from what it returns
 */
export function watchPlace(path: string): () => void {
  const names = [path, `${path}-wal`];
  const inodes = names.map(inodeOf);
  return () => {
    if (names.every((name, index) => inodeOf(name) === inodes[index])) return;
    throw new SignalboxError(
      "store_failed",
      `The inbox ${path} was deleted, moved or replaced while it was open.`,
      "Put the file and its -wal back as they were, or restart the receiver with the file that it should use.",
    );
  };
}

function inodeOf(name: string): number | undefined {
  return statSync(name, { throwIfNoEntry: false })?.ino;
}
