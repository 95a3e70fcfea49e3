import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NO_HANDLER } from "../../../src/kit/inbox/stored-events.js";
import { PermanentFailure } from "../../../src/kit/index.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { testWith } from "../../prerequisites.js";
import { callCli } from "../call-cli.js";
import { fill, fillInbox, KINDS, type Filling } from "../fill-inbox.js";
import { ndjson, outcomeOf, rowsOf, SECRET, startCli, type CliRun } from "../run-cli.js";
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

async function stateOf(db: Db, id: string): Promise<unknown> {
  return ndjson(await inbox(db, "show", id, "--json"))[0]?.["state"];
}

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
      "ls",
      "ls --state dead",
      "ls --type webhook.test",
      "ls --type price_drop",
      "ls --type issues",
      "ls --type opened --product octo/repo",
      "ls --type price_rise",
      "ls --error 'no … tenant'",
      "ls --before 1d",
      "ls --since 1d --state ready",
      "ls --since soon",
      "ls --state leased",
      "ls --limit 3",
      "ls --limit 3 --after 3",
      "ls --state done --json",
    ]);
  });

  testHere("show prints where an event stands, and its payload on demand", async () => {
    const db = await mixedInbox();
    await expectStory("show", db, [
      "show evt_dead",
      "show default/evt_dead --payload",
      `show ${HASH.slice(0, 23)}`,
      `show ${HASH} --payload`,
      "show evt_issue",
      "show evt_issue --json",
      "show evt_no",
      "retry evt_dead",
      "show evt_dead",
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

  testHere("retry reads a quarantined event as its sender does", async () => {
    const received = {
      at: Date.now(),
      headers: { "x-github-event": "issues", "x-github-delivery": "evt_1" },
    };
    const body = JSON.stringify({ action: "opened", repository: { full_name: "octo/repo" } });
    const db = await filled([
      {
        eventId: HASH,
        type: "",
        sender: "github",
        received,
        body,
        state: "quarantined",
        reason: "not_json",
      },
    ]);
    expect(await inbox(db, "retry", HASH)).toMatchObject({ exitCode: 0 });
    const facts = {
      type: "issues",
      subtype: "opened",
      subject: "octo/repo",
      sender: "github",
      state: "ready",
    };
    expect(ndjson(await inbox(db, "show", "evt_1", "--json"))).toMatchObject([facts]);
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
      "stats",
      "failures",
      "failures --limit 1",
      "failures --json",
      "retry --error 'Error: connect … for …'",
      `retry evt_dead evt_old evt_ready evt_no ${HASH}`,
      "retry",
      "retry evt_1 --all-dead",
    ]);
    expect(ndjson(await inbox(db, "stats", "--json"))[0]).toMatchObject({
      endpoint: "default",
      total: 7,
      hasReceiver: false,
      level: "problem",
    });
    await expectStory("discard", await mixedInbox(), [
      "discard --all-dead",
      "ls --state dead",
      "discard --all-dead --yes",
      `discard ${HASH} evt_ready`,
      "show evt_dead --payload",
      "show evt_dead --raw",
      "retry evt_dead",
      "retry --state dead",
      "retry --error gone",
    ]);
    await expectStory("retry-json", await mixedInbox(), ["retry --all-dead --json"]);
  });

  testHere("retry --state quarantined gives an event that is usable now its real id", async () => {
    const event = signalEvent();
    const body = JSON.stringify(event);
    const db = await filled([
      { eventId: HASH, type: "", state: "quarantined", body, reason: "data_invalid" },
      {
        eventId: `sha256:${"cd".repeat(32)}`,
        type: "",
        state: "quarantined",
        body,
        reason: "data_invalid",
      },
    ]);
    const run = await inbox(db, "retry", "--state", "quarantined", "--json");
    expect(rowsOf(run).map((row) => row["outcome"])).toEqual(["moved", "duplicate"]);
    expect(run.exitCode).toBe(0);
    expect(await stateOf(db, event.id)).toBe("ready");
  });

  testHere("export writes every event with its bytes, page by page", async () => {
    const many = Array.from({ length: 1201 }, (_, index) => ({
      eventId: `evt_${index}`,
      body: `{"n":${index}}`,
    }));
    const db = await filled([
      ...many,
      { eventId: HASH, state: "quarantined", body: LATIN_1, reason: "not_utf8" },
    ]);
    const rows = ndjson(await inbox(db, "export"));
    expect(rows.map((row) => row["eventId"])).toEqual([
      ...many.map(({ eventId }) => eventId),
      HASH,
    ]);
    expect(Buffer.from(rows.at(-1)?.["bodyBase64"] as string, "base64")).toEqual(LATIN_1);
    expect(rows[0]).toMatchObject({
      headers: { "content-type": "application/json" },
      state: "done",
    });
    expect(idsOf(await inbox(db, "export", "--state", "quarantined"))).toEqual([HASH]);
    // As many as one read of `ls` gives: the note needs another one.
    expect((await inbox(db, "ls", "--limit", "500")).stderr).toMatch(
      /older events; for the next page add --after \d+\n$/,
    );
  });

  testHere("prune forgets what is old and done, all of it, and nothing else", async () => {
    const old = Array.from({ length: 1201 }, (_, index) => ({
      eventId: `evt_${index}`,
      ageDays: 40,
    }));
    const db = await filled([
      ...old,
      { eventId: "evt_week", ageDays: 8 },
      { eventId: "evt_new" },
      { eventId: "evt_held", state: "quarantined", ageDays: 400, reason: "not_json" },
      { eventId: "evt_waits", state: "ready", ageDays: 400 },
    ]);
    expect(await inbox(db, "prune")).toMatchObject({
      exitCode: 0,
      stdout: "deleted 1202 payloads and 1201 ids\n",
    });
    expect(idsOf(await inbox(db, "ls", "--json"))).toEqual([
      "evt_waits",
      "evt_held",
      "evt_new",
      "evt_week",
    ]);
    expect(
      ndjson(await inbox(db, "prune", "--json", "--key-days", "7", "--payload-days", "0.5")),
    ).toEqual([{ endpoint: "default", payloads: 0, keys: 1 }]);
  });

  testHere("a retried event of a running receiver is handed off by it", async () => {
    const { args: db, createStore } = newPlace();
    let isRepaired = false;
    const { receiver } = await serveReceiver({
      store: createStore(),
      onSignal() {
        if (!isRepaired) throw new PermanentFailure("\u001b[31mbroken\u001b[0m");
      },
    });
    const dead = new Promise((resolve) => receiver.on("dead", resolve));
    const event = signalEvent();
    await receiver.handle({ method: "POST", ...signedDelivery(event, { secret: SECRET }) });
    await dead;
    await expect.poll(() => receiver.inbox.stats()).toMatchObject({ dead: 1 });
    expect((await inbox(db, "ls")).stdout).toContain("\\u001b[31mbroken");

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

test("a payload that is nested too deep for JSON.stringify is shown as it came", async () => {
  const depth = 200_000;
  const body = "[".repeat(depth) + "]".repeat(depth);
  const db = await fillInbox([{ eventId: "evt_deep", body }]);
  const run = await inbox(["--db", db], "show", "evt_deep", "--payload");
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(run.stdout).toContain(`Nested too deep to indent: ${body}`);
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

test.each<[file: string, words: string]>([
  ["missing.db", "there is no such file"],
  ["loop.db", "loop.db: its links lead in a circle\n"],
  ["text.db", "is not an SQLite file"],
  ["empty.db", "is not an SQLite file"],
  [".", "is not an SQLite file"],
  ["damaged.db", "damaged.db"],
])("what is no inbox is exit 3 with one line: %s", async (file, words) => {
  const damaged = Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(8000, 7)]);
  const folder = tempFiles({ "text.db": "no database", "empty.db": "", "damaged.db": damaged });
  symlinkSync("loop.db", join(folder, "loop.db"));
  const run = await inbox(["--db", join(folder, file)], "ls");
  expect(run).toMatchObject({ exitCode: 3, stdout: "", stderr: expect.stringMatching(/^.+\n$/) });
  expect(run.stderr).toContain(words);
});
