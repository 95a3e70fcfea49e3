import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../faults/eventually.js";
import { freePort } from "../own-postgres.js";
import { hasServer } from "../prerequisites.js";
import { run, start, type Running } from "../templates/commands.js";

export const SECRET = "whsec_replay";

export interface App extends Running {
  port: number;
}

/**
 * Starts an app as its users do, and sends it `signalbox replay`. Rejects if an answer is not as
 * expected.
 *
 * @param folder where signalbox is installed, in it or above
 * @param line such as `["node", "app.mjs"]`; the app listens on the port in `PORT`
 */
export async function replayAgainst(
  folder: string,
  [command = "node", ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<App> {
  writeFileSync(join(folder, "signals.secret"), SECRET, { mode: 0o600 });
  const port = await freePort();
  const app = start(folder, command, args, { ...env, PORT: String(port) });
  await app.linesWith(/receiver started/);
  await eventually("the app listens", () => hasServer(port));
  await run(folder, "npx", [
    "signalbox",
    "replay",
    "--url",
    `http://127.0.0.1:${port}/webhooks/signals`,
  ]);
  return { ...app, port };
}
