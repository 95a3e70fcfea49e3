import type { RequestListener } from "node:http";
import express, { type RequestHandler } from "express";
import { expect, onTestFinished, test } from "vitest";
import {
  createReceiver,
  PermanentFailure,
  type InboxStore,
  type Receiver,
} from "../../src/kit/index.js";
import { BREAKER_THRESHOLD } from "../../src/kit/inbox/dispatch/breaker.js";
import { github } from "../../src/kit/senders/github.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import type {
  EventAnswer,
  EventsAnswer,
  MoveAnswer,
  Overview,
} from "../../src/page/inbox/inbox-api.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";
import { logLines } from "../http/log-lines.js";
import { EXPRESSES, listen, startReceiver } from "../http/serve.js";
import { exchange, type Answer } from "../http/wire.js";
import { errorOf } from "../unit/signalbox-error-of.js";
import { askAt, PAGE_MOUNT, servePage, take } from "./serve-page.js";

const everyone = { authorize: () => true };
const refusing = () => {
  throw new PermanentFailure("the queue refuses this");
};
const signal = (id: string, title = "A price fell") =>
  signalEvent("price_drop", { id, data: { title } });
const get = (port: number, path: string): Promise<Answer> =>
  exchange(port, { method: "GET", path });

test("the API shows, finds, replays and discards events", async () => {
  let isBroken = true;
  const page = await servePage({ onSignal: () => (isBroken ? refusing() : undefined) });
  await take(page.receiver, signal("sig_1"), "dead");
  await take(page.receiver, signal("sig_2"), "dead");
  isBroken = false;
  await take(page.receiver, signal("sig_3"), "handedOff");

  const overview = JSON.parse((await page.ask("api/overview")).body) as Overview;
  expect(overview).toMatchObject({
    endpoints: [{ endpoint: "default", facts: { dead: 2, pause: null, hasReceiver: true } }],
    counts: { dead: 2, done: 1, total: 3 },
  });
  const found = JSON.parse(
    (await page.ask("api/events?q=state:dead&limit=1")).body,
  ) as EventsAnswer;
  expect(found).toMatchObject({ events: [{ eventId: "sig_2", state: "dead" }], nextBeforeSeq: 2 });
  expect(found.events[0]?.lastError).toBe("PermanentFailure: the queue refuses this");
  const rest = JSON.parse(
    (await page.ask("api/events?q=state:dead&before=2")).body,
  ) as EventsAnswer;
  expect(rest).toMatchObject({ events: [{ eventId: "sig_1" }], nextBeforeSeq: null });
  const activity = await page.ask("api/activity?range=week");
  expect(JSON.parse(activity.body)).toMatchObject({
    minutes: 120,
    activity: [{ accepted: 3, handedOff: 1, failed: 2 }],
  });

  const event = JSON.parse((await page.ask("api/event?id=sig_1")).body) as EventAnswer;
  expect(event.history).toMatchObject([{ kind: "failed", attempts: 1 }]);
  expect(Math.abs(event.receivedAt - (event.signedAt ?? 0))).toBeLessThan(10_000);
  expect(event.lastError).toContain("    at ");
  expect(event.payload).toContain('\n  "id": "sig_1"');
  expect(Buffer.from(event.hex ?? "", "hex").toString()).toMatch(/^\{"id":"sig_1"/);

  const answer = await page.move("replay", { eventIds: ["sig_1", "sig_4"] });
  expect(JSON.parse(answer.body) as MoveAnswer).toEqual({ outcomes: ["moved", "not_found"] });
  const discarded = await page.move("discard", { eventIds: ["sig_2", "sig_3"] });
  expect(JSON.parse(discarded.body) as MoveAnswer).toEqual({ outcomes: ["moved", "wrong_state"] });
  expect(await page.ask("api/bytes?id=sig_2")).toMatchObject({ status: 404 });
});

test("an event of another sender has its facts, and no signature", async () => {
  const onEvent = { push: () => undefined };
  const receiver = createReceiver({
    sender: github(),
    secrets: "secret",
    store: memoryStore(),
    onEvent,
    logger: false,
  });
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  await receiver.start();
  const page = askAt(
    await listen(express().use(PAGE_MOUNT, inboxPage(receiver, everyone)) as RequestListener),
  );
  const headers = {
    "x-github-event": "issues",
    "x-github-delivery": "evt_1",
    "x-hub-signature-256": "sha256=f00d",
  };
  const body = JSON.stringify({ action: "opened", repository: { full_name: "octo/repo" } });
  await receiver.accept({ body, headers });
  const facts = { type: "issues", subtype: "opened", subject: "octo/repo", sender: "github" };
  for (const search of [
    "type:issues",
    "type:opened",
    "subtype:opened",
    "subject:octo/repo",
    "product:octo/repo",
  ]) {
    const found = JSON.parse((await page.ask(`api/events?q=${search}`)).body) as EventsAnswer;
    expect(found.events, search).toMatchObject([facts]);
  }
  const { body: text } = await page.ask("api/event?id=evt_1");
  expect(JSON.parse(text)).toMatchObject({
    ...facts,
    backfilled: true,
    state: "done",
    lastError: "no_handler",
  });
  expect(text).not.toContain("f00d");
});

test("an export has every event that matches, and neither it nor the page has a signature", async () => {
  const page = await servePage({
    onSignal: ({ id }) => (id.startsWith("bad") ? refusing() : undefined),
  });
  for (let index = 0; index < 45; index++)
    await take(page.receiver, signal(`bad_${index}`), "dead");
  await take(page.receiver, signal("good_1"), "handedOff");
  const exported = await fetch(`http://127.0.0.1:${page.port}/ops/signals/api/export?q=state:dead`);
  expect(exported.headers.get("content-disposition")).toBe(
    'attachment; filename="default-events.ndjson"',
  );
  const text = await exported.text();
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ eventId }) => eventId)).toEqual(
    Array.from({ length: 45 }, (_, index) => `bad_${44 - index}`),
  );
  expect(lines[0]).toMatchObject({
    endpoint: "default",
    state: "dead",
    bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const kept = await page.receiver.inbox.get("bad_1");
  expect(kept?.received.headers["x-service-signature"]).toMatch(/^t=/);
  const shown = await page.ask("api/event?id=bad_1");
  for (const body of [text, shown.body]) expect(body.toLowerCase()).not.toMatch(/signature|v1=/);
  const none = await fetch(`http://127.0.0.1:${page.port}/ops/signals/api/export?q=state:leased`);
  expect(await none.text()).toBe("");
});

test("many exports at once cause no warning in the host application", async () => {
  const inner = memoryStore();
  let waiting = 0;
  let release: () => void = () => {};
  const areAllOpen = new Promise<void>((resolve) => (release = resolve));
  // Each export has sent its head and waits for its last event, until all of them do.
  const store: InboxStore = {
    ...inner,
    async get(endpoint, eventId) {
      if (eventId === "sig_0" && (waiting += 1) === 12) release();
      if (eventId === "sig_0") await areAllOpen;
      return inner.get(endpoint, eventId);
    },
  };
  const page = await servePage({ store });
  for (let index = 0; index < 5; index++)
    await take(page.receiver, signal(`sig_${index}`), "handedOff");
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on("warning", note);
  // Node warns from the 11th listener of a signal on.
  const texts = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const answer = await fetch(`http://127.0.0.1:${page.port}/ops/signals/api/export`);
      return (await answer.text()).trimEnd().split("\n").length;
    }),
  );
  process.off("warning", note);
  expect(texts).toEqual(Array.from({ length: 12 }, () => 5));
  expect(warnings).toEqual([]);
});

/** How an application mounts a page, and where the page is then. */
const MOUNTS = EXPRESSES.flatMap(({ name, express: framework }) => {
  const mount = (at: string, page: RequestHandler) => framework.Router().use(at, page);
  const nested = (page: RequestHandler) =>
    mount("/admin", mount("/tenants/:tenant", mount("/signals", page)));
  return [
    {
      name,
      at: "/ops/signals",
      serve: (page: RequestHandler) => framework().use("/ops/signals", page),
    },
    {
      name: `${name}, nested`,
      at: "/admin/tenants/a:b/signals",
      serve: (page: RequestHandler) => framework().use(nested(page)),
    },
  ];
});

test.each(MOUNTS)("$name: the page works below a mount", async ({ at, serve }) => {
  const port = await listen(serve(inboxPage(await startReceiver(), everyone)) as RequestListener);
  for (const path of [at, `${at}?from=mail`]) {
    expect(await get(port, path)).toMatchObject({
      status: 307,
      headers: { location: "./signals/" },
    });
  }
  const page = await get(port, `${at}/`);
  expect(page).toMatchObject({
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
  const [, script = ""] = /src="(assets\/[^"]+)"/.exec(page.body) ?? [];
  expect(await get(port, `${at}/${script}`)).toMatchObject({ status: 200 });
  expect(await get(port, `${at}/api/overview`)).toMatchObject({ status: 200 });
  // Nothing in the page has an address of its own.
  expect(page.body).not.toMatch(/(?:src|href)="(?:\/|https?:)/);
});

test("a body that the application has parsed or kept is used", async () => {
  const receiver = await startReceiver();
  for (const parser of [
    express.json(),
    express.raw({ type: "*/*" }),
    express.text({ type: "*/*" }),
  ]) {
    const port = await listen(
      express().use(parser, inboxPage(receiver, everyone)) as RequestListener,
    );
    expect(await askAt(port, "").move("replay", { eventIds: ["none"] })).toMatchObject({
      status: 200,
      body: '{"outcomes":["not_found"]}',
    });
  }
});

test("a store that fails gets 503 with its code and a fixed text; the log has the rest, once a second", async () => {
  const { logger, lines } = logLines();
  const failing = (): Promise<never> => Promise.reject(new Error("disk sda1 is on fire"));
  const store: InboxStore = { ...memoryStore(), search: failing, stats: failing };
  const { ask } = await servePage({ store, logger });
  for (const path of ["api/events", "api/overview", "api/export", "api/events"]) {
    const answer = await ask(path);
    expect(answer).toMatchObject({
      status: 503,
      headers: { "content-type": "application/json; charset=utf-8" },
    });
    expect(JSON.parse(answer.body)).toEqual({
      error: {
        code: "store_failed",
        message: "The store of the inbox does not work now. The log has the error.",
      },
    });
  }
  expect(lines.filter((line) => line.includes("sda1"))).toHaveLength(1);
});

test("before start() and after close() it answers 503", async () => {
  const receiver = createReceiver({
    secrets: "s",
    store: memoryStore(),
    onSignal: () => undefined,
    logger: false,
  });
  const { ask } = askAt(await listen(inboxPage(receiver, everyone)), "");
  expect(await ask("api/overview")).toMatchObject({ status: 503 });
  expect(await ask("")).toMatchObject({ status: 200 });
  await receiver.start();
  expect(await ask("api/overview")).toMatchObject({ status: 200 });
  await receiver.close();
  expect(await ask("api/overview")).toMatchObject({ status: 503 });
});

test("what is no receiver is refused", () => {
  for (const wrong of [undefined, null, {}, Promise.resolve()]) {
    expect(errorOf(() => inboxPage(wrong as never, everyone))).toMatchObject({
      code: "option_invalid",
      message: "inboxPage needs the receiver that createReceiver returns.",
    });
  }
});

test("the page tells at once what the receiver beside it knows of a pause", async () => {
  const { receiver, ask } = await servePage({
    handoff: { maxAttempts: 1 },
    onSignal: () => Promise.reject(new Error("the queue is down")),
  });
  for (let count = 0; count < BREAKER_THRESHOLD; count++)
    await take(receiver, signal(`sig_${count}`), "dead");
  expect(JSON.parse((await ask("api/overview")).body)).toMatchObject({
    paused: "callback_failing",
    endpoints: [{ facts: { pause: expect.anything() as object } }],
  });
});

test("one page over several endpoints: found together, told apart, and moved each in its own", async () => {
  const store = memoryStore();
  const [first, second] = await Promise.all(
    ["stripe", "shop"].map((endpoint) => startReceiver({ store, endpoint, onSignal: refusing })),
  );
  await take(first as Receiver, signal("sig_1"), "dead");
  await take(second as Receiver, signal("sig_2"), "dead");
  await take(second as Receiver, signal("sig_1", "The shop's own"), "dead");
  const page = inboxPage([first as Receiver, second as Receiver], everyone);
  const { ask, move } = askAt(await listen(express().use(PAGE_MOUNT, page) as RequestListener));
  const idsOf = async (query: string) =>
    (JSON.parse((await ask(`api/events?${query}`)).body) as EventsAnswer).events.map(
      ({ endpoint, eventId }) => `${endpoint}/${eventId}`,
    );
  expect(JSON.parse((await ask("api/overview")).body)).toMatchObject({
    endpoints: [{ endpoint: "stripe" }, { endpoint: "shop" }],
    counts: { dead: 3 },
    failures: [
      { endpoint: "stripe", count: 1 },
      { endpoint: "shop", count: 2 },
    ],
  });
  expect(await idsOf("")).toEqual(["shop/sig_1", "shop/sig_2", "stripe/sig_1"]);
  const { events } = JSON.parse((await ask("api/events?titles=yes")).body) as EventsAnswer;
  expect(events.map(({ title }) => title)).toEqual([
    "The shop's own",
    "A price fell",
    "A price fell",
  ]);
  expect(await idsOf("limit=1")).toEqual(["shop/sig_1"]);
  expect(await idsOf("q=endpoint:stripe")).toEqual(["stripe/sig_1"]);
  expect(JSON.parse((await ask("api/event?id=shop/sig_1")).body)).toMatchObject({
    endpoint: "shop",
  });
  const moved = await move("discard", { eventIds: ["shop/sig_1", "none/sig_1", "stripe/sig_1"] });
  expect(JSON.parse(moved.body)).toEqual({ outcomes: ["moved", "not_found", "moved"] });
  expect(await idsOf("q=state:dead")).toEqual(["shop/sig_2"]);
});
