import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { printable } from "../../console/printable.js";

/** What whoever goes on has to know and cannot see in the list of files. */
export interface Circumstances {
  /** Absolute. */
  directory: string;
  /** What stands behind `signalbox` in `dependencies`. */
  signalbox: string;
  /** Somebody's own `.env` was left as it is. */
  keepsEnv: boolean;
  /** The root of the workspace that the folder is in. */
  workspace: string | null;
}

/** One line each. */
export function notesOnProject({ directory, signalbox, keepsEnv, workspace }: Circumstances): string[] {
  const notes: string[] = [];
  if (keepsEnv) {
    const lacking = hasSecret(join(directory, ".env")) ? "" : "; it has no SIGNALS_SECRET: see .env.example";
    notes.push(`kept your .env${lacking}`);
  }
  if (workspace !== null) {
    notes.push(
      `it is inside of the workspace ${printable(workspace)}: there the root's package.json says which install scripts ` +
        "may run, and the lock file that the Dockerfile copies is the root's",
    );
  }
  if (signalbox.startsWith("file:")) {
    const path = printable(signalbox.slice("file:".length));
    notes.push(
      `package.json takes signalbox from ${path}; a Docker build cannot, so give a version before you make one`,
    );
  }
  return notes;
}

function hasSecret(path: string): boolean {
  try {
    return (parseEnv(readFileSync(path, "utf8"))["SIGNALS_SECRET"] ?? "") !== "";
  } catch {
    // A link that leads nowhere yet, or a file that we may not read: its owner knows.
    return true;
  }
}
