import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import ts from "typescript";
import { readDocument } from "./markdown.js";

export const BLOCKS = ["docs/recipes.md", "docs/idempotent-effects.md"].flatMap((path) => readDocument(path).blocks);

/**
 * Runs the recipe under a heading in a process of its own, since recipes keep their connections, and calls what
 * `script` does with it. The names of queues and streams get a suffix, so that nothing else on the broker is touched.
 *
 * @param folder where the recipe finds its client
 * @param replaced code of the recipe, such as the address of the broker, to what stands there instead
 */
export async function runRecipe(
  folder: string,
  heading: string,
  script: string,
  replaced: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const block = BLOCKS.find((each) => each.heading === heading && each.language === "ts");
  if (block === undefined) throw new Error(`there is no recipe for ${heading}`);
  const name = `probe_${process.pid}`;
  const renamed = block.code.replaceAll('"signals"', `"${name}"`).replaceAll('"SIGNALS"', `"${name}"`);
  let code = renamed.replaceAll("signals.>", `${name}.>`).replaceAll("`signals.$", `\`${name}.$`);
  for (const [from, to] of Object.entries(replaced)) {
    if (!code.includes(from)) throw new Error(`the recipe for ${heading} does not hold ${from}`);
    code = code.replace(from, to);
  }
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
  });
  const file = `${folder}/${heading.replaceAll(/\W/g, "-")}`;
  writeFileSync(`${file}.recipe.mjs`, outputText);
  const source = `
    const loadRecipe = () => import("${file}.recipe.mjs");
    const name = ${JSON.stringify(name)};
    const signal = { id: "sig_1_2", data: { signal_type: "traffic_breakout", title: "t", product: { id: 2, slug: "acme" } } };
    const handoff = { deliveryKey: "default/sig_1_2", rawBody: Buffer.from(JSON.stringify(signal)) };
    const outcome = (promise) => promise.then(() => "resolved", (error) => error.message);
    ${script}
    process.stdout.write("\\n" + JSON.stringify(found), () => process.exit());`;
  writeFileSync(`${file}.mjs`, source);
  const { stdout } = await promisify(execFile)(process.execPath, [`${file}.mjs`], { timeout: 30_000 });
  // Clients may have logged before.
  return JSON.parse(stdout.slice(stdout.lastIndexOf("\n")));
}
