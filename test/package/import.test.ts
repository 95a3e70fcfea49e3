import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ENTRIES, install, manifestOf } from "./installed.js";

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

// `--update` writes the names anew: one that goes, or is spelt differently, breaks its users.
test("every entry point can be imported and required, has its names, and the process ends by itself", async () => {
  // The emulator is a server of its own: it needs Express, which npm installs beside signalbox as
  // its peer.
  const folder = install({ express: "express", "@opentelemetry/api": "@opentelemetry/api" });
  const entries = JSON.stringify(ENTRIES);
  const names = (load: string): string =>
    `const found = {};
     for (const entry of ${entries}) found[entry] = Object.keys(${load}(entry)).sort();`;
  const imported = await run(
    folder,
    "module",
    `${names("await import")}
     const { createReceiver } = await import("signalbox");
     const { sqliteStore } = await import("signalbox/stores/sqlite");
     createReceiver({ secrets: "whsec_test", store: sqliteStore("signals.db"), onSignal() {} });
     console.log(JSON.stringify(found));`,
  );
  const print = "console.log(JSON.stringify(found));";
  expect(await run(folder, "commonjs", `${names("require")}${print}`)).toEqual(imported);
  const lines = Object.entries(imported as Record<string, string[]>).map(
    ([entry, found]) => `${entry}: ${found.join(" ")}\n`,
  );
  await expect(lines.join("")).toMatchFileSnapshot("public-names.txt");
});

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
  const entries = JSON.stringify(ENTRIES.filter((entry) => entry !== "signalbox/emulator"));
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
