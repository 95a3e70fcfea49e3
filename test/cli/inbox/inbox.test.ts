import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NO_HANDLER } from "../../../src/kit/inbox/stored-events.js";
import { PermanentFailure, type Signal } from "../../../src/kit/index.js";
import { signalEvent, signedDelivery } from "../../../src/kit/testing/index.js";
import { callCli } from "../call-cli.js";
import { testWith } from "../../prerequisites.js";
import { fill, fillInbox, KINDS } from "../fill-inbox.js";
import { ndjson, outcomeOf, rowsOf, SECRET, startCli, type CliRun } from "../run-cli.js";
import { serveReceiver } from "../serve-requests.js";
import { tempFiles } from "../temp-files.js";

const LATIN_1 = Buffer.from('{"text":"caf\u00e9"}', "latin1");
const HASH = `sha256:${"ab".repeat(32)}`;

/** The inbox of a test: the options that name it. */
type Db = readonly string[];

const inbox = (db: Db, ...args: string[]): Promise<CliRun> =>
  callCli(["inbox", args[0] as string, ...db, ...args.slice(1)]);

const idsOf = (run: CliRun): unknown[] => ndjson(run).map((row) => row["eventId"]);

async function stateOf(db: Db, id: string): Promise<unknown> {
  return ndjson(await inbox(db, "show", id, "--json"))[0]?.["state"];
}

/** The cells of each line, as on a machine that is never slow. */
const cellsOf = ({ lines }: CliRun): string[][] =>
  lines.map((line) =>
    line
      .replace(/\b[1-9]\d* s\b/, "0 s")
      .trim()
      .split(/ {2,}/),
  );

describe.each(KINDS)("an inbox in $kind:", ({ isThere, newPlace }) => {
  const testHere = testWith(isThere);

  async function filled(
    ...filling: Parameters<typeof fill> extends [unknown, ...infer Rest] ? Rest : never
  ): Promise<Db> {
    const place = newPlace();
    await fill(place, ...filling);
    return place.args;
  }

  const mixedInbox = (): Promise<Db> =>
    filled([
      { eventId: "evt_done", type: "webhook.test", ageDays: 2 },
      { eventId: "evt_ready", state: "ready" },
      {
        eventId: "evt_dead",
        state: "dead",
        subtype: "price_drop",
        body: JSON.stringify(signalEvent({ id: "evt_dead" })),
      },
      { eventId: HASH, type: "", state: "quarantined", body: LATIN_1, reason: "not_utf8" },
    ]);

  testHere("ls prints a table, newest first, with readable ages", async () => {
    const run = await inbox(await mixedInbox(), "ls");
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(cellsOf(run)).toEqual([
      ["STATE", "TYPE", "ABOUT", "AGE", "ID"],
      ["quarantined", "0 s", HASH.slice(0, 23), "not_utf8"],
      ["dead", "price_drop", "0 s", "evt_dead", "20 tries, the queue is down"],
      ["ready", "0 s", "evt_ready"],
      ["done", "webhook.test", "2 d", "evt_done"],
    ]);
  });

  testHere("ls filters by state and type, and goes on after a page", async () => {
    const db = await mixedInbox();
    expect(idsOf(await inbox(db, "ls", "--json", "--state", "dead"))).toEqual(["evt_dead"]);
    expect(idsOf(await inbox(db, "ls", "--json", "--type", "webhook.test"))).toEqual(["evt_done"]);
    expect(idsOf(await inbox(db, "ls", "--json", "--type", "price_drop"))).toEqual(["evt_dead"]);
    expect((await inbox(db, "ls", "--type", "price_rise")).stderr).toBe("no event matches\n");
    expect(idsOf(await inbox(db, "ls", "--json", "--error", "queue … down"))).toEqual(["evt_dead"]);
    expect(idsOf(await inbox(db, "ls", "--json", "--before", "1d"))).toEqual(["evt_done"]);
    expect(idsOf(await inbox(db, "ls", "--json", "--since", "1d", "--state", "ready"))).toEqual([
      "evt_ready",
    ]);
    expect((await inbox(db, "ls", "--since", "soon")).stderr).toContain(
      "how long ago (30m, 2h, 7d)",
    );
    const first = await inbox(db, "ls", "--json", "--limit", "3");
    expect(idsOf(first)).toEqual([HASH, "evt_dead", "evt_ready"]);
    expect(first.stderr).toBe("there are older events; for the next page add --after 2\n");
    const second = await inbox(db, "ls", "--json", "--limit", "3", "--after", "2");
    expect(idsOf(second)).toEqual(["evt_done"]);
    expect(second.stderr).toBe("");
  });

  testHere(
    "an event of another sender is shown with its sender, and the service's as before",
    async () => {
      const headers = { "x-github-event": "issues", "x-hub-signature-256": "sha256=f00d" };
      const received = {
        at: Date.now(),
        headers,
        signatureHeader: "x-hub-signature-256",
        backfilled: true,
      } as const;
      const facts = { subtype: "opened", subject: "octo/repo", sender: "github" };
      const db = await filled([
        { eventId: "evt_issue", type: "issues", ...facts, received, reason: NO_HANDLER },
        { eventId: "evt_signal", subtype: "price_drop", subject: "acme" },
      ]);
      expect(cellsOf(await inbox(db, "ls"))).toEqual([
        ["STATE", "TYPE", "ABOUT", "AGE", "ID"],
        ["done", "price_drop", "acme", "0 s", "evt_signal"],
        [
          "done",
          "github issues opened",
          "octo/repo",
          "0 s",
          "evt_issue",
          "ignored: no function of onEvent takes its type",
        ],
      ]);
      for (const type of ["issues", "opened"])
        expect(idsOf(await inbox(db, "ls", "--json", "--type", type))).toEqual(["evt_issue"]);
      const issue = await inbox(db, "show", "evt_issue");
      for (const row of [
        /^subtype +opened$/m,
        /^subject +octo\/repo$/m,
        /^sender +github$/m,
        /^marks +backfilled$/m,
        /^result +ignored: no function of onEvent takes its type$/m,
        /^x-hub-signature-256 +not shown$/m,
      ]) {
        expect(issue.stdout).toMatch(row);
      }
      expect(issue.stdout).not.toMatch(/last error|no_handler/);
      const signal = (await inbox(db, "show", "evt_signal")).stdout;
      expect(signal).toMatch(/^signal type +price_drop\nproduct +acme\nendpoint/m);
      for (const words of [["export"], ["show", "evt_issue", "--json"]])
        expect((await inbox(db, ...words)).stdout).not.toContain("f00d");
    },
  );

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

  testHere("an empty list says why it is empty", async () => {
    const db = await filled([{ eventId: "evt_1" }], "orders");
    expect((await inbox(db, "ls", "--endpoint", "orders", "--state", "dead")).stderr).toBe(
      "no event is dead\n",
    );
    expect(idsOf(await inbox(db, "ls", "--endpoint", "orders", "--json"))).toEqual(["evt_1"]);
  });

  testHere(
    "show prints where an event stands, its last error, and its payload on demand",
    async () => {
      const db = await mixedInbox();
      const { stdout } = await inbox(db, "show", "evt_dead");
      expect(stdout).toMatch(/^id +evt_dead$/m);
      expect(stdout).toMatch(/^state +dead$/m);
      expect(stdout).toMatch(/^last error +the queue is down$/m);
      expect(stdout).toMatch(/^content-type +application\/json$/m);
      expect(stdout).not.toMatch(/evidence_summary/);
      const args = ["inbox", "show", "evt_dead", ...db];
      const narrow = (await callCli([...args, "--payload"], { columns: 60 })).stdout;
      const payload = JSON.parse(narrow.slice(narrow.indexOf("\n\n"))) as Signal;
      expect(payload.data.evidence_summary.length).toBeGreaterThan(60);
      expect((await inbox(db, "show", "default/evt_dead")).stdout).toMatch(/^id +evt_dead$/m);
      expect((await inbox(db, "show", HASH.slice(0, 23))).stdout).toMatch(
        new RegExp(`^id +${HASH}$`, "m"),
      );
      const unknown = await inbox(db, "show", "evt_no");
      expect([unknown.exitCode, unknown.stderr]).toEqual([
        1,
        expect.stringContaining("no event evt_no in this inbox"),
      ]);
    },
  );

  testHere(
    "show prints an error with its stack and each earlier step on lines of their own, and ls the first line",
    async () => {
      const reason =
        "TypeError: no \u001b tenant\n    at onSignal (file:///app/on-signal.js:3:9)\ncaused by Error: below";
      const db = await filled([{ eventId: "evt_dead", state: "dead", reason }]);
      const { stdout } = await inbox(db, "show", "evt_dead");
      expect(stdout).toMatch(
        /^last error +TypeError: no \\u001b tenant\n +at onSignal \(.*:3:9\)\n +caused by Error: below$/m,
      );
      expect((await inbox(db, "ls")).stdout).toMatch(/ TypeError: no \\u001b tenant$/m);
      await inbox(db, "retry", "evt_dead");
      expect((await inbox(db, "show", "evt_dead")).stdout).toMatch(
        /^history +2\S+Z \(.*\) attempt 20 failed: TypeError: no \\u001b tenant\n +2\S+Z \(.*\) replayed$/m,
      );
    },
  );

  testHere("show --raw writes the exact bytes", async () => {
    const db = await mixedInbox();
    const child = startCli(["inbox", "show", HASH, ...db, "--raw"]);
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    await new Promise((resolve) => child.once("close", resolve));
    expect(Buffer.concat(chunks)).toEqual(LATIN_1);
    expect((await inbox(db, "show", HASH, "--payload")).stdout).toContain(LATIN_1.toString("hex"));
  });

  testHere(
    "retry prints the outcome of each id, and one that was not moved is exit 1",
    async () => {
      const db = await mixedInbox();
      const run = await inbox(db, "retry", "evt_dead", "evt_done", "evt_ready", "evt_no", HASH);
      expect(run.exitCode).toBe(1);
      expect(cellsOf(run)).toEqual([
        ["evt_dead", "ready again"],
        ["evt_done", "ready again"],
        ["evt_ready", "due now"],
        ["evt_no", "not found"],
        [HASH.slice(0, 23), expect.stringMatching(/^not retried: /)],
        ["3 retried, 2 not retried"],
      ]);
      expect(await stateOf(db, "evt_dead")).toBe("ready");
    },
  );

  testHere(
    "failures groups what fails, and retry takes a group, whether it waits or is dead",
    async () => {
      const failed = (eventId: string, over: object) => ({
        eventId,
        subject: `product-${eventId}`,
        ...over,
      });
      const db = await filled([
        failed("evt_1", {
          state: "dead",
          reason: "Error: connect 10.0.0.1 for product-evt_1\n    at f (a.js:1)",
        }),
        failed("evt_2", { state: "failing", reason: "Error: connect 10.0.0.2 for product-evt_2" }),
        failed("evt_3", { state: "dead", reason: "TypeError: no tenant" }),
      ]);
      const error = "Error: connect … for …";
      expect(ndjson(await inbox(db, "failures", "--json"))).toMatchObject([
        { error, count: 2, waiting: 1, dead: 1, subjectCount: 2, eventIds: ["evt_2", "evt_1"] },
        { error: "TypeError: no tenant", count: 1, subjects: ["product-evt_3"] },
      ]);
      const printed = await inbox(db, "failures", "--limit", "1");
      expect(printed.stdout).toMatch(
        /^ +2 +Error: connect … for …\n.*1 waiting; 1 dead;.*\n.*retry --error 'Error: connect … for …'/,
      );
      expect(printed.stderr).toContain("1 other error");
      const retried = await inbox(db, "retry", "--error", error);
      expect(cellsOf(retried)).toEqual([
        ["evt_2", "due now"],
        ["evt_1", "ready again"],
        ["2 retried, 0 not retried"],
      ]);
      expect(retried.stderr).toContain("no receiver has this inbox open");
    },
  );

  testHere("retry --all-dead moves what is dead and nothing else", async () => {
    const db = await mixedInbox();
    const run = await inbox(db, "retry", "--all-dead", "--json");
    expect(run.exitCode).toBe(0);
    expect(rowsOf(run)).toEqual([{ endpoint: "default", eventId: "evt_dead", outcome: "moved" }]);
    expect(await inbox(db, "retry", "--state", "dead")).toMatchObject({
      exitCode: 0,
      stderr: "no event is dead\n",
    });
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

  testHere(
    "discard drops the payload and keeps the id, for named ids or for all with --yes",
    async () => {
      const db = await mixedInbox();
      expect(await inbox(db, "discard", "--all-dead")).toMatchObject({ exitCode: 2, stdout: "" });
      expect(await stateOf(db, "evt_dead")).toBe("dead");
      expect(await inbox(db, "discard", "--all-dead", "--yes")).toMatchObject({
        exitCode: 0,
        stdout: "evt_dead  discarded\n",
      });
      expect(await inbox(db, "discard", HASH, "evt_ready")).toMatchObject({ exitCode: 1 });
      expect((await inbox(db, "show", "evt_dead", "--payload")).stdout).toContain(
        "The payload was deleted",
      );
      expect(await inbox(db, "show", "evt_dead", "--raw")).toMatchObject({
        exitCode: 1,
        stdout: "",
      });
      expect(await inbox(db, "retry", "evt_dead")).toMatchObject({
        exitCode: 1,
        stdout: "evt_dead  not retried: its payload was deleted\n",
      });
    },
  );

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

  testHere("no command tells a signature", async () => {
    const db = await mixedInbox();
    for (const words of [
      ["export"],
      ["show", "evt_dead"],
      ["show", "evt_dead", "--json", "--payload"],
    ]) {
      const { stdout } = await inbox(db, ...words);
      expect(stdout).toContain("content-type");
      expect(stdout).not.toContain("v1=");
    }
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

  testHere("stats says what is wrong in a sentence, and counts the states", async () => {
    const db = await mixedInbox();
    expect(cellsOf(await inbox(db, "stats")).slice(0, 3)).toEqual([
      [
        "No receiver has this inbox open. 1 dead: hand-offs were given up. 1 quarantined: they could not be read. " +
          "1 waiting, the oldest received 0 s ago.",
      ],
      ["ENDPOINT", "READY", "LEASED", "DONE", "DEAD", "QUARANTINED"],
      ["default", "1", "0", "1", "1", "1"],
    ]);
    expect(ndjson(await inbox(db, "stats", "--json"))[0]).toMatchObject({
      endpoint: "default",
      ready: 1,
      total: 4,
    });
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
