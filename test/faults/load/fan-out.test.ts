import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { listen } from "../../http/serve.js";
import {
  draft,
  openWebhooks,
  serveSilence,
  type WebhookWorld,
} from "../../unit/service/emulator/webhooks/webhook-world.js";

const SIGNALS = 60;

interface Endpoint {
  url: string;
  /** How many signals it has answered. */
  taken: () => number;
  /** Resolves when it has answered all. */
  all: Promise<void>;
}

/** Takes every signal, each after a delay. */
async function serveTaker(delayMs = 0): Promise<Endpoint> {
  let taken = 0;
  let tellAll: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (tellAll = resolve));
  const port = await listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { type, data } = JSON.parse(Buffer.concat(chunks).toString()) as {
        type: string;
        data: { challenge?: string };
      };
      if (type === "webhook.verification") {
        response.end(JSON.stringify({ challenge: data.challenge }));
        return;
      }
      setTimeout(() => {
        response.end();
        if (++taken === SIGNALS) tellAll();
      }, delayMs);
    });
  });
  return { url: `http://127.0.0.1:${port}/hook`, taken: () => taken, all };
}

/** Registrations of two accounts, which follow the product. */
async function register(world: WebhookWorld, urls: readonly string[]): Promise<void> {
  for (const [index, url] of urls.entries()) {
    const accountId = 1 + Math.floor(index / 10);
    if (index % 10 === 0) world.webhooks.follows.follow(accountId, ["larkvoice"]);
    const { id } = world.webhooks.register(accountId, {
      url,
      signal_types: ["traffic_breakout"],
      locale: "en",
    });
    await world.scheduler.idle();
    // The one that is dead was there when it was registered.
    world.database.run("UPDATE registration SET status = 'active' WHERE registration_id = ?", id);
  }
}

/** An address that refuses every connection. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/hook`;
}

test("sixty signals go to 20 registrations, and dead, silent and slow ones delay no other [operations/deliveries]", async () => {
  const world = openWebhooks({ assumptions: { deliveryTimeoutMs: 60_000 } });
  const good = await Promise.all(Array.from({ length: 17 }, () => serveTaker()));
  const slow = await serveTaker(2000);
  const silent = await serveSilence();
  const dead = await closedPort();
  const urls = good.map(({ url }) => url);
  // The first of each account, so that all others come after them.
  await register(world, [slow.url, dead, ...urls.slice(0, 8)]);
  world.database.run(
    "INSERT INTO registration SELECT 'wh_silent', 2, ?, 'active', locale, signal_types, 0, secret, challenge, created_at, updated_at FROM registration LIMIT 1",
    silent.url,
  );
  world.webhooks.follows.follow(2, ["larkvoice"]);
  for (const url of urls.slice(8))
    world.webhooks.register(2, { url, signal_types: ["traffic_breakout"], locale: "en" });
  await world.scheduler.idle();

  for (let made = 0; made < SIGNALS; made++) world.webhooks.publish(draft());
  void world.scheduler.idle();
  await Promise.all(good.map(({ all }) => all));
  // All of the others have everything while these have hardly begun.
  expect(slow.taken()).toBeLessThan(SIGNALS);
  expect(silent.requests).toHaveLength(world.assumptions.deliveriesInFlight);
  const { failed, left } = world.database.row<{ failed: number; left: number }>(
    `SELECT sum(attempts > 0) AS failed, sum(state = 'waiting') AS left FROM delivery
       JOIN registration USING (registration_id) WHERE url = ? AND event_type = 'signal.published'`,
    dead,
  ) ?? { failed: 0, left: 0 };
  // It was tried in its turn, until it was paused: all of it waits for its retries.
  expect(failed).toBeGreaterThanOrEqual(world.assumptions.pauseAfterFailures - 1);
  expect(left).toBe(SIGNALS);
  await world.webhooks.close();
});
