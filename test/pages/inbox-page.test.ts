import type { RequestListener } from "node:http";
import express, { type RequestHandler } from "express";
import { expect, onTestFinished, test } from "vitest";
import type { InboxStore } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";
import { logLines } from "../http/log-lines.js";
import { EXPRESSES, listen, makeReceiver, startReceiver } from "../http/serve.js";
import { turns, until } from "../unit/until.js";
import { errorOf } from "../unit/signalbox-error-of.js";
import { askAt, everyone, refuse, servePage, take } from "./serve-page.js";

test("exports at once have every event that matches and no signature, and cause no warning in the host application", async () => {
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
  const { receiver, port } = await servePage({
    store,
    onSignal: ({ id }) => (id === "sig_45" ? undefined : refuse()),
  });
  for (let index = 0; index < 46; index++) {
    const event = signalEvent({ id: `sig_${index}` });
    await take(receiver, event, index === 45 ? "handedOff" : "dead");
  }
  const kept = await receiver.inbox.get("sig_1");
  expect(kept?.received.headers["x-service-signature"]).toMatch(/^t=/);
  const exported = async (state: string): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/ops/signals/api/export?q=state:${state}`);
    expect(answer.headers.get("content-disposition")).toBe(
      'attachment; filename="default-events.ndjson"',
    );
    return answer.text();
  };
  expect(await exported("leased")).toBe("");
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  // Node warns from the 11th listener of a signal on.
  const texts = await Promise.all(Array.from({ length: 12 }, () => exported("dead")));
  expect(warnings).toEqual([]);
  expect(new Set(texts).size).toBe(1);
  const [text = ""] = texts;
  expect(text.toLowerCase()).not.toMatch(/signature|v1=/);
  const lines = text.trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const bodyHash = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
  expect(events).toMatchObject(
    Array.from({ length: 45 }, (_, index) => {
      return { eventId: `sig_${44 - index}`, endpoint: "default", state: "dead", bodyHash };
    }),
  );
});

test.each(EXPRESSES)(
  "$name: the page works below nested mounts",
  async ({ express: framework }) => {
    const mount = (path: string, page: RequestHandler) => framework.Router().use(path, page);
    const page = mount("/signals", inboxPage(await startReceiver(), everyone));
    const app = framework().use(mount("/admin", mount("/tenants/:tenant", page)));
    const at = "/admin/tenants/a:b/signals";
    const { ask } = askAt(await listen(app as RequestListener), at);
    for (const path of [at, `${at}?from=mail`]) {
      const headers = { location: "./signals/" };
      expect(await ask("", { path })).toMatchObject({ status: 307, headers });
    }
    const html = await ask("");
    expect(html).toMatchObject({
      status: 200,
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    const [, script = ""] = /src="(assets\/[^"]+)"/.exec(html.body) ?? [];
    for (const path of [script, "api/overview"])
      expect(await ask(path)).toMatchObject({ status: 200 });
    // Nothing in the page has an address of its own.
    expect(html.body).not.toMatch(/(?:src|href)="(?:\/|https?:)/);
  },
);

test("a body that the application has parsed or kept is used", async () => {
  const page = inboxPage(await startReceiver(), everyone);
  const type = "*/*";
  for (const parser of [express.json(), express.raw({ type }), express.text({ type })]) {
    const port = await listen(express().use(parser, page) as RequestListener);
    expect(await askAt(port, "").replay('{"eventIds":["none"]}')).toMatchObject({
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
    expect(await ask(path)).toMatchObject({
      status: 503,
      headers: { "content-type": "application/json; charset=utf-8" },
      body: '{"error":{"code":"store_failed","message":"The store of the inbox does not work now. The log has the error."}}',
    });
  }
  expect(lines.filter((line) => line.includes("sda1"))).toHaveLength(1);
});

test("before start() and after close() it answers 503", async () => {
  const receiver = makeReceiver();
  const { ask } = askAt(await listen(inboxPage(receiver, everyone)), "");
  expect(await ask("api/overview")).toMatchObject({ status: 503 });
  expect(await ask("")).toMatchObject({ status: 200 });
  await receiver.start();
  expect(await ask("api/overview")).toMatchObject({ status: 200 });
  await receiver.close();
  expect(await ask("api/overview")).toMatchObject({ status: 503 });
});

test("a page of what is no receiver is refused, and one without authorize, in words that show both forms", () => {
  for (const wrong of [undefined, null, {}, Promise.resolve()]) {
    expect(errorOf(() => inboxPage(wrong as never, everyone))).toMatchObject({
      code: "option_invalid",
      message: "inboxPage needs the receiver that createReceiver returns.",
    });
  }
  const receiver = makeReceiver();
  const others = [true, "everyone", null].map((authorize) => ({ authorize }));
  for (const options of [undefined, {}, ...others]) {
    const { code, message } = errorOf(() => inboxPage(receiver, options as never));
    expect(code).toBe("option_invalid");
    expect(message).toContain("authorize: (request) =>");
    expect(message).toContain('authorize: "loopback"');
  }
});

test.each(["events?q=nowhere&limit=1", "export?q=nowhere"])(
  "when the client has gone, a search does not go on: api/%s",
  async (path) => {
    const inner = memoryStore();
    let searches = 0;
    let resume: () => void = () => {};
    const store: InboxStore = {
      ...inner,
      async search(endpoint, query) {
        const page = await inner.search(endpoint, { ...query, limit: 1 });
        if ((searches += 1) === 2) await new Promise<void>((go) => (resume = go));
        return page;
      },
    };
    const receiver = await startReceiver({ store, onSignal: () => undefined });
    const page = inboxPage(receiver, everyone);
    let hasGone = false;
    const port = await listen((request, response) => {
      response.on("close", () => (hasGone = true));
      page(request, response);
    });
    for (let index = 0; index < 20; index++) await take(receiver, signalEvent(), "handedOff");
    const leaving = new AbortController();
    const { signal } = leaving;
    const left = fetch(`http://127.0.0.1:${port}/api/${path}`, { signal }).catch(() => undefined);
    await until(() => searches === 2);
    leaving.abort();
    await left;
    await until(() => hasGone);
    resume();
    await turns();
    expect(searches).toBe(2);
  },
);

test("each of several endpoints is read in a turn of its own, so that the host waits for one of them at most", async () => {
  const inner = memoryStore();
  const readIn: number[] = [];
  let turn = 0;
  let timer: NodeJS.Immediate | undefined;
  const next = (): void => {
    turn += 1;
    timer = setImmediate(next);
  };
  onTestFinished(() => clearImmediate(timer));
  const store: InboxStore = {
    ...inner,
    stats(endpoint) {
      readIn.push(turn);
      return inner.stats(endpoint);
    },
    activity(endpoint, query) {
      readIn.push(turn);
      return inner.activity(endpoint, query);
    },
  };
  const endpoints = ["stripe", "shop", "code"];
  const receivers = await Promise.all(
    endpoints.map((endpoint) => startReceiver({ store, endpoint })),
  );
  const port = await listen(inboxPage(receivers, everyone));
  for (const path of ["overview", "activity?range=week"]) {
    readIn.length = 0;
    next();
    expect(await askAt(port, "").ask(`api/${path}`)).toMatchObject({ status: 200 });
    clearImmediate(timer);
    expect(new Set(readIn).size).toBe(endpoints.length);
  }
});
