/** An Express app of a user. Those in TypeScript have a test of their own. */
export interface FixtureApp {
  name: string;
  files: Readonly<Record<string, string>>;
  /** What is installed beside signalbox: name → what stands under it in this repository. */
  packages: Readonly<Record<string, string>>;
  /** Arguments of node, run from the app's folder, before its tests: a build. */
  build: readonly (readonly string[])[];
  /** Runs all of the app's tests; the add-on's is among them. */
  test: readonly string[];
  start: readonly string[];
  /** Where the new files must be. */
  added: readonly string[];
}

const TSC = ["node_modules/typescript/bin/tsc", "-p", "."];
const VITEST = ["node_modules/vitest/vitest.mjs", "run", "--reporter=verbose"];
const COMPILED = { typescript: "typescript", "@types/express": "@types/express", "@types/node": "@types/node" };

const manifest = (parts: object): string => JSON.stringify({ private: true, version: "1.0.0", ...parts }, null, 2);

/** The strictest that people set. */
export const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  isolatedModules: true,
  skipLibCheck: true,
};

const typescriptEsm: FixtureApp = {
  name: "TypeScript, ES modules, Express 5, vitest; express.json() first",
  files: {
    "package.json": manifest({
      type: "module",
      scripts: { build: "tsc -p .", start: "node dist/server.js", test: "vitest run" },
      dependencies: { express: "^5.0.0" },
      devDependencies: { "@types/express": "^5.0.0", "@types/node": "^20.0.0", typescript: "~6.0.0", vitest: "^4.0.0" },
    }),
    "tsconfig.json": `{
      // As most write it, with comments and a trailing comma.
      "compilerOptions": {
        "module": "nodenext", "target": "es2023", "rootDir": "src", "outDir": "dist", "types": ["node"],
        "verbatimModuleSyntax": true, ${JSON.stringify(STRICT).slice(1, -1)},
      },
      "include": ["src"],
    }`,
    "src/app.ts": `import express from "express";
import { greet } from "./greet.js";

export const app = express();
// app.use(express.text());
app.use(express.json());

app.post("/greetings", (request, response) => {
  const { name } = request.body as { name: string };
  response.json({ greeting: greet(name) });
});
`,
    "src/greet.ts": `export const greet = (name: string): string => \`Hello, \${name}\`;\n`,
    "src/server.ts": `import { app } from "./app.js";

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log("listening", JSON.stringify(server.address()));
});
`,
    "src/app.test.ts": `import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { app } from "./app.js";

test("it greets", async () => {
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ name: "Ada" });
  const response = await fetch(\`http://127.0.0.1:\${port}/greetings\`, { method: "POST", headers, body });
  expect(await response.json()).toEqual({ greeting: "Hello, Ada" });
  server.close();
});
`,
    "vitest.config.js": `export default { test: { include: ["src/**/*.test.ts"] } };\n`,
  },
  packages: { ...COMPILED, express: "express", vitest: "vitest" },
  build: [TSC],
  test: VITEST,
  start: ["dist/server.js"],
  added: ["src/signals/router.ts", "src/signals/on-signal.ts", "src/signals/router.test.ts"],
};

const typescriptCommonJs: FixtureApp = {
  name: "TypeScript to CommonJS, Express 5, node:test; one file",
  files: {
    "package.json": manifest({
      scripts: { build: "tsc -p .", start: "node dist/index.js", test: "tsc -p . && node --test dist/*.test.js" },
      dependencies: { express: "^5.0.0" },
      devDependencies: { "@types/express": "^5.0.0", "@types/node": "^20.0.0", typescript: "~6.0.0" },
    }),
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        module: "CommonJS",
        target: "es2022",
        rootDir: "src",
        outDir: "dist",
        types: ["node"],
        esModuleInterop: true,
        ...STRICT,
      },
      include: ["src"],
    }),
    "src/index.ts": `import express from "express";
import { greet } from "./greet";

export const app = express();

app.use(
  express.json({ limit: "1mb" }),
);

app.post("/greetings", (request, response) => {
  const { name } = request.body as { name: string };
  response.json({ greeting: greet(name) });
});

if (require.main === module) {
  const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
    console.log("listening", JSON.stringify(server.address()));
  });
}
`,
    "src/greet.ts": `export const greet = (name: string): string => \`Hello, \${name}\`;\n`,
    "src/greet.test.ts": `import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "./index";
import { greet } from "./greet";

void test("it greets", () => {
  assert.equal(typeof app, "function");
  assert.equal(greet("Ada"), "Hello, Ada");
});
`,
  },
  packages: { ...COMPILED, express: "express" },
  build: [TSC],
  test: ["--test", "dist/greet.test.js", "dist/signals/router.test.js"],
  start: ["dist/index.js"],
  added: ["src/signals/router.ts", "src/signals/on-signal.ts", "src/signals/router.test.ts"],
};

const javascriptEsm: FixtureApp = {
  name: "JavaScript, ES modules, Express 5, node:test; made by a function, stopped by one that is not async",
  files: {
    "package.json": manifest({
      type: "module",
      scripts: { start: "node src/main.js", test: "node --test" },
      dependencies: { express: "^5.0.0" },
    }),
    "src/create-app.js": `import { json } from "express";
import express from "express";

export function createApp() {
  const app = express();
  app.disable("x-powered-by");
  app.use(json());
  app.post("/greetings", (request, response) => {
    response.json({ greeting: \`Hello, \${request.body.name}\` });
  });
  return app;
}
`,
    "src/main.js": `import { createServer } from "node:http";
import { createApp } from "./create-app.js";

const server = createServer(createApp());

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log("listening", JSON.stringify(server.address()));
});

const stop = () => {
  server.close();
  server.closeIdleConnections();
};
process.on("SIGTERM", stop);
process.on("SIGINT", () => stop());
`,
  },
  packages: { express: "express" },
  build: [],
  test: ["--test"],
  start: ["src/main.js"],
  added: ["src/signals/router.js", "src/signals/on-signal.js", "src/signals/router.test.js"],
};

const javascriptCommonJs: FixtureApp = {
  name: "JavaScript, CommonJS, Express 4, node:test; as express-generator makes it, with a shutdown of its own",
  files: {
    "package.json": manifest({
      scripts: { start: "node ./bin/www", test: "node --test" },
      dependencies: { express: "~4.18.0", "body-parser": "^1.20.0" },
    }),
    "app.js": `"use strict";

var express = require("express");
var bodyParser = require("body-parser");
const { greet } = require("./routes/greet");

var app = express();

app.use(bodyParser.urlencoded({ extended: false }));
app.use(bodyParser.json());
app.post("/greetings", greet);

module.exports = app;
`,
    "routes/greet.js": `exports.greet = (req, res) => {
  res.json({ greeting: \`Hello, \${req.body.name}\` });
};
`,
    "bin/www": `#!/usr/bin/env node

const app = require("../app");
const http = require("http");

const server = http.createServer(app);
server.listen(process.env.PORT || 3000, "127.0.0.1");
server.on("listening", () => console.log("listening", JSON.stringify(server.address())));

process.on("SIGTERM", async () => {
  server.close();
  server.closeIdleConnections();
});
`,
  },
  packages: { express: "express4", "body-parser": "body-parser" },
  build: [],
  test: ["--test"],
  start: ["bin/www"],
  added: ["signals/router.js", "signals/on-signal.js", "signals/router.test.js"],
};

export const FIXTURE_APPS: readonly FixtureApp[] = [
  typescriptEsm,
  typescriptCommonJs,
  javascriptEsm,
  javascriptCommonJs,
];
