import { once } from "node:events";
import { get as httpGet, type IncomingMessage, type ServerResponse } from "node:http";
import { createGunzip } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import type { InboxStore, Receiver, ReceiverEventName } from "../../src/kit/index.js";
import { partsOf, type ReceiverParts } from "../../src/kit/receiver/receiver-parts.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { createManualClock, signalEvent } from "../../src/kit/testing/index.js";
import type { Overview } from "../../src/page/inbox/inbox-api.js";
import { inboxPage, type Authorize } from "../../src/page/inbox/inbox-page.js";
import { createPageHandler } from "../../src/page/inbox/page-handler.js";
import { joinInboxes } from "../../src/page/inbox/page-inbox.js";
import { listen, startReceiver } from "../http/serve.js";
import { openWire, rawRequest } from "../http/wire.js";
import { turns, until } from "../unit/until.js";
import { askAt, everyone, take } from "./serve-page.js";

async function follow(port: number) {
  const request = httpGet({ port, path: "/api/live", agent: false });
  onTestFinished(() => void request.destroy());
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  answer.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk));
  answer.on("error", () => undefined);
  const messages = (): Overview[] =>
    [...text.matchAll(/^event: overview\ndata: (.*)\n\n/gm)].map(
      ([, data = ""]) => JSON.parse(data) as Overview,
    );
  return {
    answer,
    messages,
    text: () => text,
    told: (count: number) => until(() => messages().length === count),
    ended: new Promise((resolve) => answer.once("close", resolve)),
  };
}

/** A page over a receiver's inbox, with a clock of its own and nothing else that uses the clock. */
async function pageWithClock({
  endpoint = "default",
  authorize = "loopback",
}: { endpoint?: string; authorize?: Authorize | "loopback" } = {}) {
  const receiver = await startReceiver();
  const clock = createManualClock();
  const listeners = new Set<() => void>();
  const responses: ServerResponse[] = [];
  let reads = 0;
  const inbox = joinInboxes([(partsOf(receiver) as ReceiverParts).inbox]);
  const handler = createPageHandler({
    inbox: {
      ...inbox,
      endpoints: [endpoint],
      async states(now) {
        reads += 1;
        return (await inbox.states(now)).map((state) => ({ ...state, endpoint }));
      },
    },
    authorize,
    clock,
    closing: new AbortController().signal,
    report: (error) => {
      throw error;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  return {
    receiver,
    clock,
    listeners,
    responses,
    reads: () => reads,
    nudge: () => listeners.forEach((listener) => listener()),
    port: await listen((request, response) => {
      request.headers.host = "localhost";
      responses.push(response);
      handler(request, response);
    }),
  };
}

/** Lets a part of the clock's time pass, with what that causes. */
async function pass(clock: { advance(ms: number): Promise<void> }, ms: number): Promise<void> {
  await clock.advance(ms);
  await turns();
}

test("a page that listens is told at once, and again when something has changed", async () => {
  const { port, clock, receiver, nudge, reads } = await pageWithClock();
  const { messages, told, answer, text } = await follow(port);
  expect(answer.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    // A middleware that compresses would hold the messages back.
    "cache-control": "no-store, no-transform",
    "x-content-type-options": "nosniff",
  });
  await pass(clock, 1);
  await told(1);
  // Nothing changed: only comments, which show that the connection lives.
  await pass(clock, 10_000);
  expect(messages()).toHaveLength(1);
  expect(text()).toContain("\n: ");

  const before = reads();
  await take(receiver, signalEvent(), "handedOff");
  for (let index = 0; index < 100; index++) nudge();
  await pass(clock, 500);
  await told(2);
  expect(reads() - before).toBe(1);

  // Without a word of the receiver, as in a page over a store alone.
  await take(receiver, signalEvent(), "handedOff");
  await pass(clock, 2000);
  await told(3);
  expect(messages().map(({ counts }) => [counts.total, counts.done])).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
  const revisions = messages().map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].toSorted((one, other) => one - other));
});

test("an open page needs under 120 KB in 20 s at an event a second, and under 5 KB a minute at rest", async () => {
  const { port, clock, receiver, nudge } = await pageWithClock();
  for (let index = 0; index < 60; index++)
    await take(receiver, signalEvent("price_increased", { id: `sig_${index}` }), "handedOff");
  let bytes = 0;
  const headers = { "accept-encoding": "gzip" };
  const get = async (path: string) => {
    const request = httpGet({ port, path, agent: false, headers });
    onTestFinished(() => void request.destroy());
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    answer.on("data", (part: Buffer) => void (bytes += part.byteLength));
    return answer;
  };
  let asked = 0;
  let text = "";
  const unpacked = (await get("/api/live")).pipe(createGunzip()).setEncoding("utf8");
  unpacked.on("data", (part: string) => void (text += part));
  const toldOf = () => [...text.matchAll(/"sig_(\d+)"/g)].map(([, id]) => Number(id));
  /** As the page does, which asks for its chart when something has changed. */
  const goOn = async (ms = 500) => {
    await pass(clock, ms);
    await turns(500);
    const messages = text.split("\nevent:").length;
    if (messages > asked) await once((await get("/api/activity?range=day")).resume(), "end");
    asked = messages;
  };
  await goOn(1);
  await until(() => toldOf().includes(59));
  const began = bytes;
  for (let id = 100; id < 120; id++) {
    await take(receiver, signalEvent("price_increased", { id: `sig_${id}` }), "handedOff");
    nudge();
    await goOn();
    await goOn();
    await until(() => toldOf().includes(id));
  }
  const busy = bytes;
  expect(busy - began).toBeLessThan(120_000);
  for (let seconds = 0; seconds < 60; seconds += 0.5) await goOn();
  expect(bytes - busy).toBeLessThan(5000);
});

test("while no page listens, it reads nothing and has no timer and no listener", async () => {
  const { port, clock, listeners, reads } = await pageWithClock();
  const [first, second] = [await follow(port), await follow(port)];
  await pass(clock, 1);
  await Promise.all([first.told(1), second.told(1)]);
  expect(listeners.size).toBe(1);
  first.answer.destroy();
  await turns();
  expect(listeners.size).toBe(1);
  second.answer.destroy();
  await until(() => listeners.size === 0);
  expect(clock.pendingTimers()).toBe(0);
  const before = reads();
  await pass(clock, 60_000);
  expect(reads()).toBe(before);
  // And it begins anew.
  const third = await follow(port);
  await pass(clock, 1000);
  await third.told(1);
});

test("a stream ends after 5 minutes, so that the page is authorised again", async () => {
  const { port, clock, listeners } = await pageWithClock();
  const { ended, answer } = await follow(port);
  await pass(clock, 5 * 60_000 - 1);
  expect(answer.complete).toBe(false);
  await pass(clock, 1);
  await ended;
  expect(answer.complete).toBe(true);
  await until(() => listeners.size === 0);
  expect(clock.pendingTimers()).toBe(0);
});

test("a client that reads nothing is not written to, and its stream ends in time", async () => {
  // Each message has the name, and together they are more than the kernel takes for a client.
  const name = "e".repeat(100_000);
  const { port, clock, nudge, listeners, responses } = await pageWithClock({ endpoint: name });
  const wire = await openWire(port);
  await wire.write(rawRequest({ method: "GET", path: "/api/live" }));
  wire.pause();
  await until(() => listeners.size === 1);
  for (let index = 0; index < 200; index++) {
    nudge();
    await pass(clock, 500);
  }
  expect(responses[0]?.writableLength).toBeLessThan(2 * name.length);
  await pass(clock, 5 * 60_000);
  await until(() => listeners.size === 0);
  expect(clock.pendingTimers()).toBe(0);
});

test("when the receiver closes, every stream ends and its listeners are gone", async () => {
  const clock = createManualClock();
  const receiver = await startReceiver({ clock });
  const listeners = new Map<ReceiverEventName, number>();
  const areGone = (): boolean => [...listeners.values()].every((count) => count === 0);
  const add = (name: ReceiverEventName, count: number): unknown =>
    listeners.set(name, (listeners.get(name) ?? 0) + count);
  // As the receiver is, and counts its listeners.
  const watched = Object.assign(Object.create(receiver) as Receiver, {
    on(...[name, listener]: Parameters<Receiver["on"]>) {
      add(name, 1);
      const stop = receiver.on(name, listener);
      return () => {
        add(name, -1);
        stop();
      };
    },
  });
  const port = await listen(inboxPage(watched, everyone));
  const { messages, told, ended } = await follow(port);
  await pass(clock, 1);
  await told(1);
  expect(Object.fromEntries(listeners)).toMatchObject({ accepted: 1, dead: 1 });
  await take(receiver, signalEvent(), "handedOff");
  await pass(clock, 500);
  await until(() => messages().at(-1)?.counts.done === 1);
  await receiver.close();
  await ended;
  await until(areGone);
  expect(clock.pendingTimers()).toBe(0);
  expect((await askAt(port, "").ask("api/live")).status).toBe(200);
  await turns();
  expect(areGone()).toBe(true);
});

test("an inbox that cannot be read ends no stream", async () => {
  const inner = memoryStore();
  let stats: InboxStore["stats"] = () => Promise.reject(new Error("down"));
  const clock = createManualClock();
  const store: InboxStore = { ...inner, stats: (endpoint) => stats(endpoint) };
  const receiver = await startReceiver({ clock, store });
  const { told, text } = await follow(await listen(inboxPage(receiver, everyone)));
  await pass(clock, 1);
  await until(() => text().includes("\n: "));
  ({ stats } = inner);
  await pass(clock, 2000);
  await told(1);
});

test("a client that goes while it is authorised leaves nothing behind", async () => {
  let onAsked: (allow: (isAllowed: boolean) => void) => void;
  const asked = new Promise<(isAllowed: boolean) => void>((resolve) => (onAsked = resolve));
  const authorize = (): Promise<boolean> => new Promise((resolve) => onAsked(resolve));
  const { port, clock, listeners, responses, reads } = await pageWithClock({ authorize });
  const wire = await openWire(port);
  await wire.write(rawRequest({ method: "GET", path: "/api/live" }));
  const allow = await asked;
  const gone = once(responses[0] as ServerResponse, "close");
  wire.destroy();
  await gone;
  allow(true);
  await turns();
  await pass(clock, 10_000);
  expect([listeners.size, reads()]).toEqual([0, 0]);
});

test("a hook of the application that throws ends its stream alone", async () => {
  const { port, clock, responses } = await pageWithClock();
  const [broken, whole] = [await follow(port), await follow(port)];
  (responses[0] as ServerResponse).write = () => {
    throw new Error("a hook of the application");
  };
  await pass(clock, 1);
  await broken.ended;
  await whole.told(1);
});
