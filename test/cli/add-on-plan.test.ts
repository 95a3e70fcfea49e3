import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { AddOnPlan } from "../../src/cli/commands/init/add-on/describe-add-on.js";
import { planAddOn, type AddOnOptions } from "../../src/cli/commands/init/add-on/plan-add-on.js";
import { EXIT } from "../../src/cli/options/exit.js";
import { tempFiles } from "./temp-files.js";

const APP = `const express = require("express");

const app = express();
app.listen(3000);
`;
const ESM_APP = APP.replace('const express = require("express")', 'import express from "express"');

const manifest = (parts: object = {}): string => JSON.stringify({ dependencies: { express: "^5.0.0" }, ...parts });

async function planFor(files: Record<string, string>, options: AddOnOptions = {}): Promise<AddOnPlan> {
  return planAddOn(tempFiles({ "package.json": manifest(), ...files }), options);
}

const pathsOf = ({ files }: AddOnPlan): string[] => files.map(({ path }) => path);
const editOf = ({ edits }: AddOnPlan, purpose: string): AddOnPlan["edits"][number] | undefined =>
  edits.find((edit) => edit.purpose === purpose);

test.each<[what: string, files: Record<string, string>, paths: string[]]>([
  ["CommonJS at the top", { "app.js": APP }, ["signals/router.js", "signals/on-signal.js", "signals/router.test.js"]],
  ["a src folder", { "src/app.js": APP }, ["src/signals/router.js"]],
  ["a folder of its own, from its first part on", { "server/http/app.js": APP }, ["server/signals/router.js"]],
  [
    "a start in bin/",
    { "app.js": APP.replace("app.listen(3000);", ""), "bin/www": "app.listen(1)" },
    ["signals/router.js"],
  ],
  [
    "modules by their ending",
    { "app.mjs": ESM_APP },
    ["signals/router.mjs", "signals/on-signal.mjs", "signals/router.test.mjs"],
  ],
  ["TypeScript modules by their ending", { "src/app.mts": ESM_APP }, ["src/signals/router.mts"]],
  ["JavaScript beside a tsconfig.json", { "app.js": APP, "tsconfig.json": "{}" }, ["signals/router.js"]],
  ["nothing but a tsconfig.json", { "tsconfig.json": "{}" }, ["signals/router.ts"]],
  ["nothing", {}, ["signals/router.js"]],
  ["a build left out", { "dist/app.js": APP, "src/app.ts": ESM_APP }, ["src/signals/router.ts"]],
  [
    "a build in a folder of the tsconfig.json",
    { "tsconfig.json": '{ "compilerOptions": { "outDir": "js" } }', "js/app.js": APP, "lib/app.ts": ESM_APP },
    ["lib/signals/router.ts"],
  ],
])("the files go where the app has its own: %s", async (_what, files, paths) => {
  expect(pathsOf(await planFor(files)).slice(0, paths.length)).toEqual(paths);
});

test.each<[what: string, files: Record<string, string>, specifier: string]>([
  [
    "an ES module in JavaScript",
    { "package.json": manifest({ type: "module" }), "src/app.js": ESM_APP },
    "./signals/router.js",
  ],
  [
    "TypeScript under nodenext",
    {
      "package.json": manifest({ type: "module" }),
      "tsconfig.json": '{ "compilerOptions": { "module": "NodeNext" } }',
      "src/app.ts": ESM_APP,
    },
    "./signals/router.js",
  ],
  [
    "TypeScript under a base",
    {
      "tsconfig.json": '{ "extends": "./tsconfig.base" }',
      "tsconfig.base.json": '{ "compilerOptions": { "module": "commonjs", /* no */ }, }',
      "src/app.ts": ESM_APP,
    },
    "./signals/router",
  ],
  [
    "as the others are written",
    {
      "package.json": manifest({ type: "module" }),
      "src/app.ts": `import { a } from "./a";\nimport { b } from "../b";\nimport { c } from "./c.js";\n${ESM_APP}`,
    },
    "./signals/router",
  ],
  [
    "with the ending of TypeScript",
    {
      "package.json": manifest({ type: "module" }),
      "tsconfig.json": '{ "compilerOptions": { "module": "nodenext", "allowImportingTsExtensions": true } }',
      "src/app.ts": ESM_APP,
    },
    "./signals/router.ts",
  ],
  [
    "from a folder beside it",
    {
      "package.json": manifest({ type: "module" }),
      "src/http/app.js": ESM_APP,
    },
    "../signals/router.js",
  ],
])("what is imported is named as the app names its own: %s", async (_what, files, specifier) => {
  const plan = await planFor(files);
  expect(editOf(plan, "import")?.lines).toEqual([`import { signals } from "${specifier}";`]);
  const ending = /\.\w+$/.exec(specifier.replace(/^\.+\//, ""))?.[0] ?? "";
  expect(plan.files[0]?.content).toContain(`"./on-signal${ending}"`);
});

const LINES = (plan: AddOnPlan, purpose: string): unknown[] => {
  const { file, line, place, lines } = editOf(plan, purpose) ?? {};
  return [file, line, place, lines?.[0]];
};

test("without a parser, it is mounted below the line that makes the app", async () => {
  const plan = await planFor({ "app.js": APP });
  expect(LINES(plan, "import")).toEqual(["app.js", 1, "below", 'const { signals } = require("./signals/router");']);
  expect(LINES(plan, "mount")).toEqual(["app.js", 3, "below", 'app.use("/webhooks/signals", signals.router);']);
  expect(LINES(plan, "start")).toEqual(["app.js", 4, "above", "signals.start().catch((error) => {"]);
  expect(LINES(plan, "close")).toEqual(["app.js", 4, "above", 'process.once("SIGTERM", () => {']);
});

test.each([
  ["app.use(express.json());"],
  ["app.use(\n  express.json(),\n);"],
  ["app.use(bodyParser.json());"],
  ['app.use("/api", express.urlencoded({ extended: true }));'],
  ["app.use(json());"],
])("it is mounted above the first parser: %s", async (parser) => {
  const text = APP.replace(
    "app.listen",
    `// app.use(express.json());\napp.use(cors());\n${parser}\napp.use(express.json());\napp.listen`,
  );
  expect(LINES(await planFor({ "app.js": text }), "mount")).toEqual(["app.js", 6, "above", expect.any(String)]);
});

test.each([
  ["app.use(express.json());", "app.use(express.json())"],
  [
    'app.use(express.json({ limit: "1mb", type: () => true })); app.get("/", hello);',
    /^app\.use\(express\.json\(.+true \}\)\)$/,
  ],
  ["app.use(express.json({", "app.use(express.json({"],
])("behind the app on one line, a parser is what the mount comes before: %s", async (parser, before) => {
  const plan = await planFor({ "app.js": `const express = require("express");\nconst app = express(); ${parser}\n` });
  expect(LINES(plan, "mount")).toEqual(["app.js", 2, "inside", 'app.use("/webhooks/signals", signals.router);']);
  expect(editOf(plan, "mount")?.before).toEqual(typeof before === "string" ? before : expect.stringMatching(before));
  expect(plan.nextSteps.join("\n")).toMatch(/app\.js, inside line 2, before app\.use\(express\.json\(.* \(const app =/);
});

test("what only looks like a parser is none", async () => {
  const text = APP.replace(
    "app.listen",
    "app.use((req, res) => res.json({}));\nother.use(express.json());\napp.listen",
  );
  expect(LINES(await planFor({ "app.js": text }), "mount").slice(1, 3)).toEqual([3, "below"]);
});

test("names, indentation and files are those of the app", async () => {
  const plan = await planFor({
    "src/http.js": `class Http {\n  constructor() {\n    this.server = express();\n    this.server.use(express.json());\n  }\n}\n`,
    "src/index.js": `"use strict";\nasync function main() {\n  createServer(new Http().server)\n    .listen(3000);\n}\n`,
  });
  expect(plan.edits.map(({ file, line, place, lines }) => [file, line, place, lines[0]])).toEqual([
    ["src/http.js", 1, "above", 'const { signals } = require("./signals/router");'],
    ["src/http.js", 4, "above", '    this.server.use("/webhooks/signals", signals.router);'],
    ["src/index.js", 1, "below", 'const { signals } = require("./signals/router");'],
    ["src/index.js", 3, "above", "  signals.start().catch((error) => {"],
    ["src/index.js", 3, "above", '  process.once("SIGTERM", () => {'],
  ]);
});

test.each([
  ["app.listen(3000);", "above"],
  ["const server = http.createServer(app).listen(3000, () => {});", "above"],
  ["if (require.main === module) app.listen(3000);", "inside"],
  ["if (require.main === module)\n  app.listen(3000);", "inside"],
  ["if (require.main === module) {\n  app.listen(3000);\n}", "above"],
  ["connect().then(() => app.listen(3000));", "inside"],
  ["connect().then(() =>\n  app.listen(3000),\n);", "inside"],
  ["connect()\napp.listen(3000)", "above"],
  ["const start = () => app.listen(3000);", "inside"],
])("what is started above the line would not always run with it: %j", async (listening, place) => {
  const plan = await planFor({ "app.js": APP.replace("app.listen(3000);", listening) });
  expect(plan.edits.flatMap((edit) => (/start|close/.test(edit.purpose) ? [edit.place] : []))).toEqual([place, place]);
});

test("a parser behind an `if` on the line above is no place for the mount", async () => {
  const text = APP.replace("app.listen", "if (process.env.JSON)\n  app.use(express.json());\napp.listen");
  expect(LINES(await planFor({ "app.js": text }), "mount").slice(1, 3)).toEqual([3, "below"]);
});

const BESIDE = ['process.once("SIGTERM", () => {', "  signals.close().catch(console.error);", "});"];
const CAUGHT = ["  signals.close().catch(console.error);"];
const BEFORE_EXIT = [
  "  signals.close().catch(console.error).then(() => {",
  "    // Move what ends the process here: process.exit() waits for nothing.",
  "  });",
];
const BESIDE_EXIT = [BESIDE[0], ...BEFORE_EXIT, BESIDE[2]];

test.each([
  ["async () => {\n  server.close();\n}", "inside", ["  await signals.close();"]],
  ["() => {\n  server.close();\n}", "inside", CAUGHT],
  ["() => {\n  server.close(() => process.exit(0));\n}", "inside", BEFORE_EXIT],
  ["() => {\n  server.close();\n});\nlater(() => {\n  process.exit(0);\n}", "inside", CAUGHT],
  ["() => server.close()", "above", BESIDE],
  ["() => process.exit(0)", "above", BESIDE_EXIT],
  ["async () => { await stop(); process.exit(); }", "above", BESIDE_EXIT],
  ["process.exit", "above", BESIDE_EXIT],
  ["() =>\n  process.exit(0),\n", "above", BESIDE_EXIT],
  ["() => server.close());\nlater(() => process.exit(0)", "above", BESIDE],
  ["async () => { await stop(); }", "above", BESIDE],
  ["imported", "above", BESIDE],
])("what is added to a listener fits it: %j", async (handler, place, lines) => {
  const plan = await planFor({ "app.js": `${APP}process.on("SIGTERM", ${handler});\n` });
  expect(LINES(plan, "close").slice(0, 3)).toEqual(["app.js", 5, place]);
  expect(editOf(plan, "close")?.lines).toEqual(lines);
});

const closesOf = ({ edits }: AddOnPlan): unknown[] =>
  edits.flatMap(({ purpose, line, place, lines }) => (purpose === "close" ? [[line, place, lines[0]]] : []));

test.each([
  [
    "a listener for each",
    'process.on("SIGTERM", async () => {\n});\nprocess.once("SIGINT", () => {\n});\n',
    [
      [5, "inside", "  await signals.close();"],
      [7, "inside", "  signals.close().catch(console.error);"],
    ],
  ],
  [
    "one function for both",
    'async function stop() {\n}\nprocess.on("SIGTERM", stop);\nprocess.on("SIGINT", stop);\n',
    [[5, "inside", "  await signals.close();"]],
  ],
  [
    "a loop",
    'for (const name of ["SIGINT", "SIGTERM"]) {\n  process.on(name, async () => {\n  });\n}\n',
    [[6, "inside", "    await signals.close();"]],
  ],
  [
    "SIGINT alone, so that SIGTERM still ends it",
    'process.on("SIGINT", async () => {\n});\n',
    [
      [4, "above", 'process.once("SIGTERM", () => {'],
      [5, "inside", "  await signals.close();"],
    ],
  ],
  ["a function of a library", 'onExit(["SIGTERM"], stop);\n', [[null, null, 'process.once("SIGTERM", () => {']]],
  ["none", "", [[4, "above", 'process.once("SIGTERM", () => {']]],
])("it is closed at every signal that the app handles: %s", async (_what, text, closes) => {
  expect(closesOf(await planFor({ "app.js": APP + text }))).toEqual(closes);
});

test("a function of one line that ends the process is no place, and what ends it has to be moved", async () => {
  const handlers = ["const stop = () => process.exit(0);", "function stop() { process.exit(0); }"];
  for (const handler of handlers) {
    const plan = await planFor({ "app.js": `${APP}${handler}\nprocess.on("SIGTERM", stop);\n` });
    expect(editOf(plan, "close")?.lines).toEqual(BESIDE_EXIT);
  }
  const text = `${APP}if (x) {\n  process.on("SIGTERM", () => stop());\n}\nif (y) {\n  process.exit(1);\n}\n`;
  const other = await planFor({ "app.js": text });
  expect(editOf(other, "close")?.lines).toEqual(BESIDE.map((line) => `  ${line}`));
});

test("signals that a function of a library handles are listened to beside it, for both signals", async () => {
  const plan = await planFor({ "app.js": `${APP}onExit(["SIGTERM", "SIGINT"], stop);\n` });
  expect(editOf(plan, "close")?.lines).toEqual([...BESIDE, ...BESIDE.map((line) => line.replace("TERM", "INT"))]);
});

test.each([
  ["app.listen(8080);", 8080],
  ["app.listen(process.env.PORT || 4000, () => {});", 4000],
  ['app.listen(Number(process.env["PORT"] ?? "4100"), "127.0.0.1");', 4100],
  ["const port = process.env.PORT ?? 4300;\napp.listen(port);", 4300],
  ["const PORT: number = parseInt(process.env.PORT || '4400', 10);\napp.listen(PORT, '0.0.0.0');", 4400],
  ["const { PORT = 4500 } = process.env;\napp.listen(PORT);", 4500],
  ["app.listen(config.port, 5000);", 3000],
])("the signal is sent to the port of the app, where it can be seen: %j", async (listening, port) => {
  const { commands } = await planFor({ "app.js": APP.replace("app.listen(3000);", listening) });
  expect(commands.send).toContain(` --url http://localhost:${port}/webhooks/signals`);
});

test("an app that is not found gets the lines without a place", async () => {
  const plan = await planFor({ "app.js": "module.exports = require('./loaders');\n" });
  expect(plan.edits.map(({ file, line }) => [file, line])).toEqual(Array.from({ length: 4 }, () => [null, null]));
  const chained = await planFor({ "app.js": "const app = express()\n  .use(express.json());\n" });
  expect(LINES(chained, "mount").slice(0, 3)).toEqual(["app.js", null, null]);
});

test.each([
  [{ "package-lock.json": "" }, {}, "npm install signalbox", "npx"],
  [{ "pnpm-lock.yaml": "" }, {}, "pnpm add signalbox", "pnpm exec"],
  [{ "yarn.lock": "" }, {}, "yarn add signalbox", "yarn"],
  [{ "bun.lock": "" }, {}, "bun add signalbox", "bunx"],
  [{}, {}, "npm install signalbox", "npx"],
  [{ "package-lock.json": "" }, { packageManager: "pnpm@10.0.0" }, "pnpm add signalbox", "pnpm exec"],
])("the commands are those of the app's package manager: %j %j", async (locks, parts, install, runs) => {
  const { commands } = await planFor({ ...locks, "package.json": manifest(parts), "app.js": APP });
  expect(commands.install).toEqual([install]);
  expect(commands.send).toMatch(new RegExp(`^${runs} signalbox send `));
});

test("the lock file of a workspace counts, up to the repository's top", () => {
  const workspace = tempFiles({ "pnpm-lock.yaml": "", "apps/web/package.json": manifest(), "apps/web/app.js": APP });
  expect(planAddOn(join(workspace, "apps/web")).app.packageManager).toBe("pnpm");
  mkdirSync(join(workspace, "apps/.git"));
  expect(planAddOn(join(workspace, "apps/web")).app.packageManager).toBe("npm");
});

test("what is there is not installed again, and types are where they are missing", async () => {
  const dependencies = { express: "5", signalbox: "1", "@types/express": "5" };
  const { commands } = await planFor({ "package.json": manifest({ dependencies }), "app.ts": ESM_APP });
  expect(commands.install).toEqual(["npm install -D @types/node"]);
});

test.each([
  [
    { scripts: { test: "vitest run" } },
    "vitest",
    /^import \{ .+ \} from "vitest";$/m,
    "npx vitest run src/signals/router.test.js",
  ],
  [{ scripts: { test: "mocha" } }, "mocha", null, "npx mocha src/signals/router.test.js"],
  [
    { scripts: { test: "node --test" }, devDependencies: { jest: "30" } },
    "node",
    /"node:test"/,
    "node --test src/signals/router.test.js",
  ],
  [{}, "node", /"node:test"/, "node --test src/signals/router.test.js"],
  [
    { type: "module", scripts: { test: "node --experimental-vm-modules node_modules/jest/bin/jest.js" } },
    "jest",
    null,
    "npx jest src/signals/router.test.js",
  ],
])("the test is one of the app's runner: %j", async (parts, runner, importing, command) => {
  const plan = await planFor({ "package.json": manifest(parts), "src/app.js": "type" in parts ? ESM_APP : APP });
  expect(plan.app.testRunner).toBe(runner);
  expect(plan.commands.test).toBe(command);
  const content = plan.files[2]?.content ?? "";
  if (importing === null) expect(content).not.toMatch(/vitest|node:test|jest|mocha/);
  else expect(content).toMatch(importing);
});

test("Jest in CommonJS loads no ES module: nothing that its tests load has signalbox at the top", async () => {
  const parts = manifest({ devDependencies: { jest: "29" } });
  const plan = await planFor({ "package.json": parts, "src/app.js": APP });
  expect(pathsOf(plan)[2]).toBe("src/signals/router.check.js");
  expect(plan.commands.test).toBe("node --test src/signals/router.check.js");
  expect(editOf(plan, "import")).toBeUndefined();
  expect(editOf(plan, "mount")?.lines.join("\n")).toContain(
    '  require("./signals/router").signals.router(req, res, next);',
  );
  expect(plan.notes.join("\n")).toContain("Jest");
  const typescript = await planFor({ "package.json": parts, "src/app.ts": ESM_APP });
  expect(editOf(typescript, "mount")?.lines.join("\n")).toContain('import("./signals/router").then(');
});

const OUT = '{ "compilerOptions": { "module": "commonjs", "rootDir": "src", "outDir": "build/js" } }';

test.each([
  [{}, OUT, "npx tsc -p . && node --test build/js/signals/router.check.js"],
  [{ scripts: { build: "tsc" } }, OUT, "npm run build && node --test build/js/signals/router.check.js"],
  [
    { scripts: { build: "tsc" }, packageManager: "yarn@4.0.0" },
    OUT,
    "yarn run build && node --test build/js/signals/router.check.js",
  ],
  [{ devDependencies: { jest: "29", tsx: "4" } }, OUT, "npx tsx --test src/signals/router.check.ts"],
  [{}, OUT.replace('"src"', '"src/http"'), "npx tsx --test src/signals/router.check.ts"],
  [{}, '{ "compilerOptions": { "module": "commonjs" } }', "npx tsx --test src/signals/router.check.ts"],
])(
  "Jest in TypeScript and CommonJS: the new test runs as it is built, or by tsx: %j %s",
  async (parts, config, command) => {
    const json = manifest({ devDependencies: { jest: "29" }, ...parts });
    const plan = await planFor({ "package.json": json, "tsconfig.json": config, "src/app.ts": ESM_APP });
    expect(plan.commands.test).toBe(command);
    expect(plan.nextSteps).toEqual(
      expect.arrayContaining([expect.stringMatching(/\. Run its test:$/), `     ${command}`]),
    );
  },
);

test.each([
  ["that is none", { "package.json": manifest({ dependencies: {} }) }, /express is no dependency/],
  ["with an old Express", { "package.json": manifest({ dependencies: { express: "^3.0.0" } }) }, /4\.18 and 5/],
  ["whose package.json is empty", { "package.json": "" }, /package\.json in .* is no JSON: fix it/],
  [
    "whose package.json has a comma too much",
    { "package.json": '{\n  "name": "a",\n  "version": "1",\n}' },
    /package\.json in .* is no JSON \(line 4\): fix it/,
  ],
])("an app %s is wrong usage", async (_what, files, says) => {
  await expect(planFor(files)).rejects.toMatchObject({ exitCode: EXIT.usage, message: expect.stringMatching(says) });
});

test("a package.json with a byte order mark is read, as npm reads it", async () => {
  const files = { "package.json": `\uFEFF${manifest({ type: "module" })}`, "app.js": ESM_APP };
  expect(editOf(await planFor(files), "import")?.lines).toEqual(['import { signals } from "./signals/router.js";']);
});

test("a folder that is not there is wrong usage", () => {
  expect(() => planAddOn("/no/such/app")).toThrow(expect.objectContaining({ exitCode: EXIT.usage }));
});

test.each(["..", "/elsewhere", "src/../../x"])("--into %s leads out of the app", async (into) => {
  const failing = planFor({ "app.js": APP }, { into });
  await expect(failing).rejects.toMatchObject({ exitCode: EXIT.usage, message: expect.stringContaining("--into") });
});

test.each(["it's", "$(x)", "a\u001b[2J"])("--into %j would not stand in the sources that import it", async (into) => {
  const failing = planFor({ "app.js": APP }, { into });
  await expect(failing).rejects.toMatchObject({ exitCode: EXIT.usage, message: expect.stringContaining("--into") });
});

test("a folder with a blank in its name is typed as one word", async () => {
  const { commands } = await planFor({ "app.js": APP }, { into: "my signals" });
  expect(commands.test).toBe("node --test 'my signals/router.test.js'");
});

test.each(["null", "[]", '{ "extends": 5 }', '{ "extends": [null, "./x"], "compilerOptions": [] }', "{"])(
  "a tsconfig.json that makes no sense is no crash: %s",
  async (text) => {
    const plan = await planFor({ "tsconfig.json": text, "src/app.ts": ESM_APP });
    expect(pathsOf(plan)[0]).toBe("src/signals/router.ts");
  },
);

test("--into names the folder", async () => {
  const plan = await planFor({ "src/app.js": APP }, { into: "src\\hooks/in/" });
  expect(pathsOf(plan)[0]).toBe("src/hooks/in/router.js");
  expect(LINES(plan, "import")[3]).toBe('const { signals } = require("./hooks/in/router");');
});

test("a file that a user wrote or changed is never replaced; one of ours is, with --force", () => {
  const folder = tempFiles({ "package.json": manifest(), "app.js": APP });
  const write = ({ files }: AddOnPlan): void => {
    for (const { path, content } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
  };
  const plan = planAddOn(folder);
  expect(existsSync(join(folder, "signals"))).toBe(false);
  write(plan);
  const refusal = (says: RegExp): object =>
    expect.objectContaining({ exitCode: EXIT.usage, message: expect.stringMatching(says) }) as object;
  expect(() => planAddOn(folder)).toThrow(refusal(/signals\/router\.js is there already; give --force/));
  expect(planAddOn(folder, { force: true })).toEqual(plan);
  // As git checks it out on some machines.
  const router = join(folder, "signals/router.js");
  const content = readFileSync(router, "utf8");
  writeFileSync(router, content.replaceAll("\n", "\r\n"));
  planAddOn(folder, { force: true });
  for (const changed of [content.replace('"/health"', '"/healthy"'), "mine\n", ""]) {
    writeFileSync(router, changed);
    for (const force of [false, true]) {
      expect(() => planAddOn(folder, { force })).toThrow(refusal(/it is not written over/));
    }
  }
  expect(readFileSync(router, "utf8")).toBe("");
});
