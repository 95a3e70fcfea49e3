import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { PermanentFailure, type InboxStore } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { inboxPage, type Authorize } from "../../src/page/inbox/inbox-page.js";
import { logLines } from "../http/log-lines.js";
import { listen, startReceiver } from "../http/serve.js";
import { watchedClock } from "../http/watched-clock.js";
import { exchange, openWire } from "../http/wire.js";
import { hostileProxy } from "../unit/hostile.js";
import { errorOf } from "../unit/signalbox-error-of.js";
import { askAt, servePage, take, type ServedPage } from "./serve-page.js";

const MOVE = JSON.stringify({ eventIds: ["sig_1"] });
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

const OWN = { "X-Signalbox": "1", "Content-Type": "application/json" };

test.for<[what: string, headers: Record<string, string>, status: number]>([
  ["no header of its own", { "Content-Type": "application/json" }, 403],
  ["another value of the header", { ...OWN, "X-Signalbox": "true" }, 403],
  ["a form", { ...OWN, "Content-Type": "application/x-www-form-urlencoded" }, 415],
  ["a type that begins alike", { ...OWN, "Content-Type": "application/jsonp" }, 415],
  ["no type", { "X-Signalbox": "1" }, 415],
  ["another origin", { ...OWN, Origin: "https://evil.example" }, 403],
  ["an origin that ends alike", { ...OWN, Origin: "http://evil.page.example" }, 403],
  ["another port", { ...OWN, Origin: "http://page.example:81" }, 403],
  ["no origin at all", { ...OWN, Origin: "null" }, 403],
  ["a foreign site", { ...OWN, "Sec-Fetch-Site": "cross-site" }, 403],
  ["a neighbour", { ...OWN, "Sec-Fetch-Site": "same-site" }, 403],
  ["the headers of the page", { ...OWN, "Content-Type": "application/json; charset=utf-8" }, 200],
  ["its own origin", { ...OWN, Origin: "http://page.example" }, 200],
  ["its own origin behind a proxy", { ...OWN, Origin: "https://PAGE.example" }, 200],
  [
    "any host, if the browser says it",
    { ...OWN, "Sec-Fetch-Site": "same-origin", Origin: "https://a.example" },
    200,
  ],
])(
  "a write with %s moves an event only if it is of the page itself",
  async ([, headers, status]) => {
    const { ask, receiver } = await withDead();
    for (const name of ["replay", "discard"]) {
      const write = { method: "POST", headers: { Host: "page.example", ...headers }, body: MOVE };
      expect(await ask(`api/${name}`, write)).toMatchObject({ status });
    }
    const unmoved = { state: "dead", replayed: false };
    expect(await receiver.inbox.get("sig_1")).toMatchObject(
      status === 200 ? { replayed: true } : unmoved,
    );
  },
);

test("another site can open the page, but reads nothing of the API", async () => {
  const { ask } = await servePage();
  const foreign = { "Sec-Fetch-Site": "cross-site" };
  expect(await ask("", { headers: foreign })).toMatchObject({ status: 200 });
  // Over plain HTTP browsers do not send Sec-Fetch-Site.
  for (const headers of [foreign, { Host: "page.example", Origin: "http://evil.example" }]) {
    for (const path of ["api/overview", "api/events", "api/export", "api/live", "api/bytes?id=1"]) {
      const refused = await ask(path, { headers });
      expect(codeOf(refused)).toBe("foreign_origin");
      expect(
        Object.keys(refused.headers).filter((name) => name.startsWith("access-control")),
      ).toEqual([]);
    }
  }
});

test("loopback: a browser on this machine gets the page, and a request through a proxy gets 403", async () => {
  const { ask } = await servePage({}, { authorize: "loopback" });
  const host = { Host: "localhost" };
  expect(await ask("api/overview", { headers: host })).toMatchObject({ status: 200 });
  expect(await ask("api/overview", { headers: { ...host, Via: "1.1 proxy" } })).toMatchObject({
    status: 403,
  });
});

test("an address that is no address of the page finds nothing", async () => {
  const receiver = await startReceiver();
  const port = await listen(inboxPage(receiver, { authorize: () => true }));
  const paths = [
    "/../api/overview",
    "/assets/../api/overview",
    "/assets/%2e%2e/%2e%2e/package.json",
    "//api/overview",
    "/api/overview/",
    "/api/overview%00",
    "/api\\overview",
    "/assets/__proto__",
    "/api/constructor",
    "http://evil.example/api/overview",
    "*",
  ];
  for (const path of paths) {
    expect({ path, ...(await exchange(port, { method: "GET", path })) }).toMatchObject({
      status: 404,
    });
  }
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

test("bodies that are too long, too many or no list of ids are refused", async () => {
  const { move, ask, receiver } = await withDead();
  const most = await move("replay", {
    eventIds: Array.from({ length: 1000 }, (_, index) => `none_${index}`),
  });
  expect(most).toMatchObject({ status: 200 });
  const tooLong = await move("replay", `{"eventIds":["${"a".repeat(1024 * 1024)}"]}`);
  expect(tooLong).toMatchObject({ status: 413, headers: { connection: "close" } });
  expect(codeOf(tooLong)).toBe("body_too_large");
  for (const body of [
    { eventIds: Array.from({ length: 1001 }, () => "sig_1") },
    { eventIds: [] },
    { eventIds: "sig_1" },
    { eventIds: ["sig_1", 1] },
    null,
    "sig_1",
    `{"__proto__":{"eventIds":["sig_1"]}}`,
    `{"eventIds":["sig_1"]`,
    "",
  ]) {
    const refused = await move("discard", body === "sig_1" ? JSON.stringify(body) : body);
    expect({ body, status: refused.status }).toEqual({ body, status: 400 });
    expect(refused.body).not.toContain("sig_1");
  }
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
  for (const query of ["__proto__=1", "id=constructor", "id=sig_1%00", "id=%ff", "id"]) {
    expect((await ask(`api/event?${query}`)).status).toBeOneOf([400, 404]);
  }
  for (const query of ["limit=0", "limit=201", "limit=1e2", "before=0"]) {
    expect(await ask(`api/events?${query}`)).toMatchObject({ status: 400 });
  }
  expect(await ask("api/activity?range=__proto__")).toMatchObject({ status: 400 });
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

test("an error names the wrong term, and repeats nothing of the request", async () => {
  const { ask } = await servePage();
  for (const search of [`state:${HTML}`, `before:${HTML}`, HTML, "stat:dead_secret"]) {
    const { body } = await ask(`api/events?q=${encodeURIComponent(search)}`);
    expect(body).not.toMatch(/script|img|secret/);
  }
  expect((await ask("api/events?q=state:broken")).body).toContain(
    '\\"state:\\" needs one of ready',
  );
  expect((await ask(`api/${HTML.replaceAll(/[ "<>]/g, "_")}`)).body).not.toContain("script");
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
