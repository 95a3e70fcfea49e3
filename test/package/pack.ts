import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

/** What would be published. */
export interface Packed {
  tarball: string;
  /** The paths of its files. */
  paths: string[];
}

declare module "vitest" {
  export interface ProvidedContext {
    packed: Packed;
  }
}

/**
 * Packs the package once for all tests that install it, of both projects. Without scripts: `prepack`
 * would delete `dist` while other tests use it, and the command that runs the tests has built it. The
 * folder of the run, which is removed at its end, has the tarball.
 */
export function setup(project: TestProject): void {
  const known = (process.env["SIGNALBOX_PACKED"] ??= JSON.stringify(packNow()));
  project.provide("packed", JSON.parse(known) as Packed);
}

const ROOT = new URL("../..", import.meta.url).pathname;

function packNow(): Packed {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-packed-"));
  // As `prepack` does it, too.
  execFileSync(process.execPath, ["test/toolchain/prune-dist.js"], { cwd: ROOT });
  const options = ["--ignore-scripts", "--json", "--pack-destination", folder];
  const output = execFileSync("npm", ["pack", ...options], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [report] = JSON.parse(output.toString()) as {
    filename: string;
    files: { path: string }[];
  }[];
  if (report === undefined) throw new Error("npm pack made nothing");
  return { tarball: join(folder, report.filename), paths: report.files.map(({ path }) => path) };
}
