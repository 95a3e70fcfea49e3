import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PermanentFailure } from "../../src/kit/index.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { inboxPage } from "../../src/page/inbox/inbox-page.js";
import { PAGE_HEADERS } from "../../src/page/parts/page-server.js";
import { listen, startReceiver } from "../http/serve.js";
import { exchange, type RawRequest } from "../http/wire.js";
import { take } from "./serve-page.js";

const FOLDER = join(import.meta.dirname, "golden");

test("what is refused moves no event, is told in fixed words, and every answer has the headers of a page", async () => {
  const receiver = await startReceiver({
    onSignal: () => {
      throw new PermanentFailure("refused");
    },
  });
  await take(receiver, signalEvent("price_drop", { id: "sig_1" }), "dead");
  const port = await listen(inboxPage(receiver, { authorize: () => true }));
  const text = readFileSync(join(FOLDER, "refusals.json"), "utf8");
  let told = "";
  for (const { why, ...request } of JSON.parse(text) as (RawRequest & { why: string })[]) {
    const { status, headers, body } = await exchange(port, request);
    expect(headers).toMatchObject(
      Object.fromEntries(
        Object.entries(PAGE_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    );
    expect(Object.keys(headers).join(" ")).not.toContain("access-control");
    const { method, path, headers: sent, body: given } = request;
    const asked = [method, path, sent && JSON.stringify(sent), given].filter(Boolean).join(" ");
    const isPage = headers["content-type"]?.startsWith("text/html") === true;
    if (!isPage) expect(body).not.toMatch(/script|onerror|secret/);
    const answer = [status, headers.allow, isPage ? "the page" : body].filter(Boolean).join(" ");
    told += `# ${why}\n${asked.slice(0, 200)}\n${answer}\n`;
  }
  await expect(told).toMatchFileSnapshot(join(FOLDER, "refusals.txt"));
  expect(await receiver.inbox.get("sig_1")).toMatchObject({ state: "dead", replayed: false });
});
