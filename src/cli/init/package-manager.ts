import type { PlannedFile } from "./write-files.js";

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;

export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

interface Habits {
  /** What to type before a command of an installed package to run it. */
  exec: string;
  /** What to type before the name of a package to add it to a project. */
  add: string;
  lockFiles: readonly string[];
}

export const HABITS: Readonly<Record<PackageManager, Habits>> = {
  npm: { exec: "npx", add: "npm install", lockFiles: ["package-lock.json"] },
  pnpm: { exec: "pnpm exec", add: "pnpm add", lockFiles: ["pnpm-lock.yaml"] },
  yarn: { exec: "yarn", add: "yarn add", lockFiles: ["yarn.lock"] },
  bun: { exec: "bunx", add: "bun add", lockFiles: ["bun.lock", "bun.lockb"] },
};

/**
 * The package manager that runs this process, read from its user agent (`pnpm/10.4.0 npm/?
 * node/v22.1.0 linux x64`).
 */
export function callingPackageManager(env: NodeJS.ProcessEnv): PackageManager {
  const [name] = (env["npm_config_user_agent"] ?? "").split("/");
  return PACKAGE_MANAGERS.find((known) => known === name) ?? "npm";
}

/**
 * Texts for npm in the Dockerfile and in the CI workflow, and those for pnpm. The files are written
 * for these two alone.
 */
const FOR_PNPM: readonly (readonly [npm: string, pnpm: string])[] = [
  ["package.json package-lock.json", "package.json pnpm-lock.yaml pnpm-workspace.yaml"],
  [
    "npm ci --omit=optional",
    "npm install --global pnpm && pnpm install --frozen-lockfile --no-optional",
  ],
  ["npm ci", "npm install --global pnpm && pnpm install --frozen-lockfile"],
  ["npm prune --omit=dev --omit=optional", "CI=true pnpm prune --prod --no-optional"],
  ["npm prune --omit=dev", "CI=true pnpm prune --prod"],
];

export function withCommandsOf(packageManager: PackageManager, text: string): string {
  if (packageManager === "npm") return text;
  return (
    FOR_PNPM.reduce((result, [npm, pnpm]) => result.replaceAll(npm, pnpm), text)
      .replaceAll("npx signalbox", `${HABITS[packageManager].exec} signalbox`)
      // With `run`, because `bun test` would start Bun's own test runner instead of the script
      // `test`.
      .replaceAll(/\bnpm (test|start)\b/g, `${packageManager} run $1`)
      .replaceAll(/\bnpm (run \w+) -- /g, `${packageManager} $1 `)
      .replaceAll(/\bnpm (run|install)\b(?! --global)/g, `${packageManager} $1`)
  );
}

/** A `package.json` with the setting that `approveBuilds` translates. */
export interface ApprovableManifest {
  /** npm's setting: whether a package is allowed to run its install script. */
  allowScripts?: Record<string, boolean>;
  [key: string]: unknown;
}

/** The oldest major version of Node that better-sqlite3 13 supports. It crashes older versions. */
const MIN_NODE_FOR_13 = 22;
const FOR_OLDER_NODE = { "better-sqlite3": "^12.11.1" };

/**
 * The versions of Node that support the better-sqlite3 version that the package manager locks under
 * the Node that runs `init`. CI tests with both, and the Docker image has the newer one.
 */
export const nodesFor = (nodeMajor: number): readonly [older: number, newer: number] =>
  nodeMajor < MIN_NODE_FOR_13 ? [20, 22] : [22, 24];

/**
 * Translates `allowScripts` into the settings of the package manager. npm installs a better-sqlite3
 * version that supports the running Node. The other package managers do not, so on Node before 22
 * they get a setting that pins better-sqlite3 to version 12.
 *
 * @param manifest gets the settings that belong in `package.json`
 * @returns further files that the project needs
 */
export function approveBuilds(
  packageManager: PackageManager,
  manifest: ApprovableManifest,
  nodeMajor: number,
): (PlannedFile & { content: string })[] {
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
    // The values are written as JSON, because each JSON value is also valid YAML.
    const lines = Object.entries(settings).map(
      ([key, value]) => `${key}: ${JSON.stringify(value)}\n`,
    );
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
