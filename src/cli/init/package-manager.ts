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

/** Translates the commands of npm in a text. */
export function withCommandsOf(packageManager: PackageManager, text: string): string {
  if (packageManager === "npm") return text;
  return (
    text
      .replaceAll("npx signalbox", `${HABITS[packageManager].exec} signalbox`)
      // With `run`, because `bun test` would start Bun's own test runner instead of the script
      // `test`.
      .replaceAll(/\bnpm (test|start)\b/g, `${packageManager} run $1`)
      .replaceAll(/\bnpm (run \w+) -- /g, `${packageManager} $1 `)
      .replaceAll(/\bnpm (run|install)\b(?! --global)/g, `${packageManager} $1`)
  );
}
