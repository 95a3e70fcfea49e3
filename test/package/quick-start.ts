import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./installed.js";

/**
 * A block of code under the README's heading "Quick start", as a reader would copy it.
 *
 * @param holding what tells it from the other blocks there
 */
export function quickStartBlock(language: string, holding: string): string {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const [section = ""] = /^## Quick start$.*?(?=^## )/ms.exec(readme) ?? [];
  const blocks = section.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  for (const [, of, code = ""] of blocks) if (of === language && code.includes(holding)) return code;
  throw new Error(`README.md has no ${language} block with ${holding} under "## Quick start"`);
}
