import fs, { symlinkSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NO_HANDLER } from "../../../src/kit/inbox/done-reasons.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { testWith } from "../../prerequisites.js";
import { callCli } from "../call-cli.js";
import { expectGolden, transcriptOf } from "../golden.js";
import { fill, fillInbox, KINDS, type Filling } from "../fill-inbox.js";
import { ndjson, outcomeOf, SECRET, startCli, type CliRun } from "../run-cli.js";
import { serveReceiver } from "../serve-requests.js";
import { tempFiles } from "../temp-files.js";
import { expectStory } from "./story.js";

const LATIN_1 = Buffer.from('{"text":"caf\u00e9"}', "latin1");
const STACK =
  "TypeError: no \u001b tenant\n    at onSignal (file:///app/on-signal.js:3:9)\ncaused by Error: below";
const HASH = `sha256:${"ab".repeat(32)}`;

/** The inbox of a test: the options that name it. */
type Db = readonly string[];

const inbox = (db: Db, ...args: string[]): Promise<CliRun> =>
  callCli(["inbox", args[0] as string, ...db, ...args.slice(1)]);

const idsOf = (run: CliRun): unknown[] => ndjson(run).map((row) => row["eventId"]);

describe.each(KINDS)("an inbox in $kind:", ({ isThere, newPlace }) => {
  const testHere = testWith(isThere);

  async function filled(
    ...filling: Parameters<typeof fill> extends [unknown, ...infer Rest] ? Rest : never
  ): Promise<Db> {
    const place = newPlace();
    await fill(place, ...filling);
    return place.args;
  }

  const mixedInbox = (...others: Filling[]): Promise<Db> =>
    filled([
      { eventId: "evt_old", type: "webhook.test", ageDays: 2 },
      { eventId: "evt_ready", state: "ready" },
      {
        eventId: "evt_dead",
        state: "dead",
        subtype: "price_drop",
        subject: "acme",
        body: '{"about":"acme"}',
        reason: STACK,
      },
      { eventId: HASH, type: "", state: "quarantined", body: LATIN_1, reason: "not_utf8" },
      {
        eventId: "evt_issue",
        type: "issues",
        subtype: "opened",
        subject: "octo/repo",
        sender: "github",
        reason: NO_HANDLER,
        received: {
          at: Date.now(),
          headers: { "x-github-event": "issues", "x-hub-signature-256": "sha256=f00d" },
          signatureHeader: "x-hub-signature-256",
          backfilled: true,
        },
      },
      ...others,
    ]);

  testHere("ls prints a table, filters, and goes on after a page", async () => {
    await expectStory("ls", await mixedInbox(), [
      "inbox ls DB",
      "inbox ls DB --state dead",
      "inbox ls DB --type webhook.test",
      "inbox ls DB --type opened --product octo/repo",
      "inbox ls DB --error 'no … tenant'",
      "inbox ls DB --before 1d",
      "inbox ls DB --since soon",
      "inbox ls DB --limit 3",
      "inbox ls DB --limit 3 --after 3",
      "inbox ls DB --state done --json",
    ]);
  });

  testHere("show prints where an event stands, and its payload on demand", async () => {
    const db = await mixedInbox();
    await expectStory("show", db, [
      "inbox show DB evt_dead",
      "inbox show DB default/evt_dead --payload",
      `inbox show DB ${HASH.slice(0, 23)}`,
      `inbox show DB ${HASH} --payload`,
      "inbox show DB evt_issue",
      "inbox show DB evt_issue --json",
      "inbox show DB evt_no",
      "inbox retry DB evt_dead",
      "inbox show DB evt_dead",
    ]);
    const child = startCli(["inbox", "show", HASH, ...db, "--raw"]);
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    await new Promise((resolve) => child.once("close", resolve));
    expect(Buffer.concat(chunks)).toEqual(LATIN_1);
  });

  testHere("a payload is not broken at the edge of a terminal", async () => {
    const db = await filled([
      { eventId: "evt_1", body: JSON.stringify({ long: "word ".repeat(40) }) },
    ]);
    const { lines } = await callCli(["inbox", "show", ...db, "evt_1", "--payload"], {
      columns: 60,
    });
    expect(lines.at(-2)?.length).toBeGreaterThan(200);
  });

  testHere("retry, failures, discard and stats say what became of each event", async () => {
    const failing = { eventId: "evt_2", state: "failing", subject: "b-2" } as const;
    const db = await mixedInbox(
      {
        eventId: "evt_1",
        state: "dead",
        subject: "a-1",
        reason: "Error: connect 10.0.0.1 for a-1\n    at f (a.js:1)",
      },
      { ...failing, reason: "Error: connect 10.0.0.2 for b-2" },
    );
    await expectStory("moves", db, [
      "inbox stats DB",
      "inbox failures DB",
      "inbox failures DB --limit 1",
      "inbox failures DB --json",
      "inbox retry DB --error 'Error: connect … for …'",
      `inbox retry DB evt_dead evt_old evt_ready evt_no ${HASH}`,
      "inbox retry DB",
    ]);
    await expectStory("discard", await mixedInbox(), [
      "inbox discard DB --all-dead",
      "inbox discard DB --dry-run evt_dead evt_ready evt_no",
      "inbox ls DB --state dead",
      "inbox discard DB --all-dead --yes",
      "inbox discard DB --all-dead",
      `inbox discard DB ${HASH} evt_ready`,
      "inbox show DB evt_dead --payload",
      "inbox show DB evt_dead --raw",
      "inbox retry DB evt_dead",
      "inbox retry DB --state dead",
      "inbox retry DB --error gone",
    ]);
    await expectStory("retry-json", await mixedInbox(), ["inbox retry DB --all-dead --json"]);
  });

  testHere(
    "retry reads a quarantined event as its sender does, and gives it its real id",
    async () => {
      const event = signalEvent("price_drop", { id: "sig_1_2" });
      const unread = { type: "", state: "quarantined", reason: "data_invalid" } as const;
      const headers = { "x-github-event": "issues", "x-github-delivery": "evt_1" };
      const signal = { ...unread, body: JSON.stringify(event) };
      const db = await filled([
        { ...signal, eventId: HASH },
        { ...signal, eventId: `sha256:${"cd".repeat(32)}` },
        {
          ...unread,
          eventId: `sha256:${"ef".repeat(32)}`,
          sender: "github",
          received: { at: Date.now(), headers },
          body: JSON.stringify({ action: "opened", repository: { full_name: "octo/repo" } }),
        },
      ]);
      await expectStory("retry-quarantined", db, [
        "inbox retry DB --state quarantined --json",
        "inbox ls DB",
      ]);
    },
  );

  testHere("export writes every event with its bytes, page by page", async () => {
    const ids = Array.from({ length: 1201 }, (_, index) => `evt_${index}`);
    const db = await filled([
      ...ids.map((eventId) => ({ eventId, body: eventId })),
      { eventId: HASH, state: "quarantined", body: LATIN_1, reason: "not_utf8" },
    ]);
    const rows = ndjson(await inbox(db, "export"));
    const bytesOf = (row: (typeof rows)[number]) =>
      Buffer.from(row["bodyBase64"] as string, "base64");
    expect(rows.map((row) => row["eventId"])).toEqual([...ids, HASH]);
    expect(rows.map((row) => bytesOf(row).toString("latin1"))).toEqual([
      ...ids,
      LATIN_1.toString("latin1"),
    ]);
    expect(rows[0]).toMatchObject({ headers: { "content-type": "application/json" } });
    expect(idsOf(await inbox(db, "export", "--state", "quarantined"))).toEqual([HASH]);
    // As many as one read of `ls` gives: the note needs another one.
    expect((await inbox(db, "ls", "--limit", "500")).stderr).toMatch(
      /older events; for the next page add --after \d+\n$/,
    );
  });

  testHere("prune forgets what is old and done, all of it, and nothing else", async () => {
    const db = await filled([
      ...Array.from({ length: 1201 }, (_, index) => ({ eventId: `evt_${index}`, ageDays: 40 })),
      { eventId: "evt_week", ageDays: 8 },
      { eventId: "evt_new" },
      { eventId: "evt_held", state: "quarantined", ageDays: 400, reason: "not_json" },
      { eventId: "evt_waits", state: "ready", ageDays: 400 },
    ]);
    await expectStory("prune", db, [
      "inbox prune DB --dry-run",
      "inbox prune DB",
      "inbox ls DB",
      "inbox prune DB --json --key-days 7 --payload-days 0.5",
    ]);
  });

  testHere("prune passes a thousand events that it keeps", async () => {
    const db = await filled([
      ...Array.from({ length: 1100 }, (_, index) => ({
        eventId: `evt_${index}`,
        state: "quarantined" as const,
        ageDays: 40,
      })),
      { eventId: "evt_old", ageDays: 40 },
      { eventId: "evt_new" },
    ]);
    const run = await inbox(db, "prune", "--json");
    expect(JSON.parse(run.stdout)).toMatchObject({ payloads: 1, keys: 1 });
  });

  testHere("a retried event of a running receiver is handed off by it", async () => {
    const { args: db, createStore } = newPlace();
    let isRepaired = false;
    const { receiver } = await serveReceiver({
      store: createStore(),
      handoff: { maxAttempts: 4, backoff: () => 1 },
      onSignal() {
        if (!isRepaired) throw new Error("\u001b[31mbroken\u001b[0m");
      },
    });
    const dead = new Promise((resolve) => receiver.on("dead", resolve));
    const event = signalEvent();
    await receiver.handle({ method: "POST", ...signedDelivery(event, { secret: SECRET }) });
    await dead;
    await expect.poll(() => receiver.inbox.stats()).toMatchObject({ dead: 1 });
    expect((await inbox(db, "ls")).stdout).toContain("\\u001b[31mbroken");
    const { stdout: shown } = await inbox(db, "show", event.id);
    expect(shown).toContain("hand-off 4 failed: the same error");

    isRepaired = true;
    const handedOff = new Promise((resolve) => receiver.on("handedOff", resolve));
    const run = await inbox(db, "retry", event.id);
    expect(run).toMatchObject({ exitCode: 0, stdout: `${event.id}  ready again\n`, stderr: "" });
    expect(await handedOff).toMatchObject({ eventId: event.id });
    await expect.poll(() => receiver.inbox.stats()).toMatchObject({ done: 1, dead: 0 });
    expect(receiver.health().ok).toBe(true);
  });

  testHere("control characters in an id or an error are shown, not obeyed", async () => {
    const eventId = "evt_\u001b[2J\u0007\u009b\u202e";
    const shown = "evt_\\u001b[2J\\u0007\\u009b\\u202e";
    const db = await filled([{ eventId, state: "dead", reason: "\u001b]0;owned\u0007" }]);
    const outputs = [
      await inbox(db, "ls"),
      await inbox(db, "ls", "--json"),
      await inbox(db, "show", eventId, "--payload"),
      await inbox(db, "show", `${eventId}?`),
      await inbox(db, "export"),
      await inbox(db, "retry", eventId, "evt_\u001bno"),
      await inbox(db, "ls", "--state", eventId),
      await inbox(db, "ls", "--endpoint", eventId),
    ];
    for (const { stdout, stderr } of outputs) {
      expect(stdout + stderr).toContain(shown);
      expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    }
    expect(idsOf(outputs[1] as CliRun)).toEqual([eventId]);
  });
});

test("on a terminal an event is one line, with its title and an id that can be typed", async () => {
  const title = "Acme lowered the price of its largest plan";
  const eventId = "evt_1MqqbKLt4dXK03v5qaIbiNCC";
  const db = await fillInbox([
    { eventId: "sig_1_2", body: JSON.stringify({ data: { title } }) },
    { eventId, type: "customer.subscription.updated", state: "dead" },
    { eventId: eventId.replace("C", "D") },
  ]);
  const env = { SIGNALBOX_DB: db, NO_COLOR: "1" };
  const shown = (columns: number) => callCli(["inbox", "ls"], { env, columns });
  const { lines, stderr } = await shown(80);
  expect([lines.length, stderr]).toEqual([4, `inbox: ${db}\n`]);
  const [id = ""] = /evt_\S+…\S+/.exec(lines[2] ?? "") ?? [];
  expect((await callCli(["inbox", "show", id], { env })).stdout).toContain(eventId);
  // Nothing is cut while columns are free.
  expect((await shown(120)).stdout).toContain(`  ${title}\n`);
});

test("the note of an inbox from the environment has its host and name, and no password", async () => {
  const noteOf = async (url: string) =>
    (await callCli(["inbox", "ls"], { env: { SIGNALBOX_DB: url } })).stderr.split("\n")[0];
  expect(await noteOf("postgres://me:hunter2@127.0.0.1:1/events?sslmode=disable")).toBe(
    "inbox: SIGNALBOX_DB @127.0.0.1:1/events",
  );
  // What stands before the @ can be a password with a slash or a question mark.
  for (const url of [
    "postgres://me:12/34@127.0.0.1:1/events",
    "postgres://me:12?34@[::1]:1/x",
    "postgres://me:12#34@127.0.0.1:1/x",
    "postgres://me:a#34@127.0.0.1:1/x",
  ])
    expect(await noteOf(url)).toBe("inbox: SIGNALBOX_DB");
});

test("a payload that is nested too deep for JSON.stringify is shown as it came", async () => {
  const depth = 200_000;
  const body = "[".repeat(depth) + "]".repeat(depth);
  const db = await fillInbox([{ eventId: "evt_deep", body }]);
  const run = await inbox(["--db", db], "show", "evt_deep", "--payload");
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(run.stdout).toContain(`Nested too deep to indent: ${body}`);
});

test("a full disk is told by stats", async () => {
  const db = await fillInbox([{ eventId: "evt_1" }]);
  const full = vi.spyOn(fs, "statfsSync").mockReturnValue({ bavail: 0, bsize: 4096 } as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    full.mockRestore();
    syncBuiltinESMExports();
  });
  const { exitCode, lines } = await callCli(["inbox", "stats", "--db", db]);
  expect([exitCode, lines[0]]).toEqual([
    1,
    `The disk of ${dirname(db)} has less than 64 MiB free; deliveries get 503. No receiver has this inbox open.`,
  ]);
});

test("a reader that goes away (| head) ends an export without a word", async () => {
  const body = "x".repeat(20_000);
  const db = await fillInbox(
    Array.from({ length: 1000 }, (_, index) => ({ eventId: `evt_${index}`, body })),
  );
  const child = startCli(["inbox", "export", "--db", db]);
  const outcome = outcomeOf(child);
  child.stdout?.once("data", () => child.stdout?.destroy());
  expect(await outcome).toMatchObject({ exitCode: 0, stderr: "" });
});

test("what is no inbox is exit 3 with one line", async () => {
  const damaged = Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(8000, 7)]);
  const folder = tempFiles({ "text.db": "no database", "empty.db": "", "damaged.db": damaged });
  symlinkSync("loop.db", join(folder, "loop.db"));
  const names = ["missing.db", "loop.db", "text.db", "empty.db", "", "damaged.db"];
  const text = await transcriptOf(names.map((name) => `inbox ls --db ${folder}/${name}`));
  await expectGolden("no-inbox", text);
});
