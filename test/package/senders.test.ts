import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sign } from "@octokit/webhooks-methods";
import { Stripe } from "stripe";
import { expect, test } from "vitest";
import { signalEvent, signedDelivery } from "../../src/kit/testing/index.js";
import { POSTGRES_URL } from "../contract/postgres-medium.js";
import { hasServer, testWith } from "../prerequisites.js";
import { install } from "./installed.js";
import { startOnAnyPort } from "./processes.js";

interface HandedOff {
  deliveryKey: string;
  sender: string;
  headers: Record<string, string>;
  ref?: string;
  bytes: number;
}

/** Starts the app of a folder. `next` is the next hand-off; `kill` is kill -9. */
async function start(folder: string, env: NodeJS.ProcessEnv) {
  const child = startOnAnyPort(folder, "senders-app.mjs", env);
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return {
    next: async () => JSON.parse((await lines.next()).value as string) as HandedOff,
    async post(
      path: string,
      headers: Record<string, string>,
      body: string | Buffer,
    ): Promise<string> {
      const answer = await fetch(`http://127.0.0.1:${port}/webhooks/${path}`, {
        method: "POST",
        headers,
        body,
      });
      return `${answer.status} ${await answer.text()}`;
    },
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

type App = Awaited<ReturnType<typeof start>>;

const RECEIVED = '200 {"received":true}';
const stripe = new Stripe("sk_test_1");

/** Signed by Stripe's own helper. */
function postStripe(app: App, id: string): Promise<string> {
  const payload = JSON.stringify(
    { id, object: "event", type: "invoice.paid", data: { object: { id: "in_1" } } },
    null,
    2,
  );
  const signature = stripe.webhooks.generateTestHeaderString({ payload, secret: "whsec_stripe" });
  return app.post(
    "stripe",
    { "Stripe-Signature": signature, "Content-Type": "application/json" },
    payload,
  );
}

async function story(env: NodeJS.ProcessEnv): Promise<void> {
  const folder = install({ express: "express", pg: "pg" });
  copyFileSync(new URL("senders-app.mjs", import.meta.url), join(folder, "senders-app.mjs"));

  // An event is stored, and its process is killed before its hand-off begins.
  const first = await start(folder, { ...env, HANGS: "1" });
  expect(await postStripe(first, "evt_hangs")).toBe(RECEIVED);
  expect(await first.next()).toMatchObject({ deliveryKey: "stripe/evt_hangs" });
  expect(await postStripe(first, "evt_waits")).toBe(RECEIVED);
  await first.kill();

  const app = await start(folder, env);
  const afterKill = [await app.next(), await app.next()];
  expect(afterKill).toContainEqual(
    expect.objectContaining({
      deliveryKey: "stripe/evt_waits",
      sender: "stripe",
      headers: expect.objectContaining({ "stripe-signature": expect.stringMatching(/^t=\d+,v1=/) }),
    }),
  );
  expect(await postStripe(app, "evt_waits")).toBe('200 {"received":true,"duplicate":true}');

  // GitHub's largest deliveries are of 25 MB.
  const push = JSON.stringify({ ref: "refs/heads/main", padding: "ü".repeat(10 * 1024 * 1024) });
  const id = randomUUID();
  const headers = {
    "X-Hub-Signature-256": await sign("gh", push),
    "X-GitHub-Event": "push",
    "X-GitHub-Delivery": id,
    "Content-Type": "application/json",
  };
  expect(await app.post("github", headers, push)).toBe(RECEIVED);
  expect(await app.next()).toMatchObject({
    deliveryKey: `github/${id}`,
    ref: "refs/heads/main",
    bytes: Buffer.byteLength(push),
    headers: { "x-github-event": "push" },
  });
  const captured = { ...headers, "X-GitHub-Delivery": randomUUID() };
  expect(await app.post("github", headers, push)).toBe('200 {"received":true,"duplicate":true}');
  expect(await app.post("github", captured, push)).toBe(RECEIVED);
  expect(await app.next()).toMatchObject({
    deliveryKey: `github/${captured["X-GitHub-Delivery"]}`,
  });

  const signal = signalEvent();
  const delivery = signedDelivery(signal, { secret: "whsec_signals" });
  expect(await app.post("signals", delivery.headers, delivery.body)).toBe(RECEIVED);
  expect(await app.next()).toMatchObject({
    deliveryKey: `default/${signal.id}`,
    sender: "signals",
  });
  await app.kill();
}

test("the service and two senders share an app and a file, through a kill -9", () => story({}));

const hasPostgres = await hasServer(5432);
testWith(hasPostgres)(
  "the service and two senders share an app and a schema of PostgreSQL, through a kill -9",
  () => story({ POSTGRES: POSTGRES_URL, SCHEMA: `senders_${randomUUID()}` }),
);
