import type { RequestListener } from "node:http";
import express, { type RequestHandler } from "express";
import { expect, onTestFinished, test } from "vitest";
import type { InboxStore } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";
import { logLines } from "../http/log-lines.js";
import { EXPRESSES, listen, makeReceiver, startReceiver } from "../http/serve.js";
import { errorOf } from "../unit/signalbox-error-of.js";
import { askAt, everyone, refuse, servePage, take, type ServedPage } from "./serve-page.js";

async function exported({ port }: ServedPage, query = ""): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/ops/signals/api/export${query}`);
  expect(answer.headers.get("content-disposition")).toBe(
    'attachment; filename="default-events.ndjson"',
  );
  return answer.text();
}

async function takeMany({ receiver }: ServedPage, count: number, end: "dead" | "handedOff") {
  for (let index = 0; index < count; index++)
    await take(receiver, signalEvent({ id: `${end}_${index}` }), end);
}

test("an export has every event that matches, and no signature", async () => {
  const page = await servePage({
    onSignal: ({ id }) => (id.startsWith("dead") ? refuse() : undefined),
  });
  await takeMany(page, 45, "dead");
  await takeMany(page, 1, "handedOff");
  const text = await exported(page, "?q=state:dead");
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ eventId }) => eventId)).toEqual(
    Array.from({ length: 45 }, (_, index) => `dead_${44 - index}`),
  );
  expect(lines[0]).toMatchObject({
    endpoint: "default",
    state: "dead",
    bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const kept = await page.receiver.inbox.get("dead_1");
  expect(kept?.received.headers["x-service-signature"]).toMatch(/^t=/);
  expect(text.toLowerCase()).not.toMatch(/signature|v1=/);
  expect(await exported(page, "?q=state:leased")).toBe("");
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
      if (eventId === "handedOff_0" && (waiting += 1) === 12) release();
      if (eventId === "handedOff_0") await areAllOpen;
      return inner.get(endpoint, eventId);
    },
  };
  const page = await servePage({ store });
  await takeMany(page, 5, "handedOff");
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  // Node warns from the 11th listener of a signal on.
  const texts = await Promise.all(Array.from({ length: 12 }, () => exported(page)));
  expect(texts.map((text) => text.trimEnd().split("\n").length)).toEqual(Array(12).fill(5));
  expect(warnings).toEqual([]);
});

/** How an application mounts a page, and where the page is then. */
const MOUNTS = EXPRESSES.flatMap(({ name, express: framework }) => {
  const mount = (at: string, page: RequestHandler) => framework.Router().use(at, page);
  return [
    { name, at: "/ops/signals", router: (page: RequestHandler) => mount("/ops/signals", page) },
    {
      name: `${name}, nested`,
      at: "/admin/tenants/a:b/signals",
      router: (page: RequestHandler) =>
        mount("/admin", mount("/tenants/:tenant", mount("/signals", page))),
    },
  ].map((each) => ({ ...each, framework }));
});

test.each(MOUNTS)("$name: the page works below a mount", async ({ at, router, framework }) => {
  const page = inboxPage(await startReceiver(), everyone);
  const { ask } = askAt(await listen(framework().use(router(page)) as RequestListener), "");
  for (const path of [at, `${at}?from=mail`]) {
    expect(await ask(path.slice(1))).toMatchObject({
      status: 307,
      headers: { location: "./signals/" },
    });
  }
  const below = (path: string) => ask(`${at.slice(1)}/${path}`);
  const html = await below("");
  expect(html).toMatchObject({
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
  const [, script = ""] = /src="(assets\/[^"]+)"/.exec(html.body) ?? [];
  for (const path of [script, "api/overview"])
    expect(await below(path)).toMatchObject({ status: 200 });
  // Nothing in the page has an address of its own.
  expect(html.body).not.toMatch(/(?:src|href)="(?:\/|https?:)/);
});

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
