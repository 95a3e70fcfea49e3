import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Reads a table of the made-up market. From `src` and from `dist` the path is the same. */
export function marketFile<Content>(name: string): Content {
  const path = join(import.meta.dirname, "../../../../fixtures/market", name);
  return JSON.parse(readFileSync(path, "utf8")) as Content;
}
