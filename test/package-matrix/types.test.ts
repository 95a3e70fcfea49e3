import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { manifestOf, pack, REPOSITORY } from "../package/installed.js";
import { run } from "../templates/commands.js";
import { fetchTools, type Tool } from "../toolchain/fetch-tools.js";
import { makeProject } from "../toolchain/workshop.js";

const MINUTES = 60_000;

const ENTRIES = Object.keys(manifestOf(REPOSITORY).exports)
  .filter((path) => !path.endsWith(".json"))
  .map((path) => path.replace(".", "signalbox"));

/** Reaches the declarations of every entry point. */
const PROGRAM = `
${ENTRIES.map((entry, index) => `import * as entry${index} from "${entry}";\nvoid entry${index};`).join("\n")}
import { createReceiver, type Receiver, type Signal } from "signalbox";
import { sqliteStore } from "signalbox/stores/sqlite";
const onSignal = async (signal: Signal): Promise<void> => console.log(signal.data.title);
export const receiver: Receiver = createReceiver({ secrets: "whsec_1", store: sqliteStore("signals.db"), onSignal });
// @ts-expect-error it has no store
createReceiver({ secrets: "whsec_1", onSignal });
`;

const WITH_EXPRESS = `
import express from "express";
import { captureRawBody } from "signalbox";
import { expressHandler } from "signalbox/express";
import { receiver } from "./program.js";
const handler: express.RequestHandler = expressHandler(receiver);
express().use("/webhooks/signals", handler).use(express.json({ verify: captureRawBody }));
`;

const RESOLUTIONS = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  "esnext and bundler": { module: "esnext", moduleResolution: "bundler" },
  "preserve and bundler": { module: "preserve", moduleResolution: "bundler" },
};

// 5.4 is the oldest that docs/installing.md names.
const compilers = await fetchTools({
  "typescript-5.4": "npm:typescript@~5.4.0",
  "typescript-6": "npm:typescript@6",
  "typescript-7": "npm:typescript@7",
});
const isMissing = compilers.some(({ ok }) => !ok);

async function installTypes(name: string, packages: readonly string[]) {
  const folder = makeProject(name, { "program.ts": PROGRAM, "express.ts": WITH_EXPRESS });
  const tarball = pack().tarball;
  await run(folder, "npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", tarball, ...packages]);
  return folder;
}

/** What the compiler says; nothing when all is well. */
async function compile(folder: string, compiler: Tool, options: object, files = ["program.ts"]): Promise<string> {
  const compilerOptions = { target: "es2022", strict: true, noEmit: true, skipLibCheck: false, types: ["node"] };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...options }, files }),
  );
  const said = run(folder, process.execPath, [join(compiler.folder, "bin/tsc"), "-p", "."]);
  return said.then(
    ({ stdout }) => stdout,
    (error: Error) => error.message,
  );
}

let plain = "";
beforeAll(async () => {
  if (!isMissing) plain = await installTypes("types", ["@types/node@20"]);
}, 5 * MINUTES);

for (const compiler of compilers) {
  if (!compiler.ok) {
    test.skip(`${compiler.name}: ${compiler.reason}`);
    continue;
  }
  test.each(Object.entries(RESOLUTIONS))(
    `with TypeScript ${compiler.version} and %s every declaration compiles, and @types/node is all it takes`,
    async (_, resolution) => {
      expect(await compile(plain, compiler, resolution)).toBe("");
    },
    5 * MINUTES,
  );
}

const newest = compilers.at(-1);

if (newest?.ok === true) {
  test.each(["4", "5"])(
    "an Express app compiles with @types/express %s",
    async (major) => {
      const types = [`@types/express@${major}`, `express@${major}`, "@types/node@20"];
      const folder = await installTypes(`types-of-express-${major}`, types);
      expect(await compile(folder, newest, RESOLUTIONS.nodenext, ["express.ts"])).toBe("");
    },
    5 * MINUTES,
  );

  test("a CommonJS module compiles under nodenext", async () => {
    writeFileSync(join(plain, "program.cts"), PROGRAM);
    expect(await compile(plain, newest, RESOLUTIONS.nodenext, ["program.cts"])).toBe("");
  });
}
