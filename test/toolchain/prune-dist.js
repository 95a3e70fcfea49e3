// Makes the package smaller: deletes the declarations that no export of it leads to, since nobody can
// import their modules, and from modules the doc comments, which the declarations have.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";

/** On lines of its own. */
const DOC_COMMENT = /^[ \t]*\/\*\*(?:[^*]|\*(?!\/))*\*\/\n/gm;

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
  if (!file.endsWith(".js") || /^dist\/(bundled|pages)\//.test(file)) continue;
  const code = readFileSync(file, "utf8");
  const without = code.replaceAll(DOC_COMMENT, "");
  if (without !== code) writeFileSync(file, without);
}
