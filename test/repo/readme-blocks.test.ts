import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readMarkdown } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const README = readMarkdown(readFileSync(`${ROOT}README.md`, "utf8"));

/**
 * Every block of code in the README, and the test that runs it. All of JavaScript and TypeScript is also type-checked
 * (docs.test.ts), and all flags of commands are looked up (docs-cli.test.ts).
 */
const BLOCKS: readonly (readonly [heading: string, holding: string, test: string])[] = [
  [
    "Quick start",
    "npm install signalbox",
    "NOT RUN: asks the registry; install() in test/package does the same offline",
  ],
  ["Quick start", "onlyBuiltDependencies", "test/package-matrix/package-managers.test.ts"],
  ["Quick start", "resolutions", "test/package-matrix/package-managers.test.ts"],
  ["Quick start", "trustedDependencies", "test/package-matrix/package-managers.test.ts"],
  ["Quick start", 'import express from "express"', "test/package/quick-start.test.ts"],
  ["Quick start", "node app.js", "NOT RUN: the test starts the block before with the same variable"],
  ["Quick start", "npx signalbox send", "test/package/quick-start.test.ts"],
  ["Quick start", "openssl dgst", "test/package/quick-start.test.ts"],
  ["Quick start", 'require("express")', "test/package/quick-start.test.ts"],
  ["Start a new receiver", "init my-receiver", "test/templates/express.test.ts"],
  ["Start a new receiver", "init trial", "test/cli/init.test.ts"],
  ["Add it to an app you have", "--template add-on", "test/templates/add-on.test.ts"],
  ["Three commands to know", "npx signalbox demo", "test/package/readme-commands.test.ts"],
  ["Three commands to know", "SIGNALS_SECRET=whsec_quick_start", "test/package/readme-commands.test.ts"],
  ["Three commands to know", "npx signalbox inbox discard", "test/package/readme-commands.test.ts"],
  ["Three commands to know", "--skip json-null", "test/repo/docs-cli.test.ts"],
  ["Three commands to know", "signals --skip too-many", "test/repo/docs-cli.test.ts"],
  ["A receiver in another language", "SIGNALS_SECRET=whsec_quick_start", "test/cli/check/node-receivers.test.ts"],
  ["A receiver in another language", "--junit check.xml", "test/cli/check/node-receivers.test.ts"],
  ["Register it at the service", "npx signalbox register", "test/package/readme-commands.test.ts"],
  ["What is wrong: `doctor`", "npx signalbox doctor", "test/cli/doctor.test.ts"],
  ["What is wrong: `doctor`", "This installation", "NOT RUN: an example of what it prints"],
  ["In an app that has `express.json()` first", "captureRawBody", "test/package/readme-blocks.test.ts"],
  ["In an app that has `express.json()` first", "express.raw(", "test/package/readme-blocks.test.ts"],
  ["On `node:http`", "nodeHandler", "test/package/readme-blocks.test.ts"],
  ["In any other framework", "async function receive(", "test/package/readme-blocks.test.ts"],
  ["Handing off", "https://queue.example/jobs", "test/package/readme-blocks.test.ts"],
  ["Handing off", "npx signalbox inbox ls", "test/package/readme-commands.test.ts"],
  ["BullMQ", "queue.add(", "test/repo/recipes.test.ts"],
  ["pg-boss", "boss.send(", "test/repo/recipes.test.ts"],
  ["RabbitMQ", "channel.publish(", "test/repo/recipes.test.ts"],
  ["NATS JetStream", "stream.publish(", "test/repo/recipes.test.ts"],
  ["Kafka", "producer.send(", "test/package/readme-blocks.test.ts"],
  ["Amazon SQS", "SendMessageCommand", "test/package/readme-blocks.test.ts"],
  ["One effect for each signal", "CREATE TABLE", "test/repo/recipes.test.ts"],
  ["One effect for each signal", "handleOnce", "test/repo/recipes.test.ts"],
  ["Running it", "/ready", "test/package/readme-blocks.test.ts"],
  ["Running it", "process.once(", "test/package/readme-blocks.test.ts"],
  ["Secrets", "secretFile(", "test/package/readme-blocks.test.ts"],
  ["Secrets", "SIGNALS_SECRET_NEXT", "test/repo/docs.test.ts"],
  ["Calling the service", "createClient({", "test/package/client-examples.test.ts"],
  ["Calling the service", "client.startInvestigation(", "test/package/client-examples.test.ts"],
  ["Calling the service", "client.registerWebhook(", "test/package/client-examples.test.ts"],
  ["When a call fails", "isClientError(error)", "test/package/client-examples.test.ts"],
  ["Testing your handler", "a price rise becomes an alert", "test/package/testing-examples.test.ts"],
  ["Testing your handler", "is given up", "test/package/testing-examples.test.ts"],
  ["Testing your handler", "is tried again", "test/package/testing-examples.test.ts"],
  ["Testing your handler", "a_type_of_next_year", "test/package/testing-examples.test.ts"],
  ["Testing your handler", "whsec_of_somebody_else", "test/package/testing-examples.test.ts"],
  ["The emulator", "npx signalbox emulator", "test/cli/emulator.test.ts"],
  ["The emulator", "createEmulator", "test/package/emulator-example.test.ts"],
  ["A receiver and the emulator", "npx signalbox emulator", "test/package/emulator-walk-through.test.ts"],
  ["A receiver and the emulator", "secretFile(", "test/package/emulator-walk-through.test.ts"],
  ["A receiver and the emulator", "npx signalbox register", "test/package/emulator-walk-through.test.ts"],
  ["An investigation in a test", "waitForInvestigation", "test/package/emulator-example.test.ts"],
];

const isRow = (heading: string, code: string) => (row: readonly string[]) =>
  row[0] === heading && code.includes(row[1] ?? "");

test("each block of code in the README has a test that runs it, or a reason why none does", () => {
  const listed = README.blocks.map(({ heading, code, line }) => ({
    block: `README.md:${line} under "${heading}"`,
    rows: BLOCKS.filter(isRow(heading, code)).length,
  }));
  expect(listed.filter(({ rows }) => rows !== 1)).toEqual([]);
  expect(listed).toHaveLength(BLOCKS.length);
});

test("each of these tests is there", () => {
  const paths = BLOCKS.map(([, , path]) => path).filter((path) => !path.startsWith("NOT RUN: "));
  expect(paths.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
});

test("each block of code is in a language that some test reads, or is what a command prints", () => {
  const languages = new Set(README.blocks.map(({ language }) => language));
  expect(
    [...languages].filter((language) => !["js", "json", "sh", "sql", "text", "ts", "yaml"].includes(language)),
  ).toEqual([]);
});
