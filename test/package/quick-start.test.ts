import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { install } from "./installed.js";
import { quickStartBlock } from "./quick-start.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const SECRET = "whsec_quick_start";

interface Running {
  port: number;
  /** The next line that it prints with this in it. Rejects when it ends first. */
  lineWith(text: string): Promise<string>;
}

async function start(folder: string, file: string): Promise<Running> {
  const child = fork(join(folder, file), {
    cwd: folder,
    execArgv: ["--import", new URL("any-port.mjs", import.meta.url).href],
    env: { ...process.env, SIGNALS_SECRET: SECRET },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "close").then(([code]) => Promise.reject(new Error(`ended with ${code}\n${stderr}`)));
  // Killed in the end, when nobody waits any more.
  ended.catch(() => undefined);
  const lines = createInterface(child.stdout ?? process.stdin);
  const told = Promise.race([once(child, "message"), ended]);
  const [{ port }] = (await told) as [{ port: number }];
  return {
    port,
    lineWith(text) {
      const found = new Promise<string>((resolve) =>
        lines.on("line", (line) => {
          if (line.includes(text)) resolve(line);
        }),
      );
      return Promise.race([found, ended]);
    },
  };
}

/** Types it into a second terminal. */
async function type(folder: string, port: number, command: string): Promise<string> {
  const typed = command.replace("localhost:3000", `127.0.0.1:${port}`);
  // npx finds the installed command and needs no registry for it.
  const env = { ...process.env, npm_config_offline: "true" };
  const { stdout } = await promisify(execFile)("sh", ["-ec", typed], { cwd: folder, env });
  return stdout;
}

const VARIANTS = [
  ["import and Express 5", "app.mjs", "import express", "express"],
  ["import and Express 4", "app.mjs", "import express", "express4"],
  ["require() and Express 5", "app.cjs", `require("express")`, "express"],
  ["require() and Express 4", "app.cjs", `require("express")`, "express4"],
] as const;

test.each(VARIANTS)("the quick start does what the README says, with %s", async (_, file, holding, express) => {
  const folder = install({ express });
  writeFileSync(join(folder, file), quickStartBlock("js", holding));
  const { port, lineWith } = await start(folder, file);

  // Signed by openssl and sent by curl: sender and receiver have no code in common.
  const deliver = quickStartBlock("sh", "openssl");
  const [, fixture = ""] = /^body=(.*)$/m.exec(deliver) ?? [];
  const event = JSON.parse(readFileSync(join(folder, fixture), "utf8")) as { id: string; data: { title: string } };
  const handedOff = lineWith(`default/${event.id}`);
  const first = await type(folder, port, deliver);
  expect(first).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(first).toMatch(/\r\n\r\n\{"received":true\}$/);
  expect(await handedOff).toBe(`signal default/${event.id} ${event.data.title}`);

  expect(await type(folder, port, deliver)).toMatch(/\r\n\r\n\{"received":true,"duplicate":true\}$/);
  const forged = await type(folder, port, deliver.replace(SECRET, "whsec_quick_starT"));
  expect(forged).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n.*signature_mismatch/s);
});

test("the quick start's second terminal sends a signal with the installed command", async () => {
  const folder = install({ express: "express" });
  writeFileSync(join(folder, "app.mjs"), quickStartBlock("js", "import express"));
  const { port, lineWith } = await start(folder, "app.mjs");
  const handedOff = lineWith("signal default/");
  await type(folder, port, quickStartBlock("sh", "signalbox send"));
  expect(await handedOff).toMatch(/^signal default\/sig_\d+_\d+ \S/);
});

const STARTED_TWICE = [
  ["import", "app.mjs", "import express"],
  ["require()", "app.cjs", `require("express")`],
] as const;

test.each(STARTED_TWICE)(
  "a quick start that is started twice says so in one line, with %s",
  async (_, file, holding) => {
    const folder = install({ express: "express" });
    writeFileSync(join(folder, file), quickStartBlock("js", holding));
    await start(folder, file);
    const env = { ...process.env, SIGNALS_SECRET: SECRET, PORT: "0" };
    const second = promisify(execFile)(process.execPath, [file], { cwd: folder, env });
    await expect(second).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Another receiver has the inbox \S+ open\. .*\n$/),
    });
  },
);
