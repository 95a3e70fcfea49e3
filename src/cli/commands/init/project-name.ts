import { basename } from "node:path";

/** npm takes no package of this name. */
const RESERVED = new Set(["node_modules", "favicon.ico"]);
const LONGEST = 214;

/**
 * A package name out of the folder's.
 *
 * @param taken names of packages that the project needs: npm installs none into a project of the same name
 */
export function projectNameOf(directory: string, taken: readonly string[]): string {
  const name = basename(directory)
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, "")
    .slice(0, LONGEST - "-receiver".length);
  if (name === "") return "signal-receiver";
  return RESERVED.has(name) || taken.includes(name) ? `${name}-receiver` : name;
}
