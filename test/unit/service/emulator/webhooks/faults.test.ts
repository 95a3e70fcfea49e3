import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { WebhookFault } from "../../../../../src/service/emulator/webhooks/faults/webhook-faults.js";
import { until } from "../../../until.js";
import {
  activeRegistration,
  draft,
  eventIn,
  openWebhooks,
  serveEndpoint,
  START,
  type WebhookWorld,
} from "./webhook-world.js";

type Fault = Partial<WebhookFault> & Pick<WebhookFault, "kind">;

/** An active registration with this fault on the way to it. */
async function withFault(world: WebhookWorld, url: string, ...faults: Fault[]): Promise<string> {
  const { id } = await activeRegistration(world, url);
  for (const fault of faults)
    world.webhooks.faults.set({ registration_id: id, value: null, times: 1, ...fault });
  return id;
}

const deliveriesOf = (world: WebhookWorld, registrationId: string) =>
  world.webhooks.deliveries
    .list({ registration_id: registrationId, limit: 50 })
    .filter(({ event_type }) => event_type === "signal.published");

test("latency: the delivery is sent later, and signed then", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  await withFault(world, url, { kind: "latency", value: 50 });
  world.webhooks.publish(draft());
  const done = world.scheduler.idle();
  // Without the fault the delivery would be signed by now.
  world.clock.moveTo(START + 5000);
  await done;
  expect(signals[0]?.headers["x-service-signature"]).toMatch(new RegExp(`^t=${START / 1000 + 5},`));
});

test("reorder: it is held back until the next one was answered", async () => {
  const world = openWebhooks({ assumptions: { deliveriesInFlight: 1 } });
  const { url, signals } = await serveEndpoint();
  await withFault(world, url, { kind: "reorder", value: 600_000 });
  const events = [1, 2, 3].map(() => world.webhooks.publish(draft()).event_id);
  await world.scheduler.idle();
  const [first, second, third] = events;
  const arrived = signals.map((signal) => eventIn(signal).id);
  expect(arrived.indexOf(second ?? "")).toBeLessThan(arrived.indexOf(first ?? ""));
  expect(new Set(arrived)).toEqual(new Set([first, second, third]));
  expect(arrived).toHaveLength(3);
});

test("reorder: when no other comes, it is sent after its time", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  await withFault(world, url, { kind: "reorder", value: 100 });
  world.webhooks.publish(draft());
  await world.scheduler.idle();
  expect(signals).toHaveLength(1);
});

/** A server that tells what it saw of each signal's body before the connection ended. */
async function serveRaw(): Promise<{
  url: string;
  ends: { received: number; announced: number; how: string }[];
}> {
  const ends: { received: number; announced: number; how: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as {
        data: { challenge?: string };
      };
      response.end(JSON.stringify({ challenge: data.challenge }));
    });
    request.on("error", (error) => {
      const received = Buffer.concat(chunks).byteLength;
      ends.push({
        received,
        announced: Number(request.headers["content-length"]),
        how: error.message,
      });
    });
  });
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, ends };
}

test.each(["cut_body", "reset"] as const)(
  "%s: the connection ends amid the body, and it is sent again",
  async (kind) => {
    const world = openWebhooks();
    const { url, ends } = await serveRaw();
    const id = await withFault(world, url, { kind });
    world.webhooks.publish(draft());
    await world.scheduler.idle();
    await until(() => ends.length === 1);
    const [end] = ends;
    expect(end?.received).toBeLessThan(end?.announced ?? 0);
    const [first] = deliveriesOf(world, id);
    expect(first).toMatchObject({
      state: "waiting",
      attempts: [{ faults: [{ kind, value: null }] }],
    });
    const [attempt] = first?.attempts ?? [];
    if (kind === "reset")
      expect(attempt).toMatchObject({ answer: null, failure: "connection_reset" });
    else expect([400, undefined]).toContain(attempt?.answer?.status);
    await world.scheduler.advanceTo(START + 10_000);
    expect(deliveriesOf(world, id)[0]?.state).toBe("delivered");
  },
);

test("what is held back or late ends at once when the service ends", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  const id = await withFault(
    world,
    url,
    { kind: "reorder", value: 600_000 },
    { kind: "latency", value: 600_000 },
  );
  world.webhooks.publish(draft());
  const idle = world.scheduler.idle();
  await until(() => world.webhooks.faults.list(id).length === 0);
  await world.webhooks.close();
  await idle;
  expect(signals).toEqual([]);
});
