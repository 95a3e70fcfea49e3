import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.js";
import { secretFile } from "../../src/kit/index.js";
import { runCli } from "../cli/run-cli.js";
import { serveReceiver } from "../cli/serve-requests.js";
import { tempFiles } from "../cli/temp-files.js";
import { startEmulator } from "./start-emulator.js";

test("a receiver that has no secret yet is registered for all signals, and answers both verifications at once", async () => {
  const path = join(tempFiles(), "signals.secret");
  // A minute for a busy machine; the service's own time-out is what counts.
  const patience = { secretWaitMs: 60_000, ackTimeoutMs: 120_000 };
  const { receiver, url } = await serveReceiver({ secrets: secretFile(path), ...patience });
  const assumptions = { allowLoopbackHttp: true };
  const { emulator, account } = await startEmulator({ clock: systemClock, assumptions });
  const { key } = await account("pro");
  const access = ["--base-url", emulator.baseUrl, "--secret-file", path];
  const run = await runCli(["register", "--url", url, "--all-types", ...access], {
    env: { SIGNALS_API_KEY: key },
  });
  expect(run).toMatchObject({ exitCode: 0 });
  expect(run.stdout).toMatch(
    /^\S+ {2}pending {2}30 signal types\n\S+ {2}pending {2}8 signal types\nall 2 registrations are active\n$/,
  );
  expect(receiver.health()).toMatchObject({ verified: true, deliveries: { rejected: 0 } });
  const secrets = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(new Set(secrets).size).toBe(2);
  for (const secret of secrets) expect(run.stdout + run.stderr).not.toContain(secret);
});
