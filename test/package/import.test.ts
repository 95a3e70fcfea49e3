import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { install, manifestOf } from "./installed.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** What is fixed in the public interface. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  signalbox: [
    "createReceiver",
    "verifySignature",
    "signBody",
    "parseEvent",
    "captureRawBody",
    "SIGNATURE_HEADER",
    "SIGNAL_TYPES",
    "isKnownSignalType",
    "SignalboxError",
    "isSignalboxError",
    "PermanentFailure",
    "RetryLater",
  ],
  "signalbox/express": ["expressHandler"],
  "signalbox/node": ["nodeHandler"],
  "signalbox/fetch": ["fetchHandler"],
  "signalbox/fastify": ["fastifyPlugin"],
  "signalbox/stores/sqlite": ["sqliteStore"],
  "signalbox/stores/postgres": ["postgresStore"],
  "signalbox/stores/memory": ["memoryStore"],
  "signalbox/client": [
    "createClient",
    "ClientError",
    "isClientError",
    "SignalboxError",
    "isSignalboxError",
  ],
  "signalbox/emulator": ["createEmulator"],
  "signalbox/inbox-page": ["inboxPage"],
  "signalbox/opentelemetry": ["openTelemetry"],
  "signalbox/testing": [
    "signedDelivery",
    "signalEvent",
    "testEvent",
    "verificationEvent",
    "testReceiver",
    "waitForEvent",
    "createManualClock",
  ],
};

/**
 * Runs to its own end, and rejects when it does not come to one. Gives what was printed, as JSON.
 */
async function run(folder: string, type: "module" | "commonjs", code: string): Promise<unknown> {
  const options = { cwd: folder, timeout: 15_000, killSignal: "SIGKILL" as const };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [`--input-type=${type}`, "-e", code],
    options,
  );
  // Not a warning either: the host never notices that we are there.
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

function entriesOf(folder: string): string[] {
  const { exports } = manifestOf(join(folder, "node_modules/signalbox"));
  const paths = Object.keys(exports).filter((path) => !path.endsWith(".json"));
  return paths.map((path) => path.replace(".", "signalbox"));
}

test("every entry point can be imported and required, has its names, and the process ends by itself", async () => {
  // The emulator is a server of its own: it needs Express, which npm installs beside signalbox as
  // its peer.
  const folder = install({ express: "express", "@opentelemetry/api": "@opentelemetry/api" });
  const entries = entriesOf(folder);
  expect(entries).toEqual(expect.arrayContaining(Object.keys(NAMES)));
  const list = JSON.stringify(entries);
  const imported = await run(
    folder,
    "module",
    `const found = {};
     for (const entry of ${list}) found[entry] = Object.keys(await import(entry));
     const { createReceiver } = await import("signalbox");
     const { sqliteStore } = await import("signalbox/stores/sqlite");
     createReceiver({ secrets: "whsec_test", store: sqliteStore("signals.db"), onSignal() {} });
     console.log(JSON.stringify({ found }));`,
  );
  const required = await run(
    folder,
    "commonjs",
    `const found = {};
     for (const entry of ${list}) found[entry] = Object.keys(require(entry));
     console.log(JSON.stringify({ found }));`,
  );
  for (const { found } of [imported, required] as { found: Record<string, string[]> }[]) {
    for (const [entry, names] of Object.entries(NAMES)) {
      expect(found[entry], entry).toEqual(expect.arrayContaining(names as string[]));
    }
  }
});

test.each([
  ["import", "module", "await import"],
  ["require()", "commonjs", "require"],
] as const)(
  "with %s the test kit finds the fixtures and hands one of each off",
  async (_, type, load) => {
    const code = `(async () => {
    const { SIGNAL_TYPES } = ${load}("signalbox");
    const { signalEvent, testEvent, testReceiver, verificationEvent, waitForEvent } = ${load}("signalbox/testing");
    const handedOff = [];
    const onSignal = ({ data }) => handedOff.push(data.signal_type);
    const { deliver, receiver } = await testReceiver({ onSignal, onTest: ({ type }) => handedOff.push(type) });
    for (const event of [...SIGNAL_TYPES.map((type) => signalEvent(type)), testEvent()]) {
      await deliver(event);
      await waitForEvent(receiver, event.id);
    }
    const { status } = await deliver(verificationEvent());
    console.log(JSON.stringify({ handedOff, types: [...SIGNAL_TYPES, "webhook.test"], status }));
  })()`;
    // It ends by itself although nobody closes the receiver.
    const found = (await run(install(), type, code)) as {
      handedOff: string[];
      types: string[];
      status: number;
    };
    expect(found.types).toHaveLength(39);
    expect(found.handedOff).toEqual(found.types);
    expect(found.status).toBe(200);
  },
);

test("of the dependencies the client needs only zod and ipaddr.js", async () => {
  const folder = install();
  for (const name of Object.keys(manifestOf(join(folder, "node_modules/signalbox")).dependencies)) {
    if (name !== "zod" && name !== "ipaddr.js") rmSync(join(folder, "node_modules", name));
  }
  const code = `const { createClient, isClientError } = await import("signalbox/client");
    const error = await createClient({ baseUrl: "http://127.0.0.1:9/v1" }).rankings().catch((reason) => reason);
    console.log(JSON.stringify([isClientError(error), error.kind]));`;
  expect(await run(folder, "module", code)).toEqual([true, "api_key"]);
  await expect(run(folder, "module", `await import("signalbox")`)).rejects.toThrow("pino");
});

test("everything but the emulator imports where neither better-sqlite3 nor express can be found", async () => {
  const folder = install({ "@opentelemetry/api": "@opentelemetry/api" }, ["better-sqlite3"]);
  const entries = JSON.stringify(
    entriesOf(folder).filter((entry) => entry !== "signalbox/emulator"),
  );
  const code = `for (const entry of ${entries}) await import(entry); console.log("[]")`;
  expect(await run(folder, "module", code)).toEqual([]);
});

test.each([
  [
    "Express the demo says",
    ["demo"],
    "signalbox demo: the demo needs Express: run `npm install express`\n",
  ],
  [
    "pg an inbox in PostgreSQL says",
    ["inbox", "ls", "--db", "postgres://user:a-password@127.0.0.1/x"],
    "signalbox inbox ls: The package pg is not installed. Run: npm install pg\n",
  ],
])("without %s what to install", async (_what, args, stderr) => {
  const command = promisify(execFile)(
    process.execPath,
    ["node_modules/signalbox/dist/cli/main.js", ...args],
    {
      cwd: install(),
    },
  );
  await expect(command).rejects.toMatchObject({ code: 3, stderr });
});
