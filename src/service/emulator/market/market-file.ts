import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Reads a text of the made-up market. From `src` and from `dist` the path is the same. */
export const marketText = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../../../fixtures/market", name), "utf8");

/** Reads a table of the made-up market. */
export const marketFile = <Content>(name: string): Content =>
  JSON.parse(marketText(name)) as Content;
