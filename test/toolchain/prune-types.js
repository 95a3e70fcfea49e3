// Deletes the declarations that no export of the package leads to: nobody can import their modules.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path/posix";

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
const typesOf = (module) => module.replace(/\.js$/, ".d.ts");
const waiting = Object.values(exports)
  .map((target) => target.default ?? target)
  .filter((target) => target.endsWith(".js"))
  .map((target) => typesOf(join(target)));
const reached = new Set();
for (const file of waiting) {
  if (reached.has(file) || !existsSync(file)) continue;
  reached.add(file);
  for (const [, module] of readFileSync(file, "utf8").matchAll(/["'](\.[^"']+\.js)["']/g))
    waiting.push(typesOf(join(dirname(file), module)));
}
for (const path of readdirSync("dist", { recursive: true })) {
  const file = join("dist", path);
  if (file.endsWith(".d.ts") && !reached.has(file)) rmSync(file);
}
