import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { EVENT_STATES } from "../../../src/kit/inbox/stored-events.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { commit, newEvent } from "../../contract/cases/store-case.js";
import { testWith } from "../../prerequisites.js";
import { callCli } from "../call-cli.js";
import { fill, hasPostgres, KINDS, newFile, newSchema, type Place } from "../fill-inbox.js";
import { ndjson, type CliRun } from "../run-cli.js";
import { serveReceiver } from "../serve-requests.js";

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
/** What a store can hold. A lease is not moved as it is, so it has a test of its own. */
const LINES = fc
  .uniqueArray(
    fc.record({
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
      history: fc.array(
        fc.record({
          at: MOMENT,
          kind: fc.constantFrom("failed", "crashed", "replayed"),
          attempts: COUNT,
          error: fc.option(TEXT),
        }),
        { maxLength: 3 },
      ),
      headers: fc.dictionary(
        TEXT.filter((name) => name !== "__proto__"),
        fc.string({ unit: "binary" }),
        { maxKeys: 3, noNullPrototype: true },
      ),
      remoteAddress: TEXT,
      body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      isGone: fc.boolean(),
    }),
    { selector: ({ eventId }) => eventId, minLength: 60, maxLength: 80 },
  )
  .map((events) =>
    events.map(({ body, isGone, headers, remoteAddress, ...event }) =>
      // Without its payload an event has no headers, nor other facts of its delivery, nor a
      // history.
      isGone && event.state === "done"
        ? { ...lineOf({ body }), ...event, bodyBase64: null, history: [] }
        : { ...lineOf({ body }), ...event, headers, remoteAddress },
    ),
  );

const withoutSeq = (lines: readonly object[]): object[] =>
  lines.map((line) => ({ ...line, seq: 1 }));

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
    const first = Array.from({ length: 1201 }, (_, index) =>
      lineOf({ eventId: `evt_${index}`, body }),
    );
    expect(await imported(place, textOf(first.slice(0, 700)), "--create")).toMatchObject({
      stdout: "imported 700 events; 0 were in the inbox already\n",
    });
    const changed = first.map((line) => ({ ...line, state: "dead", attempts: 9 }));
    const second = await imported(
      place,
      textOf([...changed.slice(0, 700), ...first.slice(700), first[0] as Line]),
      "--json",
    );
    expect(ndjson(second)).toEqual([{ endpoint: null, imported: 501, existing: 701 }]);
    expect(withoutSeq(ndjson(await exported(place)))).toEqual(first);
  });

  testHere("a line of the version before other senders keeps its facts", async () => {
    const { subtype: _subtype, subject: _subject, sender: _sender, ...old } = lineOf({});
    const place = newPlace();
    await imported(
      place,
      textOf([{ ...old, signalType: "price_drop", product: "acme" }]),
      "--create",
    );
    const wanted = { ...old, subtype: "price_drop", subject: "acme", sender: "signals" };
    expect(withoutSeq(ndjson(await exported(place)))).toEqual([wanted]);
  });

  testHere("a bad line is exit 1 with its number, and shows nothing of it", async () => {
    const good = lineOf({});
    const place = newPlace();
    await imported(place, "", "--create");
    for (const [bad, says] of [
      ["tell-nobody", "line 3 is no event of `signalbox inbox export`\n"],
      [JSON.stringify({ ...good, state: "tell-nobody" }), "(see its state)"],
      [
        JSON.stringify({ ...good, bodyBase64: "AAAA" }),
        "its bodyBase64 does not have the hash that is its bodyHash",
      ],
    ] as const) {
      const run = await imported(place, `${textOf([good, good])}${bad}\n`);
      expect(run).toMatchObject({ exitCode: 1, stdout: "" });
      expect(run.stderr).toContain("line 3 ");
      expect(run.stderr).toContain(says);
      expect(run.stderr).not.toContain("tell-nobody");
    }
  });
});

testOnPostgres(
  "a line that PostgreSQL cannot store is told by its number, and those before it are stored",
  async () => {
    const place = newSchema();
    const lines = [
      lineOf({}),
      lineOf({ eventId: "evt_2" }),
      lineOf({ eventId: "tell-\0nobody" }),
      lineOf({ eventId: "evt_4" }),
    ];
    const run = await imported(place, textOf(lines), "--create");
    expect(run).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("line 3 cannot be stored; to leave it out: sed 3d"),
    });
    expect(run.stderr).not.toMatch(/tell|nobody/);
    expect(ndjson(await exported(place)).map(({ eventId }) => eventId)).toEqual(["evt_1", "evt_2"]);
  },
);
