import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AddOnPlan } from "../../../src/cli/commands/init/add-on/describe-add-on.js";
import { planAddOn, type AddOnOptions } from "../../../src/cli/commands/init/add-on/plan-add-on.js";
import { EXIT } from "../../../src/cli/options/exit.js";
import { tempFiles } from "../temp-files.js";

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
  ["nothing", {}, ["signals/router.js"]],
  ["a build left out", { "dist/app.js": APP, "src/app.ts": ESM_APP }, ["src/signals/router.ts"]],
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
    "TypeScript modules",
    { "package.json": manifest({ type: "module" }), "src/app.ts": ESM_APP },
    "./signals/router.js",
  ],
  ["JavaScript with imports in a package without a type", { "app.js": ESM_APP }, "./signals/router.js"],
  ["TypeScript to CommonJS", { "src/app.ts": ESM_APP }, "./signals/router"],
  [
    "as the others are written",
    {
      "package.json": manifest({ type: "module" }),
      "src/app.ts": `import json from "./a.json";\nimport { a } from "../a.ts";\n${ESM_APP}`,
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
  expect(LINES(plan, "import")).toEqual(["app.js", 1, "below", 'const { signals } = require("./signals/router.js");']);
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
    "src/index.js": `async function main() {\n  createServer(new Http().server).listen(3000);\n}\n`,
  });
  expect(plan.edits.map(({ file, line, place, lines }) => [file, line, place, lines[0]])).toEqual([
    ["src/http.js", 1, "above", 'const { signals } = require("./signals/router.js");'],
    ["src/http.js", 4, "above", '    this.server.use("/webhooks/signals", signals.router);'],
    ["src/index.js", 1, "above", 'const { signals } = require("./signals/router.js");'],
    ["src/index.js", 2, "above", "  signals.start().catch((error) => {"],
    ["src/index.js", 2, "above", '  process.once("SIGTERM", () => {'],
  ]);
});

test.each([
  ["app.listen(3000);", "above"],
  ["const server = http.createServer(app).listen(3000, () => {});", "above"],
  ["if (require.main === module) app.listen(3000);", "inside"],
  ["if (require.main === module) {\n  app.listen(3000);\n}", "above"],
  ["connect().then(() => app.listen(3000));", "inside"],
  ["const start = () => app.listen(3000);", "inside"],
])("what is started above the line would not always run with it: %j", async (listening, place) => {
  const plan = await planFor({ "app.js": APP.replace("app.listen(3000);", listening) });
  expect(plan.edits.flatMap((edit) => (/start|close/.test(edit.purpose) ? [edit.place] : []))).toEqual([place, place]);
});

const AWAIT = "  await signals.close();";
const TOLD = expect.stringMatching(/^ {2}\/\/ In the function that runs at SIGTERM .* async:$/);

test.each<[text: string, place: string, lines: unknown[]]>([
  ['process.on("SIGTERM", async () => {\n  server.close();\n});', "inside", [AWAIT]],
  ['async function stop() {\n}\nprocess.on("SIGTERM", stop);', "inside", [AWAIT]],
  // `await` needs an async function with braces.
  [
    'process.once("SIGTERM", () => { // stop\n  server.close(() => process.exit(0));\n});',
    "instead of",
    ['process.once("SIGTERM", async () => { // stop', AWAIT],
  ],
  [
    'const stop = (): void => {\n};\nprocess.on("SIGTERM", stop);',
    "instead of",
    ["const stop = async (): Promise<void> => {", AWAIT],
  ],
  ['function stop() {\n}\nprocess.on("SIGTERM", stop);', "instead of", ["async function stop() {", AWAIT]],
  [
    'process.on("SIGTERM", () => process.exit(0));',
    "instead of",
    ['process.on("SIGTERM", async () => {', AWAIT, "  process.exit(0);", "});"],
  ],
  [
    'process.on("SIGTERM", async (name) => { stop(name); })',
    "instead of",
    ['process.on("SIGTERM", async (name) => {', AWAIT, "  stop(name);", "})"],
  ],
  [
    'const stop = () => server.close();\nprocess.on("SIGTERM", stop);',
    "instead of",
    ["const stop = async () => {", AWAIT, "  server.close();", "};"],
  ],
  ['process.on("SIGTERM", () => process.exit(0)); // at once', "inside", [TOLD, AWAIT]],
  ['process.on("SIGTERM", imported);', "inside", [TOLD, AWAIT]],
  ['onExit(["SIGTERM", "SIGINT"], stop);', "inside", [TOLD, AWAIT]],
])("it is closed in the function that the app runs at SIGTERM: %j", async (text, place, lines) => {
  const plan = await planFor({ "app.js": `${APP}${text}\n` });
  expect(editOf(plan, "close")).toMatchObject({ file: "app.js", line: 5, place, lines });
});

test.each(["", 'process.on("SIGINT", async () => {\n});\n'])(
  "an app that does not handle SIGTERM gets a listener that ends it: %j",
  async (text) => {
    const plan = await planFor({ "app.js": `${APP}${text}` });
    expect(LINES(plan, "close")).toEqual(["app.js", 4, "above", 'process.once("SIGTERM", () => {']);
    expect(editOf(plan, "close")?.lines.join("\n")).toContain("() => process.exit(0),");
  },
);

test("an app that is not found gets the lines without a place", async () => {
  const plan = await planFor({ "app.js": "module.exports = require('./loaders');\n" });
  expect(plan.edits.map(({ file, line }) => [file, line])).toEqual(Array.from({ length: 4 }, () => [null, null]));
  const chained = await planFor({ "app.js": "const app = express()\n  .use(express.json());\n" });
  expect(LINES(chained, "mount").slice(0, 3)).toEqual([null, null, null]);
});

test.each([
  [{ "package-lock.json": "" }, "npm install signalbox", "npx"],
  [{ "pnpm-lock.yaml": "" }, "pnpm add signalbox", "pnpm exec"],
  [{ "yarn.lock": "" }, "yarn add signalbox", "yarn"],
  [{ "bun.lock": "" }, "bun add signalbox", "bunx"],
  [{}, "npm install signalbox", "npx"],
])("the commands are those of the app's package manager: %j", async (locks, install, runs) => {
  const { commands } = await planFor({ ...locks, "app.js": APP });
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
  expect(editOf(plan, "mount")?.lines.join("\n")).toContain('import("./signals/router.js").then(');
  expect(plan.notes.join("\n")).toContain("Jest");
  const typescript = await planFor({ "package.json": parts, "src/app.ts": ESM_APP });
  expect(editOf(typescript, "mount")?.lines.join("\n")).toContain('import("./signals/router").then(');
  expect(typescript.commands.test).toBe("npx tsx --test src/signals/router.check.ts");
});

test.each([
  ["that is none", { "package.json": manifest({ dependencies: {} }) }, /does not depend on express/],
  ["whose package.json is empty", { "package.json": "" }, /package\.json in .* cannot be read as JSON: fix it/],
])("an app %s is wrong usage", async (_what, files, says) => {
  await expect(planFor(files)).rejects.toMatchObject({ exitCode: EXIT.usage, message: expect.stringMatching(says) });
});

test.each(["..", "/elsewhere", "src/../../x", "it's", "$(x)", "a\u001b[2J"])(
  "--into %j is outside the app, or cannot be written into an import",
  async (into) => {
    const failing = planFor({ "app.js": APP }, { into });
    await expect(failing).rejects.toMatchObject({ exitCode: EXIT.usage, message: expect.stringContaining("--into") });
  },
);

test("a folder with a blank in its name is typed as one word", async () => {
  const { commands } = await planFor({ "app.js": APP }, { into: "my signals" });
  expect(commands.test).toBe("node --test 'my signals/router.test.js'");
});

test("--into names the folder", async () => {
  const plan = await planFor({ "src/app.js": APP }, { into: "src\\hooks/in/" });
  expect(pathsOf(plan)[0]).toBe("src/hooks/in/router.js");
  expect(LINES(plan, "import")[3]).toBe('const { signals } = require("./hooks/in/router.js");');
});

test("a file that is there is replaced only with --force", () => {
  const folder = tempFiles({ "package.json": manifest(), "app.js": APP, "signals/on-signal.js": "mine\n" });
  const refusal = {
    exitCode: EXIT.usage,
    message: expect.stringMatching(/on-signal\.js exists already: give --force/),
  };
  expect(() => planAddOn(folder)).toThrow(expect.objectContaining(refusal));
  expect(pathsOf(planAddOn(folder, { into: "hooks" }))).toHaveLength(3);
  expect(pathsOf(planAddOn(folder, { force: true }))).toHaveLength(3);
});
