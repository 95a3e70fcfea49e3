import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { github } from "../../src/kit/senders/github.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { createManualClock } from "../../src/kit/testing/index.js";
import { readFixture } from "../../src/kit/testing/signal-event.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";
import { PAGE_HEADERS } from "../../src/page/parts/page-server.js";
import { listen, startReceiver } from "../http/serve.js";
import { exchange, type RawRequest } from "../http/wire.js";
import { everyone, PAGE_WRITE, refuse, take } from "./serve-page.js";

const FOLDER = join(import.meta.dirname, "golden");
const NOW = Date.UTC(2026, 10, 12, 9);

/** What it is about; a request of the page itself has no `headers`. */
type Asked = RawRequest & { why: string };

/**
 * Sends the requests of `golden/NAME.json`, and holds what is answered against `golden/NAME.txt`.
 * With `--update` it is written anew: read its difference before you commit it.
 */
async function playRequests(name: string, port: number): Promise<void> {
  let told = "";
  for (const { why, ...request } of JSON.parse(
    readFileSync(join(FOLDER, `${name}.json`), "utf8"),
  ) as Asked[]) {
    const { method = "GET", path = "", headers: sent, body: given } = request;
    const usual = method === "POST" ? PAGE_WRITE : {};
    const { status, headers, body } = await exchange(port, { method, headers: usual, ...request });
    expect(headers).toMatchObject(
      Object.fromEntries(
        Object.entries(PAGE_HEADERS).map(([header, value]) => [header.toLowerCase(), value]),
      ),
    );
    expect(Object.keys(headers).join(" ")).not.toContain("access-control");
    const asked = [method, path, sent && JSON.stringify(sent), given].filter(Boolean).join(" ");
    const isPage = headers["content-type"]?.startsWith("text/html") === true;
    if (!isPage) expect(body.toLowerCase()).not.toMatch(/script|onerror|secret|signature|v1=/);
    const isLong = status === 200 && body.length > 150;
    const shown = isPage ? "the page" : isLong ? indented(body) : body;
    const answer = [status, headers["allow"], shown].filter(Boolean).join(" ");
    told += `# ${why}\n${asked.slice(0, 200)}\n${answer}\n`;
  }
  await expect(told).toMatchFileSnapshot(join(FOLDER, `${name}.txt`));
}

/** Of an error's stack, one line. */
const indented = (body: string): string =>
  JSON.stringify(JSON.parse(body), null, 2).replaceAll(/(?<=\\n {4}at ).*?(?=")/g, "…");

const signal = (id: string, title?: string): object => {
  const event = readFixture<{ data: { title: string } }>("signals/price_increased");
  return { ...event, id, data: { ...event.data, ...(title !== undefined && { title }) } };
};

test("what is refused moves no event, is told in fixed words, and every answer has the headers of a page", async () => {
  const receiver = await startReceiver({ onSignal: refuse });
  await take(receiver, signal("sig_1"), "dead");
  await playRequests("refusals", await listen(inboxPage(receiver, everyone)));
  expect(await receiver.inbox.get("sig_1")).toMatchObject({ state: "dead", replayed: false });
});

test("the API shows, finds, replays and discards the events of an endpoint", async () => {
  const receiver = await startReceiver({
    clock: createManualClock(NOW),
    onSignal: ({ id }) => (id === "sig_3" ? undefined : refuse()),
  });
  await take(receiver, signal("sig_1"), "dead", NOW);
  await take(receiver, signal("sig_2"), "dead", NOW);
  await take(receiver, signal("sig_3", "Title"), "handedOff", NOW);
  await take(receiver, "not json", "quarantined", NOW);
  await playRequests("one-endpoint", await listen(inboxPage(receiver, everyone)));
});

test("one page over several endpoints: found together, told apart, and moved each in its own", async () => {
  const shared = { store: memoryStore(), clock: createManualClock(NOW), onSignal: refuse };
  const stripe = await startReceiver({ ...shared, endpoint: "stripe" });
  const shop = await startReceiver({ ...shared, endpoint: "shop" });
  // Another sender has no signals.
  const others: object = { sender: github(), onSignal: undefined, onEvent: { push: () => {} } };
  const code = await startReceiver({ ...shared, endpoint: "code", ...others });
  await take(stripe, signal("sig_1"), "dead", NOW);
  await take(shop, signal("sig_2"), "dead", NOW);
  await take(shop, signal("sig_1", "The shop's own"), "dead", NOW);
  const headers = {
    "x-github-event": "issues",
    "x-github-delivery": "evt_1",
    "x-hub-signature-256": "sha256=f00d",
  };
  const body = JSON.stringify({ action: "opened", repository: { full_name: "octo/repo" } });
  await code.accept({ body, headers });
  const page = inboxPage([stripe, shop, code], everyone);
  await playRequests("several-endpoints", await listen(page));
});
