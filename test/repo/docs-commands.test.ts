import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { DOCUMENTS, readDocument } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const QUICK_START = "test/package/quick-start.test.ts";
const COMMANDS = "test/package/docs-commands.test.ts";
const REPLAY = "test/repo/docs-cli.test.ts";
const OBSERVABILITY = "test/package/observability.test.ts";
const WALK_THROUGH = "test/package/emulator-walk-through.test.ts";

/** For each block of commands in the documents, by its first line: the test that types it, or why none does. */
const TYPED_BY: Readonly<Record<string, string>> = {
  "npm ci && npm run demo": "is the demo of the fresh clone, which test/cli/deliveries/demo.test.ts runs",
  "npm ci && npm test": "is this run, on the fresh clone of CI",
  "npx signalbox init ../my-receiver": "installs from the registry; test/templates makes the project with links",
  "npm install ../signalbox/signalbox-0.1.0.tgz express":
    "needs the registry; test/package-matrix types it with the packed package and with a git address",
  "export SIGNALS_BASE_URL=https://api.example/v1 SIGNALS_API_KEY=sbk_…":
    "needs the real service; test/emulator/register.test.ts does it with the emulator",
  "npm run format": "changes the files; `npm run check` looks at the same",
  "npm install signalbox express": "needs the registry; test/package-matrix types it with the packed package",
  "echo whsec_quick_start > signals.secret && chmod 600 signals.secret": QUICK_START,
  "node app.mjs": "runs until it is stopped; the quick start's test starts the file",
  "npx signalbox send traffic_breakout --url http://localhost:3000/webhooks/signals": QUICK_START,
  "body=node_modules/signalbox/fixtures/signals/traffic_breakout.json": QUICK_START,
  "npm ci && npm pack": "needs the registry, and minutes; test/package packs the same without its scripts",
  "npx signalbox init my-receiver": "installs from the registry; test/templates makes the project with links",
  "npx ./signalbox-0.1.0.tgz init trial --no-install --signalbox ./signalbox-0.1.0.tgz": "installs from the registry",
  "npx signalbox init . --template add-on": COMMANDS,
  "npx signalbox demo": COMMANDS,
  "npx signalbox replay --url http://localhost:3000/webhooks/signals": COMMANDS,
  "npx signalbox inbox discard --state quarantined --yes --db signals.db": COMMANDS,
  "npx signalbox replay --url http://localhost:3000/webhooks/signals \\": REPLAY,
  "npx signalbox replay --url http://localhost:3000/webhooks/signals --skip too-many": REPLAY,
  "npx signalbox check http://localhost:3000/webhooks/signals": COMMANDS,
  "npx signalbox check http://localhost:3000/webhooks/signals --strict --restart-command 'docker restart receiver'":
    "needs Docker; test/cli/check restarts a receiver",
  "npx signalbox doctor --url http://localhost:3000/webhooks/signals --db signals.db": COMMANDS,
  "npx signalbox dev -- node app.mjs": "runs until it is stopped; test/cli/dev.test.ts does the same in a process",
  "npx signalbox emulator --allow-loopback-http": "runs until it is stopped, on a port that may be taken",
  "export SIGNALS_BASE_URL=http://127.0.0.1:4010/v1 SIGNALS_API_KEY=sbk_…": WALK_THROUGH,
  "export SIGNALS_BASE_URL=https://api.example/v1 SIGNALS_API_KEY=…": COMMANDS,
  "sqlite3 signals.db \"VACUUM INTO 'backup.db'\"": "needs the command line of SQLite",
  "npm install @opentelemetry/api @opentelemetry/sdk-metrics @opentelemetry/exporter-prometheus": OBSERVABILITY,
  "npm install @opentelemetry/api @opentelemetry/resources @opentelemetry/context-async-hooks @opentelemetry/sdk-trace-base \\":
    OBSERVABILITY,
  "npx signalbox inbox ls --db signals.db --state dead": COMMANDS,
  "npx signalbox inbox serve --db signals.db":
    "runs until it is stopped; test/cli/inbox/inbox-serve.test.ts does the same on a free port",
  "npx signalbox inbox export --db signals.db > events.ndjson &&":
    "needs a database; test/cli/inbox/inbox-import.test.ts moves inboxes in both directions",
};

test("each block of commands in the documents is typed by a test, or has its reason above", () => {
  const blocks = DOCUMENTS.flatMap((path) => readDocument(path).blocks).filter(({ language }) => language === "sh");
  const first = new Set(blocks.map(({ code }) => code.split("\n")[0] ?? ""));
  expect([...first].filter((line) => TYPED_BY[line] === undefined)).toEqual([]);
  expect(Object.keys(TYPED_BY).filter((line) => !first.has(line))).toEqual([]);
  const tests = Object.values(TYPED_BY).filter((by) => by.endsWith(".test.ts"));
  expect(tests.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
});

test("the README's app is that of the quick start", () => {
  const [app, ...others] = readDocument("README.md").blocks.filter(({ language }) => language === "js");
  expect(others).toEqual([]);
  expect(app?.code).toBe(readDocument("docs/start.md").block("import express").code);
});
