import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;

export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** The one that runs us, as it says of itself (`pnpm/10.4.0 npm/? node/v22.1.0 linux x64`); npm for all others. */
export function callingPackageManager(env: NodeJS.ProcessEnv): PackageManager {
  const [name] = (env["npm_config_user_agent"] ?? "").split("/");
  return PACKAGE_MANAGERS.find((known) => known === name) ?? "npm";
}

/** What to do where it is missing. */
export const HOW_TO_GET: Readonly<Record<PackageManager, string>> = {
  npm: "it comes with Node",
  pnpm: "`corepack enable` or `npm install --global pnpm` brings it",
  yarn: "`corepack enable` or `npm install --global yarn` brings it",
  bun: "`npm install --global bun` brings it",
};

/** Whether the shell would find it. */
export function isInstalledOn(packageManager: PackageManager, { PATH = "", Path = PATH }: NodeJS.ProcessEnv): boolean {
  const endings = process.platform === "win32" ? [".cmd", ".exe", ".ps1"] : [""];
  return Path.split(delimiter).some((folder) =>
    endings.some((ending) => existsSync(join(folder, packageManager + ending))),
  );
}

/** How to run a command of an installed package. */
export const EXEC: Readonly<Record<PackageManager, string>> = {
  npm: "npx",
  pnpm: "pnpm exec",
  yarn: "yarn",
  bun: "bunx",
};

/** What a Dockerfile says for npm, and what for the others. Yarn 1 and later ones agree on no way to prune. */
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

/** What a template says in the words of npm, in those of another package manager. */
export function inWordsOf(packageManager: PackageManager, text: string): string {
  if (packageManager === "npm") return text;
  const inDocker = IN_DOCKER[packageManager].reduce((said, [npm, own]) => said.replaceAll(npm, own), text);
  return (
    inDocker
      .replaceAll("npx signalbox", `${EXEC[packageManager]} signalbox`)
      // `run` for all of them: `bun test` is something else.
      .replaceAll(/\bnpm (test|start)\b/g, `${packageManager} run $1`)
      .replaceAll(/\bnpm (run \w+) -- /g, `${packageManager} $1 `)
      .replaceAll(/\bnpm (run|install)\b(?! --global)/g, `${packageManager} $1`)
  );
}
