import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder above that is the root of a workspace of npm, pnpm, yarn or bun; `null` where there is none. */
export function findWorkspace(directory: string): string | null {
  for (let folder = dirname(directory); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "pnpm-workspace.yaml")) || hasWorkspaces(join(folder, "package.json"))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

function hasWorkspaces(path: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof manifest === "object" && manifest !== null && "workspaces" in manifest;
  } catch {
    // Not there, or nothing that a package manager could read either.
    return false;
  }
}
