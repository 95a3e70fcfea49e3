import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { linesOf } from "../../../src/cli/inbox/import-events.js";
import { EVENT_STATES } from "../../../src/kit/inbox/stored-events.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { commit, newEvent } from "../../contract/cases/store-case.js";
import { testWith } from "../../prerequisites.js";
import { callCli } from "../call-cli.js";
import { fill, hasPostgres, KINDS, newFile, newSchema, type Place } from "../fill-inbox.js";
import { ndjson, type CliRun } from "../run-cli.js";
import { serveReceiver } from "../serve-requests.js";
import { expectStory } from "./story.js";

const testOnPostgres = testWith(hasPostgres);
const NOW = Date.now();

const exported = async (place: Place): Promise<CliRun> =>
  callCli(["inbox", "export", ...place.args]);

const imported = (place: Place, input: string, ...others: string[]): Promise<CliRun> =>
  callCli(["inbox", "import", ...place.args, ...others], { input });

type Line = Record<string, unknown> & { eventId: string; bodyBase64: string | null };

const lineOf = ({ body, ...line }: Partial<Line> & { body?: Buffer }): Line => ({
  seq: 1,
  endpoint: "default",
  eventId: "evt_1",
  type: "signal.published",
  state: "done",
  dueAt: NOW,
  attempts: 0,
  crashes: 0,
  possiblyRepeated: false,
  replayed: false,
  receivedAt: NOW,
  lastError: null,
  subtype: null,
  subject: null,
  sender: "signals",
  history: [],
  waitsBehind: null,
  heldCount: 0,
  earlierCount: 0,
  lane: null,
  headers: {},
  bodyHash: createHash("sha256")
    .update(body ?? "")
    .digest("hex"),
  bodyBase64: body === undefined ? null : body.toString("base64"),
  ...line,
});

const textOf = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");

const TEXT = fc
  .string({ unit: "grapheme-composite", maxLength: 40 })
  .map((text) => text.replaceAll("\0", "_"));
const COUNT = fc.nat({ max: 25 });
const MOMENT = fc.integer({ min: NOW - 1e10, max: NOW + 1e9 });
const HEADER_NAME = TEXT.filter((name) => name !== "__proto__");
const STEP = fc.record({
  at: MOMENT,
  kind: fc.constantFrom("failed", "crashed", "replayed"),
  attempts: COUNT,
  error: fc.option(TEXT),
});
/** What a store can hold. A lease is not moved as it is, so it has a test of its own. */
const EVENT = fc.record({
  eventId: TEXT,
  type: TEXT,
  state: fc.constantFrom(...EVENT_STATES.filter((state) => state !== "leased")),
  dueAt: MOMENT,
  attempts: COUNT,
  crashes: COUNT,
  possiblyRepeated: fc.boolean(),
  replayed: fc.boolean(),
  receivedAt: MOMENT,
  lastError: fc.option(TEXT),
  subtype: fc.option(TEXT),
  subject: fc.option(TEXT),
  sender: TEXT,
});
/** What an event without its payload does not have: headers, other facts, a history. */
const DELIVERY = fc.record({
  history: fc.array(STEP, { maxLength: 3 }),
  lane: fc.constantFrom(null, { key: "ab".repeat(16), skips: true, place: null }),
  headers: fc.dictionary(HEADER_NAME, fc.string({ unit: "binary" }), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
  remoteAddress: TEXT,
});
const BODY = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const LINE = fc
  .tuple(EVENT, DELIVERY, BODY, fc.boolean())
  .map(([event, delivery, body, isGone]) => ({
    ...lineOf({ body }),
    ...event,
    ...(isGone && event.state === "done" ? { bodyBase64: null } : delivery),
  }));
const LINES = fc.uniqueArray(LINE, {
  selector: ({ eventId }) => eventId,
  minLength: 60,
  maxLength: 80,
});

const withoutSeq = (lines: readonly object[]): object[] =>
  lines.map((line) => ({ ...line, seq: 1 }));

test("an import whose first line is wrong makes no file", async () => {
  const place = newFile();
  const { exitCode } = await imported(place, `no event\n`, "--create");
  expect([exitCode, existsSync(place.args[1] as string)]).toEqual([1, false]);
});

test("only a line feed ends a line of an import, wherever its pieces end", async () => {
  const place = newFile();
  const lines = [lineOf({ lastError: "a\u2028b\u2029c\u0085ü" }), lineOf({ eventId: "evt_2" })];
  const text = textOf(lines).replace("\n", "\r\n").trimEnd();
  expect(await imported(place, text, "--create")).toMatchObject({ exitCode: 0 });
  expect(withoutSeq(ndjson(await exported(place)))).toEqual(lines);
  const bytes = Array.from(Buffer.from(text), (byte) => Buffer.of(byte));
  const read: string[] = [];
  for await (const line of linesOf(Readable.from(bytes))) read.push(line);
  expect(read).toEqual(text.split("\n"));
});

testOnPostgres(
  "events go to PostgreSQL and back field by field, and none is accepted again",
  async () => {
    await fc.assert(
      fc.asyncProperty(LINES, async (lines) => {
        const places = [newFile(), newSchema(), newFile()];
        let text = textOf(lines);
        for (const place of places) {
          expect(await imported(place, text, "--create", "--json")).toMatchObject({
            exitCode: 0,
            stderr: "",
          });
          const run = await exported(place);
          expect(withoutSeq(ndjson(run))).toEqual(lines);
          text = run.stdout;
          const store = place.createStore();
          await store.open({ endpoint: "default", clock: systemClock });
          const accepts = lines.map(({ eventId, bodyBase64 }) =>
            newEvent(eventId, { body: Buffer.from(bodyBase64 ?? "", "base64") }),
          );
          const results = (await commit(store, { accepts })).accepts;
          await store.close("default");
          expect(results.filter(({ status }) => status !== "duplicate")).toEqual([]);
          for (const [index, result] of results.entries()) {
            if (lines[index]?.bodyBase64 !== null) expect(result).toMatchObject({ sameBody: true });
          }
        }
      }),
      { numRuns: 2, endOnFailure: true },
    );
  },
);

describe.each(KINDS)("an import into $kind:", ({ isThere, newPlace }) => {
  const testHere = testWith(isThere);

  testHere(
    "a receiver goes on where the old one stopped, and the lease of a killed one is a possible repeat",
    async () => {
      const from = newFile();
      const eventOf = (eventId: string) => ({
        eventId,
        body: JSON.stringify(signalEvent({ id: eventId })),
      });
      await fill(from, [
        eventOf("evt_done"),
        { ...eventOf("evt_ready"), state: "ready" },
        { ...eventOf("evt_leased"), state: "leased", leaseMs: 60_000 },
        { ...eventOf("evt_dead"), state: "dead" },
        { ...eventOf("evt_discarded"), state: "dead" },
      ]);
      await callCli(["inbox", "discard", ...from.args, "evt_discarded"]);
      const to = newPlace();
      await imported(to, (await exported(from)).stdout, "--create");

      const handedOff: [string, boolean][] = [];
      const { receiver } = await serveReceiver({
        store: to.createStore(),
        onSignal: ({ id }, { possiblyRepeated }) => void handedOff.push([id, possiblyRepeated]),
      });
      onTestFinished(() => receiver.close());
      await expect.poll(() => receiver.inbox.stats()).toMatchObject({ done: 4, dead: 1, total: 5 });
      expect(new Map(handedOff)).toEqual(
        new Map([
          ["evt_ready", false],
          ["evt_leased", true],
        ]),
      );
      expect(
        await callCli(["inbox", "retry", ...to.args, "evt_dead", "evt_discarded"]),
      ).toMatchObject({
        lines: [
          "evt_dead       ready again",
          "evt_discarded  not retried: its payload was deleted",
          expect.any(String),
        ],
      });
      await expect.poll(() => receiver.inbox.stats()).toMatchObject({ done: 5 });
    },
  );

  testHere("a second import changes nothing, and adds what the first did not have", async () => {
    const place = newPlace();
    const body = Buffer.from("{}");
    const all = Array.from({ length: 1201 }, (_, index) =>
      lineOf({ eventId: `evt_${index}`, body }),
    );
    const [known, others] = [all.slice(0, 700), all.slice(700)];
    const changed = known.map((line) => ({ ...line, state: "dead", attempts: 9 }));
    await expectStory("import", place.args, [
      { args: "inbox import DB --create", input: textOf(known) },
      {
        args: "inbox import DB --json",
        input: textOf([...changed, ...others, ...all.slice(0, 1)]),
      },
    ]);
    expect(withoutSeq(ndjson(await exported(place)))).toEqual(all);
  });

  testHere(
    "a line of the version before other senders keeps its facts, and a bad one is told by its number",
    async () => {
      const good = lineOf({});
      const { subtype: _subtype, subject: _subject, sender: _sender, ...old } = good;
      const place = newPlace();
      const bad = (line: string) => ({
        args: "inbox import DB",
        input: `${textOf([good, good])}${line}\n`,
      });
      await expectStory("import-lines", place.args, [
        {
          args: "inbox import DB --create",
          input: textOf([{ ...old, signalType: "price_drop", product: "acme" }]),
        },
        "inbox ls DB --json",
        bad("tell-nobody"),
        bad(JSON.stringify({ ...good, state: "tell-nobody" })),
        bad(JSON.stringify({ ...good, bodyBase64: "AAAA" })),
      ]);
    },
  );
});

testOnPostgres(
  "a line that PostgreSQL cannot store is told by its number, and those before it are stored",
  async () => {
    const ids = ["evt_1", "evt_2", "tell-\0nobody", "evt_4"];
    await expectStory("import-refused", newSchema().args, [
      {
        args: "inbox import DB --create",
        input: textOf(ids.map((eventId) => lineOf({ eventId }))),
      },
      "inbox ls DB",
    ]);
  },
);
