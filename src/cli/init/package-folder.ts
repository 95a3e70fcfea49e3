import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package. The relative path is the same from `src/cli` and from `dist/cli`. */
export const PACKAGE_FOLDER = dirname(
  fileURLToPath(new URL("../../../package.json", import.meta.url)),
);

export function packageVersion(): string {
  return (
    JSON.parse(readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8")) as { version: string }
  ).version;
}
