import type { PackageManager } from "./package-manager.js";
import type { PlannedFile } from "./plan.js";

/** As much of a `package.json` as is changed here. */
export interface ApprovableManifest {
  /** npm's own: which packages may run their install scripts. */
  allowScripts?: Record<string, boolean>;
  [key: string]: unknown;
}

/** better-sqlite3 13 would end the process there. */
const LEAST_NODE_FOR_13 = 22;
const FOR_OLDER_NODE = { "better-sqlite3": "^12.11.1" };

/** The Node of the image: one that runs the better-sqlite3 which a Node like this one writes into the lock file. */
export const imageNodeFor = (nodeMajor: number): number => (nodeMajor < LEAST_NODE_FOR_13 ? 22 : 24);

/**
 * Tells a package manager in its own way which packages may run their install scripts. npm alone picks a better-sqlite3 that
 * fits the Node in use; for the others it is pinned.
 *
 * @param manifest is changed
 * @returns files that have to stand beside it
 */
export function approveBuilds(
  packageManager: PackageManager,
  manifest: ApprovableManifest,
  nodeMajor: number,
): PlannedFile[] {
  if (packageManager === "npm") return [];
  const scripts = manifest.allowScripts ?? {};
  delete manifest.allowScripts;
  const allowed = Object.keys(scripts).filter((name) => scripts[name]);
  const pins = nodeMajor < LEAST_NODE_FOR_13 ? FOR_OLDER_NODE : {};
  if (packageManager === "pnpm") return [{ path: "pnpm-workspace.yaml", content: pnpmSettings(scripts, pins) }];
  const isPinned = Object.keys(pins).length > 0;
  if (packageManager === "bun") {
    manifest["trustedDependencies"] = allowed;
    if (isPinned) manifest["overrides"] = pins;
    return [];
  }
  manifest["dependenciesMeta"] = Object.fromEntries(Object.entries(scripts).map(([name, built]) => [name, { built }]));
  if (isPinned) manifest["resolutions"] = pins;
  return [{ path: ".yarnrc.yml", content: "nodeLinker: node-modules\n" }];
}

function pnpmSettings(scripts: Record<string, boolean>, pins: Record<string, string>): string {
  const names = Object.keys(scripts);
  const lines = [
    "# pnpm 10 reads the first two, later ones the third.",
    ...group("onlyBuiltDependencies", listOf(names.filter((name) => scripts[name]))),
    ...group("ignoredBuiltDependencies", listOf(names.filter((name) => !scripts[name]))),
    ...group("allowBuilds", mapOf(scripts)),
    ...group("overrides", mapOf(pins)),
  ];
  return `${lines.join("\n")}\n`;
}

const listOf = (items: readonly string[]): string[] => items.map((item) => `- ${item}`);
const mapOf = (entries: Record<string, unknown>): string[] =>
  Object.entries(entries).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);

/** Lines of YAML. */
function group(key: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${key}:`, ...items.map((item) => `  ${item}`)];
}
