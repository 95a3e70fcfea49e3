import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { format } from "prettier";
import { expect, test, vi } from "vitest";
import { install } from "../package/installed.js";
import { start } from "./commands.js";

// Compilers and servers, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const TSC = ["node_modules/typescript/bin/tsc", "-p", "."];
/** The strictest that people set. */
const COMPILER_OPTIONS = {
  ...{ module: "nodenext", target: "es2023", rootDir: "src", outDir: "dist", types: ["node"] },
  ...{
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noImplicitReturns: true,
  },
  ...{
    noUnusedLocals: true,
    noUnusedParameters: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
  },
};

const greeting =
  "(request, response) => response.json({ greeting: `Hello, ${request.body.name}` })";
const listening = '() => console.log("listening", JSON.stringify(server.address()))';

/**
 * Apps of users: what is in them, what stands in `node_modules`, and how each is built, tested and
 * started.
 */
const APPS = [
  {
    name: "TypeScript, ES modules, Express 5, vitest, a file for the server",
    files: {
      "package.json": JSON.stringify({
        type: "module",
        scripts: { test: "vitest" },
        dependencies: { express: "^5" },
      }),
      "tsconfig.json": JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["src"] }),
      "src/app.ts": `import express from "express";\n\nexport const app = express();\napp.use(express.json());\napp.post("/greetings", ${greeting});\n`,
      "src/server.ts": `import { app } from "./app.js";\n\nconst server = app.listen(Number(process.env["PORT"] ?? 3000), ${listening});\n`,
      "src/app.test.ts": "",
    },
    packages: ["typescript", "@types/express", "@types/node", "express", "vitest"].map((name) => [
      name,
      name,
    ]),
    build: [TSC],
    test: ["node_modules/vitest/vitest.mjs", "run", "--reporter=verbose", "src/signals"],
    start: ["dist/server.js"],
    created: "src/app.ts",
    startedIn: "src/server.ts",
  },
  {
    name: "JavaScript, CommonJS, Express 4, node:test in a folder of its own, a shutdown of its own",
    files: {
      "package.json": JSON.stringify({
        scripts: { test: "node --test" },
        dependencies: { express: "^4" },
      }),
      "app.js": `"use strict";\n\nconst express = require("express");\n\nconst app = express();\napp.use(express.json());\napp.post("/greetings", ${greeting});\n\nconst server = app.listen(process.env.PORT || 3000, ${listening});\n\nprocess.on("SIGTERM", async () => {\n  server.close();\n  server.closeIdleConnections();\n});\n`,
      "test/app.test.js": "",
    },
    packages: [["express", "express4"]],
    build: [],
    test: ["--test", "test/"],
    start: ["app.js"],
    created: "app.js",
    startedIn: "app.js",
  },
];

interface Made {
  files: string[];
  edits: { place: { line: number } | null; lines: string[] }[];
}

test.each(APPS)("what is written and printed works in an app: $name", async (app) => {
  const folder = install(Object.fromEntries(app.packages) as Record<string, string>);
  for (const [path, content] of Object.entries(app.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const signalbox = join(folder, "node_modules/signalbox/dist/cli/main.js");
  const node = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: folder });
  const { stdout } = await node(signalbox, "init", ".", "--template", "add-on", "--json");
  const { files, edits } = JSON.parse(stdout) as Made;
  for (const path of files) {
    const content = readFileSync(join(folder, path), "utf8");
    for (const printWidth of [80, 120])
      expect(await format(content, { filepath: path, printWidth })).toBe(content);
  }

  // As a developer does it by hand: the mount where it says, the start where the app listens, the
  // end in its own function.
  const [imported, mount, started, closed] = edits.map(({ lines }) => lines.join("\n"));
  const edit = (path: string, change: (text: string) => string): void =>
    writeFileSync(join(folder, path), change(readFileSync(join(folder, path), "utf8")));
  edit(app.created, (text) =>
    text
      .split("\n")
      .toSpliced(edits[1]?.place?.line ?? 0, 0, mount ?? "")
      .join("\n"),
  );
  edit(app.created, (text) => text.replace(/^.*["']express["'].*$/m, `$&\n${imported}`));
  if (app.startedIn !== app.created) edit(app.startedIn, (text) => `${imported}\n${text}`);
  edit(app.startedIn, (text) => text.replace(/^const server/m, `${started}\n$&`));
  if (closed?.startsWith("process.once") === true)
    edit(app.startedIn, (text) => `${text}${closed}\n`);
  else edit(app.startedIn, (text) => text.replace("server.close();", `$&\n${closed}`));

  for (const build of app.build) await node(...build);
  expect((await node(...app.test)).stdout).toContain("a signed signal is handed to onSignal, once");
  writeFileSync(join(folder, "signals.secret"), "whsec_of_this_test\n");
  const server = start(folder, process.execPath, app.start, { PORT: "0" });
  const [line = ""] = await server.linesWith(/^listening/);
  const { port } = JSON.parse(line.slice("listening ".length)) as { port: number };
  await server.linesWith(/receiver started/);
  const url = `http://127.0.0.1:${port}`;
  const sent = await node(signalbox, "send", "price_increased", "--url", `${url}/webhooks/signals`);
  expect(sent.stdout).toContain("200");
  await server.linesWith(/"signalType":"price_increased"/);
  // The parser of the app still works for the rest of it.
  const headers = { "Content-Type": "application/json" };
  const greeted = await fetch(`${url}/greetings`, {
    method: "POST",
    headers,
    body: '{"name":"Ada"}',
  });
  expect(await greeted.json()).toEqual({ greeting: "Hello, Ada" });
  expect(await server.stop()).toBe(0);
  const inbox = await node(signalbox, "inbox", "stats", "--db", "signals.db", "--json");
  expect(JSON.parse(inbox.stdout)).toMatchObject({ done: 1 });
});

test("--sender github: the written files are formatted, and the written test passes", async () => {
  const folder = install({ express: "express" });
  const app = 'import express from "express";\n\nexport const app = express();\n';
  const dependencies = { express: "^5" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", dependencies }));
  writeFileSync(join(folder, "app.js"), app);
  const node = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: folder });
  const init = "init . --template add-on --sender github --json".split(" ");
  const { stdout } = await node("node_modules/signalbox/dist/cli/main.js", ...init);
  const { files } = JSON.parse(stdout) as Made;
  for (const path of files) {
    const content = readFileSync(join(folder, path), "utf8");
    for (const printWidth of [80, 120])
      expect(await format(content, { filepath: path, printWidth })).toBe(content);
  }
  expect((await node("--test", "github/router.test.js")).stdout).toMatch(/pass 2\b/);
});
