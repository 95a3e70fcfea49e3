import type { PlannedFile } from "./write-files.js";

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;

export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** The one that runs this, by its user agent (`pnpm/10.4.0 npm/? node/v22.1.0 linux x64`); npm if it is none of them. */
export function callingPackageManager(env: NodeJS.ProcessEnv): PackageManager {
  const [name] = (env["npm_config_user_agent"] ?? "").split("/");
  return PACKAGE_MANAGERS.find((known) => known === name) ?? "npm";
}

/** How to run a command of an installed package. */
export const EXEC: Readonly<Record<PackageManager, string>> = {
  npm: "npx",
  pnpm: "pnpm exec",
  yarn: "yarn",
  bun: "bunx",
};

/** What a Dockerfile has for npm, and for the others. Yarn 1 and Yarn 2 have no common way to prune. */
const IN_DOCKER: Readonly<Record<PackageManager, readonly (readonly [npm: string, own: string])[]>> = {
  npm: [],
  pnpm: [
    ["package.json package-lock.json", "package.json pnpm-lock.yaml pnpm-workspace.yaml"],
    ["npm ci", "npm install --global pnpm && pnpm install --frozen-lockfile"],
    ["npm prune --omit=dev", "CI=true pnpm prune --prod"],
  ],
  yarn: [
    ["package.json package-lock.json", "package.json yarn.lock .yarnrc.yml"],
    ["npm ci", "yarn install --frozen-lockfile"],
    [" && npm prune --omit=dev", ""],
  ],
  bun: [
    ["package.json package-lock.json", "package.json bun.lock"],
    ["npm ci", "npm install --global bun && bun install --frozen-lockfile"],
    ["npm prune --omit=dev", "bun install --production --frozen-lockfile"],
  ],
};

/** The commands of npm in a text, as commands of another package manager. */
export function withCommandsOf(packageManager: PackageManager, text: string): string {
  if (packageManager === "npm") return text;
  const inDocker = IN_DOCKER[packageManager].reduce((said, [npm, own]) => said.replaceAll(npm, own), text);
  return (
    inDocker
      .replaceAll("npx signalbox", `${EXEC[packageManager]} signalbox`)
      // With `run`: `bun test` does something else.
      .replaceAll(/\bnpm (test|start)\b/g, `${packageManager} run $1`)
      .replaceAll(/\bnpm (run \w+) -- /g, `${packageManager} $1 `)
      .replaceAll(/\bnpm (run|install)\b(?! --global)/g, `${packageManager} $1`)
  );
}

/** As much of a `package.json` as is changed here. */
export interface ApprovableManifest {
  /** Which packages may run their install scripts, as npm has it. */
  allowScripts?: Record<string, boolean>;
  [key: string]: unknown;
}

/** better-sqlite3 13 crashes the process of an older Node. */
const LEAST_NODE_FOR_13 = 22;
const FOR_OLDER_NODE = { "better-sqlite3": "^12.11.1" };

/** The Node of the Docker image. It must run the better-sqlite3 that a Node of this version writes into the lock file. */
export const imageNodeFor = (nodeMajor: number): number => (nodeMajor < LEAST_NODE_FOR_13 ? 22 : 24);

/**
 * Writes in each package manager's own way which packages may run their install scripts. Only npm picks a better-sqlite3
 * that fits the Node in use; for the others it is pinned.
 *
 * @param manifest is changed
 * @returns files that belong beside it
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
