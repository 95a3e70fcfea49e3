import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import type { InboxStore } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { inboxPage, type Authorize } from "../../src/page/inbox/inbox-page.js";
import { logLines } from "../http/log-lines.js";
import { listen, startReceiver } from "../http/serve.js";
import { watchedClock } from "../http/watched-clock.js";
import { openWire, rawRequest, type Answer } from "../http/wire.js";
import { hostileProxy } from "../unit/hostile.js";
import { askAt, everyone, PAGE_MOUNT, PAGE_WRITE, servePage, take } from "./serve-page.js";

/** The status and the code of an answer. */
const refusalOf = ({ status, body }: Answer): string =>
  `${status} ${(JSON.parse(body) as { error: { code: string } }).error.code}`;

test("only true allows, and every address asks, with the request of the framework", async () => {
  const seen: (string | undefined)[] = [];
  let answer: unknown;
  const authorize = (request: IncomingMessage & { originalUrl?: string }) => {
    seen.push(request.originalUrl);
    return answer as boolean;
  };
  const { ask, replay } = await servePage({}, { authorize });
  for (answer of [false, undefined, "yes", [true], Promise.resolve("true")]) {
    for (const path of ["", "assets/inbox.js", "api/overview", "api/live", "none"])
      expect(refusalOf(await ask(path))).toBe("403 forbidden");
    expect(refusalOf(await replay('{"eventIds":["sig_1"]}'))).toBe("403 forbidden");
  }
  expect(seen.slice(0, 2)).toEqual(["/ops/signals/", "/ops/signals/assets/inbox.js"]);
});

test("an authorize that throws or rejects gets 500; the log names no request", async () => {
  const { logger, lines } = logLines();
  const fail = (): never => {
    throw new Error("no session store");
  };
  const failing: Authorize[] = [
    fail,
    () => Promise.reject(new Error("no session store")),
    () => {
      throw hostileProxy();
    },
    // The answer is like a promise, and fails when it is asked.
    // oxlint-disable-next-line unicorn/no-thenable -- that is the point
    () => ({ then: fail }) as never,
  ];
  for (const authorize of failing) {
    const { ask } = await servePage({ logger }, { authorize });
    const headers = { Cookie: "session=secret_cookie" };
    const refused = await ask("api/event?id=secret_id", { headers });
    expect(refusalOf(refused)).toBe("500 authorize_failed");
    expect(refused.body).not.toContain("session store");
  }
  const about = lines.filter((line) => line.includes("authorize of the inbox page failed"));
  expect(about).toHaveLength(failing.length);
  expect(lines.join("")).not.toContain("secret_");
});

test("an authorize that hangs gets 503 after 10 seconds, and what it says later has no effect", async () => {
  const clock = watchedClock();
  const answers: ((isAllowed: boolean) => void)[] = [];
  const authorize = (): Promise<boolean> => new Promise((resolve) => answers.push(resolve));
  const { ask } = await servePage({ clock }, { authorize });
  const asked = ask("api/overview");
  await clock.armed(10_000);
  await clock.advance(9_999);
  expect(answers).toHaveLength(1);
  await clock.advance(1);
  expect(refusalOf(await asked)).toBe("503 authorize_timeout");
  answers[0]?.(true);
  const again = ask("api/overview");
  await clock.armed(10_000);
  answers[1]?.(true);
  expect(await again).toMatchObject({ status: 200 });
});

test("loopback: a browser on this machine gets the page, and a request through a proxy gets 403", async () => {
  const { ask } = await servePage({}, { authorize: "loopback" });
  const headers = { Host: "localhost" };
  expect((await ask("api/overview", { headers })).status).toBe(200);
  expect((await ask("", { headers: { ...headers, Via: "1.1 proxy" } })).status).toBe(403);
});

test("the redirect to the slash leads nowhere else", async () => {
  const page = inboxPage(await startReceiver(), everyone);
  let originalUrl = "";
  const { ask } = askAt(
    await listen((request, response) =>
      page(Object.assign(request, { originalUrl, url: "/" }), response),
    ),
    "",
  );
  for (const [url, location] of [
    ["/a/b", "./b/"],
    ["//evil.example", "./evil.example/"],
    ["/javascript:alert(1)", "./javascript:alert(1)/"],
    ["/a?next=//evil.example", "./a/"],
    ["/%0d%0aSet-Cookie:a", "./%0d%0aSet-Cookie:a/"],
    ["/a\r\nSet-Cookie: a=b", undefined],
    ["/a\u2028b", undefined],
    ["/\\evil.example", undefined],
    ["/<script>", undefined],
  ] as const) {
    originalUrl = url;
    const { status, headers } = await ask("");
    expect([status, headers["location"]]).toEqual([location === undefined ? 200 : 307, location]);
  }
});

test("bodies that are too long are refused, and one that takes more than 10 seconds", async () => {
  const clock = watchedClock();
  const { replay, port } = await servePage({ clock });
  const eventIds = Array.from({ length: 1000 }, (_, index) => `none_${index}`);
  expect(await replay(JSON.stringify({ eventIds }))).toMatchObject({ status: 200 });
  const tooLong = await replay(`{"eventIds":["${"a".repeat(1024 * 1024)}"]}`);
  expect(refusalOf(tooLong)).toBe("413 body_too_large");
  expect(tooLong.headers["connection"]).toBe("close");

  const begin = async (framing: Record<string, string>) => {
    const wire = await openWire(port);
    const headers = { ...PAGE_WRITE, ...framing };
    await wire.write(rawRequest({ path: `${PAGE_MOUNT}/api/replay`, headers, length: false }));
    return wire;
  };
  // Without an announced length, the bytes are counted as they come.
  const pieces = await begin({ "Transfer-Encoding": "chunked" });
  const piece = `10000\r\n${"[".repeat(65_536)}\r\n`;
  for (let index = 0; index < 17; index++) await pieces.write(piece);
  expect(await pieces.next()).toMatchObject({ status: 413 });

  const slow = await begin({ "Content-Length": "9" });
  // Of each request before: the deadline of authorize, and of its body.
  for (let timer = 0; timer < 8; timer++) await clock.armed(10_000);
  await clock.advance(10_000);
  expect(await slow.next()).toMatchObject({ status: 408 });
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
  await take(receiver, signalEvent({ id: "sig_1" }), "handedOff");
  for (const id of [
    `</script><script>alert(1)</script><img src=x onerror="alert(1)">`,
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
