import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { PermanentFailure } from "../../../src/kit/index.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { callCli } from "../call-cli.js";
import { fillInbox } from "../fill-inbox.js";
import { outcomeOf, SECRET, startCli, type CliRun } from "../run-cli.js";
import { serveReceiver } from "../serve-requests.js";
import { tempFiles } from "../temp-files.js";

interface Page {
  url: string;
  pid: number;
}

async function startServe(...args: string[]) {
  const child = startCli(["inbox", "serve", "--port", "0", "--json", ...args]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const outcome = outcomeOf(child);
  const [line] = (await once(createInterface(child.stdout!), "line")) as [string];
  const { url, pid } = JSON.parse(line) as Page;
  return {
    url,
    pid,
    kill(signal: NodeJS.Signals): Promise<CliRun> {
      child.kill(signal);
      return outcome;
    },
    api: async (path: string, init?: RequestInit): Promise<unknown> =>
      (await fetch(`${url}api/${path}`, init)).json(),
  };
}

test("the page of a live inbox shows and moves its events, and its receiver does not notice", async () => {
  const db = join(tempFiles(), "signals.db");
  let isBroken = true;
  const { receiver } = await serveReceiver({
    store: sqliteStore(db),
    onSignal: ({ id }) => {
      if (isBroken && id.startsWith("bad")) throw new PermanentFailure("refused");
    },
  });
  const ended = (id: string, name: "dead" | "handedOff"): Promise<void> =>
    new Promise((resolve) => receiver.on(name, ({ eventId }) => eventId === id && resolve()));
  const deliver = async (id: string, name: "dead" | "handedOff"): Promise<void> => {
    const end = ended(id, name);
    const { headers, body } = signedDelivery(signalEvent("price_drop", { id }), { secret: SECRET });
    expect(await receiver.handle({ method: "POST", headers, body })).toMatchObject({ status: 200 });
    await end;
  };
  await deliver("bad_1", "dead");

  const page = await startServe("--db", db);
  expect(page.pid).not.toBe(process.pid);
  expect(new URL(page.url).hostname).toBe("127.0.0.1");
  expect(await page.api("overview")).toMatchObject({
    endpoints: [{ endpoint: "default" }],
    counts: { dead: 1, total: 1 },
  });

  // What the receiver takes while a page listens reaches the page.
  const live = await fetch(`${page.url}api/live`);
  await deliver("good_1", "handedOff");
  let messages = "";
  for await (const chunk of live.body!.pipeThrough(new TextDecoderStream())) {
    messages += chunk;
    if (messages.includes('"done":1')) break;
  }

  isBroken = false;
  const again = ended("bad_1", "handedOff");
  const headers = { "X-Signalbox": "1", "Content-Type": "application/json" };
  const body = JSON.stringify({ eventIds: ["bad_1"] });
  expect(await page.api("replay", { method: "POST", headers, body })).toEqual({
    outcomes: ["moved"],
  });
  await again;
  expect(await page.api("events?q=state:done")).toMatchObject({
    events: [{ eventId: "good_1" }, { eventId: "bad_1" }],
  });
  expect(receiver.health()).toMatchObject({ ok: true, store: { failure: null } });

  const open = fetch(`${page.url}api/live`).then((answer) => answer.text());
  await page.api("overview");
  expect(await page.kill("SIGTERM")).toMatchObject({ exitCode: 0, stderr: "" });
  await open;
  await deliver("good_2", "handedOff");
});

test("a page of another name gets no answer, and Ctrl-C is 130", async () => {
  const page = await startServe("--db", await fillInbox([], "other"));
  const asked = request(page.url, { headers: { Host: "signals.example" } }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(answer.resume().statusCode).toBe(403);
  expect(await page.kill("SIGINT")).toMatchObject({
    exitCode: 130,
    stderr: expect.stringContaining("the inbox is empty"),
  });
});

test("a busy port is a trouble of the environment, in words", async () => {
  const busy = createServer();
  onTestFinished(() => void busy.close());
  await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
  const { port } = busy.address() as { port: number };
  const db = await fillInbox([{ eventId: "evt_1" }]);
  const refused = await callCli(["inbox", "serve", "--db", db, "--port", String(port)]);
  expect(refused).toMatchObject({ exitCode: 3, stdout: "" });
  expect(refused.stderr).toContain(`The port ${port} of 127.0.0.1 is in use.`);
});
