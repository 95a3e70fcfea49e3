import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import type { AddOnPlan } from "../../../src/cli/commands/init/add-on/describe-add-on.js";
import { callCli } from "../call-cli.js";
import { runCli } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

const MANIFEST = JSON.stringify({ type: "module", dependencies: { express: "^5.0.0" } });
const APP = `import express from "express";

const app = express();
app.use(express.json());
app.listen(3000);
`;

const app = (): string => tempFiles({ "package.json": MANIFEST, "pnpm-lock.yaml": "", "src/app.js": APP });
const addOn = (folder: string, ...args: string[]): ReturnType<typeof callCli> =>
  callCli(["init", folder, "--template", "add-on", ...args]);

const PATHS = ["src/signals/router.js", "src/signals/on-signal.js", "src/signals/router.test.js"];

test("it writes new files, and prints the lines to add with file and line", async () => {
  const folder = app();
  const run = await addOn(folder, "--signalbox", "^1.2.3");
  expect(run).toMatchObject({ exitCode: 0, stderr: `wrote ${PATHS.join(", ")}\n` });
  expect(readFileSync(join(folder, "src/app.js"), "utf8")).toBe(APP);
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe(MANIFEST);
  const said = [
    `     $ cd ${relative(process.cwd(), folder)}\n`,
    "pnpm add 'signalbox@^1.2.3'",
    'src/app.js, below line 1 (import express from "express";):\n     import { signals } from',
    'src/app.js, above line 4 (app.use(express.json());):\n     app.use("/webhooks/signals", signals.router);',
    "src/app.js, above line 5 (app.listen(3000);):\n     signals.start()",
    "SIGNALS_SECRET_FILE=signals.secret",
    "node --test src/signals/router.test.js",
    "pnpm exec signalbox send",
    "pnpm exec signalbox register",
    "*.secret to .gitignore",
  ];
  let from = 0;
  for (const words of said) {
    const at = run.stdout.indexOf(words, from);
    expect(at, words).toBeGreaterThanOrEqual(from);
    from = at;
  }
});

test("--json is one document: what was written, and the lines to add", async () => {
  const folder = app();
  const run = await addOn(folder, "--json", "--package-manager", "yarn", "--into", "src/hooks");
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(run.lines).toHaveLength(1);
  const document = JSON.parse(run.stdout) as Omit<AddOnPlan, "files">;
  expect(document).toMatchObject({
    template: "add-on",
    directory: folder,
    files: PATHS.map((path) => path.replace("signals", "hooks")),
    replaced: [],
    app: { language: "javascript", modules: "esm", testRunner: "node", packageManager: "yarn" },
    environment: [{ name: "SIGNALS_DB" }, { name: "SIGNALS_SECRET_FILE" }],
  });
  expect(document.edits).toContainEqual({
    purpose: "mount",
    file: "src/app.js",
    line: 4,
    place: "above",
    at: "app.use(express.json());",
    lines: ['app.use("/webhooks/signals", signals.router);'],
  });
  expect(document.commands.install).toEqual([expect.stringMatching(/^yarn add /)]);
});

test("without DIR it takes the current folder, and asks nothing", async () => {
  const folder = app();
  const run = await runCli(["init", "--template", "add-on", "--json"], { cwd: folder });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(run.stdout)).toMatchObject({ directory: realpathSync(folder) });
});

test("what stands in a user's file steers no terminal; tabs stay", async () => {
  const text =
    'import express from "express"; // \u001b[2J\nfunction main() {\n\tconst app = express();\n\tapp.listen(1);\n}\n';
  const run = await addOn(tempFiles({ "package.json": MANIFEST, "app.js": text }));
  expect(run.stdout).not.toContain("\u001b");
  expect(run.stdout).toContain(String.raw`// \u001b[2J)`);
  expect(run.stdout).toContain('     \tapp.use("/webhooks/signals", signals.router);');
});

test.each<[args: string[], says: RegExp]>([
  [["--template", "add-on"], /there is no package\.json in .*: name the folder of your Express app/],
  [["--template", "express", "--into", "src"], /--into needs --template add-on/],
])("wrong use is one line, and writes nothing: %j", async (args, says) => {
  const folder = join(tempFiles(), "app");
  const run = await callCli(["init", folder, ...args]);
  expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  expect(run.stderr).toMatch(says);
  expect(run.stderr).toMatch(/^signalbox init: .+\n$/);
  expect(existsSync(folder)).toBe(false);
});
