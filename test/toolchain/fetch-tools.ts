import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../templates/commands.js";
import { makeProject } from "./workshop.js";

/** A package with programs in it, fetched under a name of its own. */
export interface Tool {
  name: string;
  version: string;
  /** Absolute. */
  folder: string;
}

/** A tool, or why this machine has none. */
export type Fetched = ({ ok: true } & Tool) | { ok: false; name: string; reason: string };

/** npm waits for minutes before it says that the registry does not answer. In CI it may. */
const IMPATIENT =
  process.env["CI"] === undefined
    ? ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000"]
    : [];

/**
 * Fetches packages from the registry without running any script of theirs.
 *
 * @param specs name to what npm is to install under it, such as `npm:yarn@1`
 * @returns in the order of `specs`. Where the registry cannot be asked all are missing; in CI that
 * is an error.
 */
export async function fetchTools(specs: Readonly<Record<string, string>>): Promise<Fetched[]> {
  const names = Object.keys(specs);
  const folder = makeProject(`tools-of-${names[0] ?? "nobody"}`);
  try {
    const wanted = names.map((name) => `${name}@${specs[name] ?? ""}`);
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--force", ...IMPATIENT];
    await run(folder, "npm", ["install", ...options, ...wanted]);
  } catch (error) {
    if (process.env["CI"] !== undefined) throw error;
    const [reason = ""] = /npm error .*/.exec((error as Error).message) ?? ["npm install failed"];
    return names.map((name) => ({ ok: false, name, reason }));
  }
  return names.map((name) => {
    const own = join(folder, "node_modules", name);
    if (!existsSync(own)) return { ok: false, name, reason: "not for this platform" };
    const { version } = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as {
      version: string;
    };
    return { ok: true, name, version, folder: own };
  });
}

/** Where npm finds a release of Node: programs and headers, one package for each platform. */
export const nodeSource = (version: string | number): string =>
  `npm:node-${process.platform}-${process.arch}@${version}`;

/** The releases of Node that are in the registry. */
export function fetchNodes(majors: readonly number[]): Promise<Fetched[]> {
  return fetchTools(
    Object.fromEntries(majors.map((major) => [`node-${major}`, nodeSource(major)])),
  );
}

/**
 * What makes `node`, and everything that is started by that name, the given one; its headers too.
 */
export function envOf({ folder }: Tool): Record<string, string> {
  return {
    PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
    npm_config_nodedir: folder,
  };
}

export const majorOf = ({ version }: Tool): number => Number.parseInt(version);
