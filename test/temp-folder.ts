import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const PREFIX = "signalbox-test-";

/**
 * Gives all tests of a run one temporary folder, and removes it with all that they left in it. Runs
 * once for each project.
 */
export function setup(): () => void {
  if (basename(tmpdir()).startsWith(PREFIX)) return () => undefined;
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  // Tests that need root read files as another user.
  chmodSync(folder, 0o711);
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
