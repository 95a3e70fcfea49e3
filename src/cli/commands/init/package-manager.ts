import type { PlannedFile } from "./write-files.js";

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;

export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** The package manager that runs this process, read from its user agent (`pnpm/10.4.0 npm/? node/v22.1.0 linux x64`). */
export function callingPackageManager(env: NodeJS.ProcessEnv): PackageManager {
  const [name] = (env["npm_config_user_agent"] ?? "").split("/");
  return PACKAGE_MANAGERS.find((known) => known === name) ?? "npm";
}

/** The prefix that runs a command of an installed package. */
export const EXEC: Readonly<Record<PackageManager, string>> = {
  npm: "npx",
  pnpm: "pnpm exec",
  yarn: "yarn",
  bun: "bunx",
};

/** Texts of the Dockerfile for npm, and their replacements. Yarn 1 and Yarn 2 have no common command that prunes. */
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

/** Replaces the commands of npm in a text with the commands of another package manager. */
export function withCommandsOf(packageManager: PackageManager, text: string): string {
  if (packageManager === "npm") return text;
  const inDocker = IN_DOCKER[packageManager].reduce((result, [npm, own]) => result.replaceAll(npm, own), text);
  return (
    inDocker
      .replaceAll("npx signalbox", `${EXEC[packageManager]} signalbox`)
      // `bun test` without `run` would start Bun's test runner.
      .replaceAll(/\bnpm (test|start)\b/g, `${packageManager} run $1`)
      .replaceAll(/\bnpm (run \w+) -- /g, `${packageManager} $1 `)
      .replaceAll(/\bnpm (run|install)\b(?! --global)/g, `${packageManager} $1`)
  );
}

/** The part of a `package.json` that is changed here. */
export interface ApprovableManifest {
  /** npm's setting: whether a package is allowed to run its install script. */
  allowScripts?: Record<string, boolean>;
  [key: string]: unknown;
}

/** better-sqlite3 13 crashes older versions of Node. */
const MIN_NODE_FOR_13 = 22;
const FOR_OLDER_NODE = { "better-sqlite3": "^12.11.1" };

/** The version of Node in the Docker image. It must fit the better-sqlite3 that this Node writes into the lock file. */
export const imageNodeFor = (nodeMajor: number): number => (nodeMajor < MIN_NODE_FOR_13 ? 22 : 24);

/**
 * Translates `allowScripts` into the settings of the package manager. Only npm chooses a better-sqlite3 that fits this Node,
 * so for the others its version is fixed.
 *
 * @param manifest is changed
 * @returns further files that the project needs
 */
export function approveBuilds(
  packageManager: PackageManager,
  manifest: ApprovableManifest,
  nodeMajor: number,
): PlannedFile[] {
  if (packageManager === "npm") return [];
  const { allowScripts = {} } = manifest;
  delete manifest.allowScripts;
  const names = Object.keys(allowScripts);
  const allowed = names.filter((name) => allowScripts[name]);
  const pins = nodeMajor < MIN_NODE_FOR_13 ? FOR_OLDER_NODE : null;
  if (packageManager === "pnpm") {
    const settings = {
      // pnpm 10 reads the first two settings. Later versions read `allowBuilds`.
      onlyBuiltDependencies: allowed,
      ignoredBuiltDependencies: names.filter((name) => !allowScripts[name]),
      allowBuilds: allowScripts,
      ...(pins && { overrides: pins }),
    };
    // Each JSON value is also valid YAML.
    const lines = Object.entries(settings).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
    return [{ path: "pnpm-workspace.yaml", content: lines.join("") }];
  }
  if (packageManager === "bun") {
    manifest["trustedDependencies"] = allowed;
    if (pins) manifest["overrides"] = pins;
    return [];
  }
  manifest["dependenciesMeta"] = Object.fromEntries(
    Object.entries(allowScripts).map(([name, built]) => [name, { built }]),
  );
  if (pins) manifest["resolutions"] = pins;
  return [{ path: ".yarnrc.yml", content: "nodeLinker: node-modules\n" }];
}
