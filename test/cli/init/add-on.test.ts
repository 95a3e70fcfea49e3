import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callCli } from "../call-cli.js";
import { runCli } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

const APP = `import express from "express";

const app = express();
app.use(express.json());
app.listen(process.env.PORT ?? 4000);
`;
const REQUIRING = APP.replace(
  'import express from "express"',
  'const express = require("express")',
);

const manifest = (parts: object = {}): string =>
  JSON.stringify({ dependencies: { express: "^5.0.0" }, ...parts });
const ESM = manifest({ type: "module" });

interface Edit {
  purpose: string;
  place: { file: string; line: number; at: string } | null;
  lines: string[];
}

/**
 * Runs `init --template add-on` in an app of these files. Nothing of it is written into another
 * folder.
 */
async function addTo(files: Record<string, string>, ...args: string[]) {
  const folder = tempFiles({ "package.json": manifest(), ...files });
  const run = await callCli([
    "init",
    folder,
    "--template",
    "add-on",
    "--signalbox",
    "^1.2.3",
    "--json",
    ...args,
  ]);
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  const made = JSON.parse(run.stdout) as {
    files: string[];
    edits: Edit[];
    nextSteps: string[];
    replaced: string[];
  };
  const steps = made.nextSteps.join("\n");
  const mount = made.edits.find(({ lines }) => lines[0]?.includes(".use("));
  return {
    ...made,
    steps,
    mount,
    read: (path: string) => readFileSync(join(folder, path), "utf8"),
  };
}

test("it writes new files, changes no other, and prints what to add and to type, in this order", async () => {
  const folder = tempFiles({ "package.json": ESM, "pnpm-lock.yaml": "", "src/app.js": APP });
  const run = await callCli(["init", folder, "--template", "add-on", "--signalbox", "^1.2.3"]);
  const paths = ["on-signal.js", "store.js", "router.test.js"].map((name) => `src/signals/${name}`);
  expect(run).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^wrote src\/signals\/router\.js/),
  });
  for (const path of paths) expect(run.stderr).toContain(path);
  expect(readFileSync(join(folder, "src/app.js"), "utf8")).toBe(APP);
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe(ESM);
  const said = [
    "$ cd ",
    "$ pnpm add 'signalbox@^1.2.3'",
    'import { signals } from "./signals/router.js";',
    "below line 3 (const app = express();) of src/app.js:",
    'app.use("/webhooks/signals", signals.router);',
    "signals.start().catch(",
    'process.once("SIGTERM", () => {',
    "$ node --test src/signals/router.test.js",
    "$ pnpm exec signalbox send traffic_breakout --url http://localhost:4000/webhooks/signals",
    "$ pnpm exec signalbox register",
    "*.secret",
  ];
  const places = said.map((words) => run.stdout.indexOf(words));
  expect(places).not.toContain(-1);
  expect(places.toSorted((a, b) => a - b)).toEqual(places);
});

test("without DIR it takes the current folder, and asks nothing", async () => {
  const folder = tempFiles({ "package.json": ESM, "app.js": APP });
  const run = await runCli(["init", "--template", "add-on", "--json"], { cwd: folder });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(run.stdout)).toMatchObject({
    directory: realpathSync(folder),
    template: "add-on",
  });
});

test.each([
  ["two apps", { "app.js": `${APP}export const admin = express();\n` }],
  ["two files with one", { "app.js": APP, "admin.js": APP }],
  ["calls that follow", { "app.js": "export const app = express()\n  .use(express.json());\n" }],
  ["a line with more in it", { "app.js": "const app = express(), port = 1;\n" }],
  ["none", { "app.js": "export * from './loaders.js';\n" }],
])("where there is a doubt no line is named: %s", async (_what, files) => {
  const { mount, steps } = await addTo({ "package.json": ESM, ...files });
  expect(mount).toMatchObject({
    place: null,
    lines: ['app.use("/webhooks/signals", signals.router);'],
  });
  expect(steps).toContain("below the line that makes your app:");
});

test("the variable is the app's own, and comments make no app", async () => {
  const text =
    "// const old = express();\nclass Http {\n  constructor() {\n    this.server = express();\n  }\n}\n";
  const { mount } = await addTo({ "src/http.js": text });
  expect(mount).toMatchObject({
    place: { file: "src/http.js", line: 4, at: "this.server = express();" },
    lines: ['this.server.use("/webhooks/signals", signals.router);'],
  });
});

test("a function that runs at SIGTERM closes the receiver; no second listener is added", async () => {
  const { steps } = await addTo({
    "app.js": REQUIRING,
    "stop.js": 'process.on("SIGTERM", stop);\n',
  });
  expect(steps).toContain("await signals.close();");
  expect(steps).not.toContain("process.once");
});

test.each<[what: string, files: Record<string, string>, test: string]>([
  ["beside its sources", { "app.test.js": "" }, "signals/router.test.js"],
  ["with another name", { "app.spec.js": "" }, "signals/router.spec.js"],
  ["in a folder", { "test/app.test.js": "" }, "test/signals.test.js"],
  ["in a folder, by no name", { "test/app.js": "" }, "test/signals.js"],
  ["in a folder without one", { "test/.gitkeep": "" }, "test/signals.test.js"],
  ["nowhere", {}, "signals/router.test.js"],
])("its test is where the app has its tests: %s", async (_what, files, path) => {
  const { files: written, read, steps } = await addTo({ "app.js": REQUIRING, ...files });
  expect(written).toContain(path);
  expect(read(path)).toContain(
    path.startsWith("test/") ? 'require("../signals/router.js")' : 'require("./router.js")',
  );
  expect(steps).toContain(`$ node --test ${path}`);
});

test.each<[what: string, files: Record<string, string>, send: string]>([
  ["in .env", { ".env": "PORT=5000\n", "app.js": APP }, "localhost:5000"],
  [
    "in .env, as a shell reads it",
    { ".env": "export PORT = 5000\n", "app.js": APP },
    "localhost:5000",
  ],
  ["by default", { "app.js": APP }, "localhost:4000"],
  ["as a number", { "app.js": APP.replace("process.env.PORT ?? 4000", "6000") }, "localhost:6000"],
  [
    "by its name",
    { "app.js": `const port = 6000;\n${APP.replace("process.env.PORT ?? 4000", "port")}` },
    "localhost:6000",
  ],
  ["unknown", { "app.js": APP.replace(" ?? 4000", "") }, "; use its port:"],
])("the port is the app's: %s", async (_what, files, send) => {
  expect((await addTo({ "package.json": ESM, ...files })).steps).toContain(send);
});

test("where import() resolves as an ES module, its lines name the extension, also in CommonJS", async () => {
  const tsconfig = '{ "compilerOptions": { "module": "nodenext" } }';
  const files = {
    "package.json": manifest({ scripts: { test: "jest" } }),
    "tsconfig.json": tsconfig,
    "app.ts": APP,
  };
  expect((await addTo(files)).steps).toContain('import("./signals/router.js")');
});

test.each<
  [what: string, files: Record<string, string>, router: string, holds: string, lacks: RegExp]
>([
  [
    "CommonJS",
    { "app.js": REQUIRING },
    "signals/router.js",
    "module.exports = { createSignals, signals };",
    /^import|^export/m,
  ],
  [
    "JavaScript with imports",
    { "app.js": APP },
    "signals/router.js",
    'from "./store.js"',
    /require\(|ReceiverOptions/,
  ],
  [
    "modules by their ending",
    { "app.mjs": APP },
    "signals/router.mjs",
    'from "./store.mjs"',
    /require\(/,
  ],
  [
    "TypeScript",
    { "src/app.ts": APP },
    "src/signals/router.ts",
    "options: ReceiverOptions",
    /\.js"/,
  ],
  [
    "TypeScript modules",
    { "package.json": ESM, "src/app.ts": APP },
    "src/signals/router.ts",
    'from "./store.js"',
    /require\(/,
  ],
])(
  "the files are in the app's language and module system: %s",
  async (_what, files, router, holds, lacks) => {
    const { files: written, read } = await addTo(files);
    expect(written).toContain(router);
    expect(read(router)).toContain(holds);
    expect(read(router)).not.toMatch(lacks);
  },
);

test.each<[script: string, holds: RegExp, command: string]>([
  ["vitest run", /^import \{ it \} from "vitest";$/m, "npx vitest run signals/router.test.js"],
  ["mocha", /^it\("a signed signal/m, "npx mocha signals/router.test.js"],
  [
    "node --test",
    /^const \{ it \} = require\("node:test"\);$/m,
    "node --test signals/router.test.js",
  ],
])("the test is one of the app's runner: %s", async (script, holds, command) => {
  const { read, steps } = await addTo({
    "package.json": manifest({ scripts: { test: script } }),
    "app.js": REQUIRING,
  });
  expect(read("signals/router.test.js")).toMatch(holds);
  expect(steps).toContain(`$ ${command}\n`);
});

test("Jest in CommonJS loads no ES module: signalbox is loaded when it is used, and tested by Node", async () => {
  const { edits, files, steps } = await addTo({
    "package.json": manifest({ scripts: { test: "jest" } }),
    "app.js": REQUIRING,
  });
  expect(files).toContain("signals/router.check.js");
  expect(steps).toContain("$ node --test signals/router.check.js");
  for (const { lines } of edits)
    expect(lines.join()).toContain('import("./signals/router.js").then(');
});

test("--store postgres takes the app's database, and installs pg", async () => {
  const { read, steps } = await addTo({ "app.js": REQUIRING }, "--store", "postgres");
  expect(read("signals/store.js")).toContain("postgresStore({ connectionString })");
  expect(steps).toContain("$ npm install 'signalbox@^1.2.3' pg");
  expect(steps).toContain("Start the app with your database as DATABASE_URL");
  expect(steps).not.toContain("signals.db");
});

test.each([
  ["github", "githubReceiver", "github()", ""],
  [
    "twilio",
    "twilioReceiver",
    "twilio({ publicUrl: PUBLIC_URL })",
    " --public-url http://localhost:4000/webhooks/twilio",
  ],
])(
  "--sender %s: all is of the sender, and no type is left",
  async (name, receiver, made, sends) => {
    const files = { "package.json": ESM, "app.js": APP };
    const { files: written, read, mount, steps } = await addTo(files, "--sender", name);
    const names = ["router", "on-event", "store", "router.test"];
    expect(written).toEqual(names.map((each) => `${name}/${each}.js`));
    expect(mount?.lines).toEqual([`app.use("/webhooks/${name}", ${receiver}.router);`]);
    expect(steps).toContain(`import { ${receiver} } from "./${name}/router.js";`);
    expect(steps).toContain(
      `signalbox send sample --sender ${name} --secret-file ${name}.secret${sends} --url http`,
    );
    expect(read(`${name}/router.js`)).toContain(`sender: ${made},\n    endpoint: "${name}",`);
    const all = written.map(read).join("\n");
    expect(all).not.toMatch(/\bsignals?\b|onSignal|\{\{|__\w+__|\btype \w+ =|: string\b/i);
  },
);

test("--into names the folder, and a file that is there is replaced only with --force", async () => {
  const files = { "app.js": REQUIRING, "my hooks/on-signal.js": "mine\n" };
  const { replaced, steps } = await addTo(files, "--into", "my hooks/", "--force");
  expect(replaced).toEqual(["my hooks/on-signal.js"]);
  expect(steps).toContain("$ node --test 'my hooks/router.test.js'");
  const folder = tempFiles({ "package.json": manifest(), ...files });
  const run = await callCli(["init", folder, "--template", "add-on", "--into", "my hooks"]);
  expect(run).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("on-signal.js exists already: give --force"),
  });
  expect(existsSync(join(folder, "my hooks/router.js"))).toBe(false);
});

test("what stands in a user's file steers no terminal", async () => {
  const text =
    "const \u001b[2J = 1;\nexport const app: \u001b = express();\nconst app = express();\n";
  const folder = tempFiles({
    "package.json": manifest(),
    "\u001b[2J.js": text.split("\n")[2] ?? "",
  });
  const run = await callCli(["init", folder, "--template", "add-on"]);
  expect(run.exitCode).toBe(0);
  expect(run.stdout + run.stderr).not.toContain("\u001b");
});

test.each<[files: Record<string, string>, args: string[], says: string]>([
  [{}, ["--template", "add-on"], "there is no package.json that can be read in"],
  [
    { "package.json": "{" },
    ["--template", "add-on"],
    "there is no package.json that can be read in",
  ],
  [{ "package.json": "{}" }, ["--template", "add-on"], "does not depend on express"],
  [
    { "package.json": manifest() },
    ["--template", "add-on", "--into", "src/../../x"],
    "name a folder inside the app",
  ],
  [
    { "package.json": manifest() },
    ["--template", "add-on", "--into", "it's"],
    "name a folder inside the app",
  ],
  [{}, ["--template", "express", "--into", "src"], "--into needs --template add-on"],
])("wrong use is one line: %j %j", async (files, args, says) => {
  const run = await callCli(["init", tempFiles(files), ...args]);
  expect(run).toMatchObject({
    exitCode: 2,
    stdout: "",
    stderr: expect.stringMatching(/^signalbox init: .+\n$/),
  });
  expect(run.stderr).toContain(says);
});
