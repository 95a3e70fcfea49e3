import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, start } from "./commands.js";
import { scaffold, secretOf } from "./scaffold.js";

const MINUTES = 60_000;

// better-sqlite3 may have to be compiled.
test(
  "express: init, install, test, start and replay, with nothing but the tarball",
  { timeout: 20 * MINUTES },
  async () => {
    const project = await scaffold("express");
    const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    expect(manifest.dependencies["signalbox"]).toMatch(/^file:\.\.\/signalbox-.*\.tgz$/);

    // As a user types it: with its scripts.
    const { stdout, stderr } = await run(project, "npm", ["install"]);
    expect(`${stdout}${stderr}`).not.toMatch(/allowScripts|allow-scripts/);
    expect((await run(project, "npm", ["test"])).stdout).toMatch(/Tests\s+\d+ passed/);
    await run(project, "npm", ["run", "typecheck"]);
    await run(project, "npm", ["run", "lint"]);

    const receiver = start(project, "npm", ["start"], { PORT: "0" });
    const [line = ""] = await receiver.linesWith(/listening on /);
    const [url = ""] = /http:\/\/[^"\s]+/.exec(line) ?? [];
    const replay = await run(project, "npx", ["signalbox", "replay", "--url", url], {
      SIGNALS_SECRET: secretOf(project),
    });
    expect(replay.stdout).toMatch(/^all \d+ answers as expected/m);
    const handled = Number(/onSignal: (\d+)$/m.exec(replay.stderr)?.[1]);
    expect(handled).toBeGreaterThan(38);
    await receiver.linesWith(/"msg":"alert"/, handled);
    // The script of the README knows the secret by itself.
    await run(project, "npm", ["run", "replay", "--", "--url", url, "--only", "signals/"]);

    expect((await fetch(new URL("/readyz", url))).status).toBe(200);
    const closing = receiver.linesWith(/SIGTERM: closing/);
    await receiver.stop();
    await closing;
    await expect(fetch(new URL("/healthz", url))).rejects.toThrow();
  },
);
