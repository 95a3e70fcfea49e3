import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { REPOSITORY } from "../package/installed.js";
import { startApp } from "../package/processes.js";

const SECRET = "whsec_quick_start";

const BODY = readFileSync(join(REPOSITORY, "fixtures/signals/traffic_breakout.json"));
const { id } = JSON.parse(BODY.toString()) as { id: string };

/** What a sender was answered. */
export interface Answer {
  status: number;
  body: unknown;
}

/** What is to be seen of it, on whatever it runs. */
export const AS_PROMISED = {
  answers: [
    { status: 200, body: { received: true } },
    { status: 200, body: { received: true, duplicate: true } },
    {
      status: 401,
      body: expect.objectContaining({
        error: expect.objectContaining({ code: "signature_mismatch" }),
      }),
    },
  ],
  printed: [expect.stringContaining(`signal default/${id} `)],
};

/** Signed with nothing of ours. */
async function post(port: number, secret: string): Promise<Answer> {
  const t = Math.floor(Date.now() / 1000);
  const v1 = createHmac("sha256", secret).update(`${t}.`).update(BODY).digest("hex");
  const headers = { "Content-Type": "application/json", "X-Service-Signature": `t=${t},v1=${v1}` };
  const response = await fetch(`http://127.0.0.1:${port}/webhooks/signals`, {
    method: "POST",
    headers,
    body: BODY,
  });
  return { status: response.status, body: await response.json() };
}

/**
 * Starts the quick start, delivers to it, and stops it. Rejects with what it printed when it ends
 * by itself.
 *
 * @param line how it is started, such as `["node", "app.mjs"]`
 */
export async function runQuickStart(
  folder: string,
  line: readonly string[],
  env: Record<string, string>,
): Promise<{
  /** To one delivery that was sent twice, and once with a wrong signature. */
  answers: Answer[];
  /** All that it printed but for its log. */
  printed: string[];
}> {
  writeFileSync(join(folder, "signals.secret"), SECRET, { mode: 0o600 });
  const app = await startApp(folder, line, env);
  const answers = [
    await post(app.port, SECRET),
    await post(app.port, SECRET),
    await post(app.port, "whsec_other"),
  ];
  await app.linesWith(/^signal default\//);
  const lines = await app.linesWith(/./);
  await app.stop();
  return {
    answers,
    printed: lines.filter((each) => !/^(\{.*\}$|at port |listening on port )/.test(each)),
  };
}
