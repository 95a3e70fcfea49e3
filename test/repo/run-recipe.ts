import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { readDocument } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const BLOCKS = ["docs/recipes.md", "docs/idempotent-effects.md"].flatMap(
  (path) => readDocument(path).blocks,
);

/**
 * Runs the recipe under a heading in a process of its own, since recipes keep their connections,
 * and calls what `script` does with it. The names of queues and streams get a suffix, so that
 * nothing else on the broker is touched.
 *
 * @param folder where the recipe finds its client
 * @param replaced code of the recipe, such as the address of the broker, to what stands there
 * instead
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
  const renamed = block.code
    .replaceAll('"signals"', `"${name}"`)
    .replaceAll('"SIGNALS"', `"${name}"`);
  let code = renamed.replaceAll("signals.>", `${name}.>`).replaceAll("`signals.$", `\`${name}.$`);
  for (const [from, to] of Object.entries(replaced)) {
    if (!code.includes(from)) throw new Error(`the recipe for ${heading} does not hold ${from}`);
    code = code.replace(from, to);
  }
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
    },
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
  const { stdout } = await promisify(execFile)(process.execPath, [`${file}.mjs`], {
    timeout: 120_000,
  });
  // Clients may have logged before.
  return JSON.parse(stdout.slice(stdout.lastIndexOf("\n")));
}

/**
 * Makes what the recipe under a heading returns the callback of a receiver, whose inbox is in the
 * database of the effects.
 *
 * @param makeDb its imports, and `db`, the argument of the recipe, for the schema of `url`
 */
export async function completeByRecipe(
  heading: string,
  makeDb: string,
  folder: string,
): Promise<unknown> {
  const script = `
    import { inspect } from "node:util";
    import pg from "${ROOT}node_modules/pg/lib/index.js";
    import { createReceiver } from "${ROOT}dist/kit/index.js";
    import { postgresStore } from "${ROOT}dist/kit/stores/postgres/postgres-store.js";
    import { signalEvent, signedDelivery } from "${ROOT}dist/kit/testing/index.js";
    const schema = name + ${JSON.stringify(heading.replaceAll(/\W/g, "_").toLowerCase())};
    const url = "postgres://postgres@127.0.0.1:5432/test?options=-c%20search_path%3D" + schema;
    const pool = new pg.Pool({ connectionString: url });
    await pool.query("CREATE SCHEMA " + schema);
    await pool.query("CREATE TABLE price_alert (id serial PRIMARY KEY, product text, text text)");
    ${makeDb}
    const { alertIn } = await loadRecipe();
    const alert = alertIn(db);
    const found = { states: [] };
    const receiver = createReceiver({
      secrets: "s",
      logger: false,
      store: postgresStore({ pool, schema }),
      onSignal: async (signal, handoff) => {
        if (found.states.length > 0) await pool.query("UPDATE inbox SET token = token + 1 WHERE state = 'leased'");
        await alert(signal, handoff).catch((error) => {
          found.code = inspect(error, { depth: 5 }).match(/SBX02/)?.[0] ?? error.message;
        });
        const { rows } = await pool.query("SELECT state, (SELECT count(*)::int FROM price_alert) AS effects FROM inbox ORDER BY seq");
        found.states.push(rows.map(({ state, effects }) => state + " " + effects).join());
        ended();
      },
    });
    await receiver.start();
    let ended;
    for (const event of [signalEvent(), signalEvent()]) {
      const hasEnded = new Promise((resolve) => (ended = resolve));
      const { status } = await receiver.handle({ method: "POST", ...signedDelivery(event, { secret: "s" }) });
      if (status !== 200) throw new Error("the delivery got " + status);
      await hasEnded;
    }
    const { rows } = await pool.query("SELECT product, text FROM price_alert");
    found.isWhole = rows[0].product.length > 0 && rows[0].text.length > 0;
    // The queries of a receiver that runs could wait for the drop, and the drop for them.
    await receiver.close({ graceMs: 0 });
    await pool.query("DROP SCHEMA " + schema + " CASCADE");`;
  return runRecipe(folder, heading, script);
}

/**
 * The first signal is done when its callback resolves; the second was taken over before, and has no
 * effect.
 */
export const COMPLETED_ONCE = {
  states: ["done 1", "done 1,leased 1"],
  code: "SBX02",
  isWhole: true,
};
