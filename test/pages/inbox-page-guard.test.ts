import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { PermanentFailure, type InboxStore } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { inboxPage, type Authorize } from "../../src/page/inbox/inbox-page.js";
import { logLines } from "../http/log-lines.js";
import { listen, startReceiver } from "../http/serve.js";
import { watchedClock } from "../http/watched-clock.js";
import { openWire } from "../http/wire.js";
import { hostileProxy } from "../unit/hostile.js";
import { errorOf } from "../unit/signalbox-error-of.js";
import { askAt, servePage, take, type ServedPage } from "./serve-page.js";

/** The text of a payload, an id or an error that must stay text. */
const HTML = `</script><script>alert(1)</script><img src=x onerror="alert(1)">`;

async function withDead(): Promise<ServedPage> {
  const page = await servePage({
    onSignal: () => {
      throw new PermanentFailure("refused");
    },
  });
  await take(page.receiver, signalEvent("price_drop", { id: "sig_1" }), "dead");
  return page;
}

const codeOf = ({ body }: { body: string }): string =>
  (JSON.parse(body) as { error: { code: string } }).error.code;

test("a page without authorize is refused, in words that show both forms", async () => {
  const receiver = await startReceiver();
  for (const options of [
    undefined,
    {},
    { authorize: true },
    { authorize: "everyone" },
    { authorize: null },
  ]) {
    const { code, message } = errorOf(() => inboxPage(receiver, options as never));
    expect(code).toBe("option_invalid");
    expect(message).toContain("authorize: (request) =>");
    expect(message).toContain('authorize: "loopback"');
  }
});

test("only true allows, and every address asks", async () => {
  for (const answer of [false, undefined, "yes", [true], Promise.resolve("true")]) {
    const { ask, move } = await servePage({}, { authorize: () => answer as boolean });
    for (const path of ["", "assets/inbox.js", "api/overview", "api/live", "none"]) {
      const refused = await ask(path);
      expect(refused).toMatchObject({ status: 403 });
      expect(codeOf(refused)).toBe("forbidden");
    }
    expect(await move("replay", { eventIds: ["sig_1"] })).toMatchObject({ status: 403 });
  }
});

test("an authorize that throws or rejects gets 500; the log names no request", async () => {
  const { logger, lines } = logLines();
  const failing: Authorize[] = [
    () => {
      throw new Error("no session store");
    },
    () => Promise.reject(new Error("no session store")),
    () => {
      throw hostileProxy();
    },
    // The answer is like a promise, and fails when it is asked.
    () =>
      ({
        // oxlint-disable-next-line unicorn/no-thenable -- that is the point
        then() {
          throw new Error("no session store");
        },
      }) as never,
  ];
  for (const authorize of failing) {
    const { ask } = await servePage({ logger }, { authorize });
    const refused = await ask("api/event?id=secret_id", {
      headers: { Cookie: "session=secret_cookie" },
    });
    expect(refused).toMatchObject({ status: 500 });
    expect(codeOf(refused)).toBe("authorize_failed");
    expect(refused.body).not.toContain("session store");
  }
  const about = lines.filter((line) => line.includes("authorize of the inbox page failed"));
  expect(about).toHaveLength(failing.length);
  expect(lines.join("")).not.toContain("secret_");
});

test("an authorize that hangs gets 503 after 10 seconds, and what it says later has no effect", async () => {
  const clock = watchedClock();
  const answers: ((isAllowed: boolean) => void)[] = [];
  const hanging = (): Promise<boolean> => new Promise((resolve) => answers.push(resolve));
  const { ask } = await servePage({ clock }, { authorize: hanging });
  const asked = ask("api/overview");
  await clock.armed(10_000);
  await clock.advance(9_999);
  expect(answers).toHaveLength(1);
  await clock.advance(1);
  const refused = await asked;
  expect(refused).toMatchObject({ status: 503 });
  expect(codeOf(refused)).toBe("authorize_timeout");
  answers[0]?.(true);
  const again = ask("api/overview");
  await clock.armed(10_000);
  answers[1]?.(true);
  expect(await again).toMatchObject({ status: 200 });
});

test("loopback: a browser on this machine gets the page, and a request through a proxy gets 403", async () => {
  const { ask } = await servePage({}, { authorize: "loopback" });
  const host = { Host: "localhost" };
  expect(await ask("api/overview", { headers: host })).toMatchObject({ status: 200 });
  expect(await ask("api/overview", { headers: { ...host, Via: "1.1 proxy" } })).toMatchObject({
    status: 403,
  });
});

test("the redirect to the slash leads nowhere else", async () => {
  const receiver = await startReceiver();
  const page = inboxPage(receiver, { authorize: () => true });
  let originalUrl = "";
  const port = await listen((request, response) =>
    page(Object.assign(request, { originalUrl, url: "/" }), response),
  );
  for (const [url, location] of [
    ["/a/b", "./b/"],
    ["//evil.example", "./evil.example/"],
    ["/javascript:alert(1)", "./javascript:alert(1)/"],
    ["/a?next=//evil.example", "./a/"],
    ["/%0d%0aSet-Cookie:a", "./%0d%0aSet-Cookie:a/"],
  ] as const) {
    originalUrl = url;
    expect(await askAt(port, "").ask("")).toMatchObject({ status: 307, headers: { location } });
  }
  for (const url of ["/a\r\nSet-Cookie: a=b", "/a\u2028b", "/\\evil.example", "/<script>"]) {
    originalUrl = url;
    expect(await askAt(port, "").ask("")).toMatchObject({ status: 200 });
  }
});

test("bodies that are too long are refused", async () => {
  const { move, receiver } = await withDead();
  const most = await move("replay", {
    eventIds: Array.from({ length: 1000 }, (_, index) => `none_${index}`),
  });
  expect(most).toMatchObject({ status: 200 });
  const tooLong = await move("replay", `{"eventIds":["${"a".repeat(1024 * 1024)}"]}`);
  expect(tooLong).toMatchObject({ status: 413, headers: { connection: "close" } });
  expect(codeOf(tooLong)).toBe("body_too_large");
  // Without an announced length, the bytes are counted as they come.
  const pieces = await openWire(await listen(inboxPage(receiver, { authorize: () => true })));
  await pieces.write(
    "POST /api/replay HTTP/1.1\r\nHost: a\r\nX-Signalbox: 1\r\nContent-Type: application/json\r\n",
  );
  await pieces.write("Transfer-Encoding: chunked\r\n\r\n");
  const piece = `10000\r\n${"[".repeat(65_536)}\r\n`;
  for (let index = 0; index < 17; index++) await pieces.write(piece);
  expect(await pieces.next()).toMatchObject({ status: 413 });
  expect(await receiver.inbox.get("sig_1")).toMatchObject({ state: "dead" });
});

test("no id of an event can add a header to its download, and no browser opens it as a page", async () => {
  const inner = memoryStore();
  const store: InboxStore = {
    ...inner,
    // A store that was filled by something else may have any id.
    async get(endpoint, eventId) {
      const event = await inner.get(endpoint, "sig_1");
      return event && { ...event, eventId };
    },
  };
  const { receiver, ask } = await servePage({ store });
  await take(receiver, signalEvent("price_drop", { id: "sig_1" }), "handedOff");
  for (const id of [
    HTML,
    "a\r\nSet-Cookie: a=b",
    'a"; filename="b.html',
    "../../.ssh/keys",
    "..",
    "a\u2028\u202ebil.exe",
    "é".repeat(500),
  ]) {
    const { headers } = await ask(`api/bytes?id=${encodeURIComponent(id)}`);
    expect(headers).toMatchObject({
      "content-type": "application/octet-stream",
      "x-content-type-options": "nosniff",
    });
    expect(headers).not.toHaveProperty("set-cookie");
    expect(headers["content-disposition"]).toMatch(/^attachment; filename="\w[\w.-]{0,99}\.json"$/);
  }
});

test("authorize gets the request of the framework", async () => {
  const seen: (string | undefined)[] = [];
  const authorize = (request: IncomingMessage & { originalUrl?: string }): boolean => {
    seen.push(request.originalUrl);
    return true;
  };
  const { ask } = await servePage({}, { authorize });
  await ask("api/overview");
  expect(seen).toEqual(["/ops/signals/api/overview"]);
});

test("a change whose body takes more than 10 seconds gets 408", async () => {
  const clock = watchedClock();
  const { port } = await servePage({ clock });
  const wire = await openWire(port);
  await wire.write(
    "POST /ops/signals/api/replay HTTP/1.1\r\nHost: page.example\r\nX-Signalbox: 1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
  );
  // The first one is the deadline of authorize.
  await clock.armed(10_000);
  await clock.armed(10_000);
  await clock.advance(10_000);
  expect(await wire.next()).toMatchObject({ status: 408 });
});
