import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import type { AcceptResult, BatchResult, NewEvent } from "../../../src/kit/inbox/batch.js";
import {
  ENDPOINT,
  HEADERS,
  RECEIVED_AT,
  SECOND,
  accept,
  claim,
  claimRequest,
  commit,
  idsOf,
  newEvent,
  settlement,
  storeCase,
  type StoreCase,
} from "./store-case.js";

function keyOf(content: string): Uint8Array {
  return createHash("sha256").update(content).digest();
}

function differences(accepts: readonly AcceptResult[]): unknown[] {
  return accepts.map((each) =>
    each.status === "duplicate" ? [each.otherThan, each.sameBody] : each.status,
  );
}

/** G1 to G4 and G6: accepted events. */
export const ACCEPT_CASES: readonly StoreCase[] = [
  storeCase(
    "G1",
    "an accepted event is on the medium when commit resolves",
    async ({ store, readBack }) => {
      await accept(store, "evt_1");
      const found = await readBack(ENDPOINT, "evt_1");
      strictEqual(found?.state, "ready", "the event was acknowledged before it was on the medium");
    },
  ),
  storeCase(
    "G2",
    "only one of many simultaneous accepts of one id is new",
    async ({ store, sibling }) => {
      const commits = Array.from({ length: 20 }, (_, index) =>
        commit(index % 2 === 0 ? store : sibling, {
          accepts: [newEvent("evt_1"), newEvent(`evt_other_${index}`)],
        }),
      );
      const statuses = (await Promise.all(commits)).map(({ accepts }) => accepts[0]?.status);
      strictEqual(
        statuses.filter((status) => status === "accepted").length,
        1,
        "one id was accepted more than once",
      );
      strictEqual(
        statuses.filter((status) => status === "duplicate").length,
        19,
        "an accept was neither new nor a duplicate",
      );
      const stored = (await store.list({ endpoint: ENDPOINT })).filter(
        ({ eventId }) => eventId === "evt_1",
      );
      strictEqual(stored.length, 1, "one id was stored more than once");
    },
  ),
  storeCase("G2", "one id twice in one batch is one event and one duplicate", async ({ store }) => {
    const { accepts } = await commit(store, { accepts: [newEvent("evt_1"), newEvent("evt_1")] });
    const statuses = accepts.map(({ status }) => status);
    deepStrictEqual(
      statuses,
      ["accepted", "duplicate"],
      "the second accept of an id was not a duplicate",
    );
    strictEqual(
      accepts[0]?.seq,
      accepts[1]?.seq,
      "the duplicate has a different seq from its original",
    );
  }),
  storeCase(
    "G2",
    "a duplicate says in what its original differs, and whether it came by the API",
    async ({ store }) => {
      await accept(store, "evt_1", {
        received: { ...newEvent("evt_1").received, backfilled: true },
      });
      await accept(store, "evt_2", { type: "a", subject: "x" });
      const again = [
        newEvent("evt_1", { body: Buffer.from("other") }),
        newEvent("evt_2", { type: "a", subject: "y" }),
      ];
      const { accepts } = await commit(store, { accepts: again });
      const said = accepts.map(
        (each) => each.status === "duplicate" && [each.isBackfilled, each.differing],
      );
      deepStrictEqual(
        said,
        [
          [true, []],
          [false, ["subject"]],
        ],
        "a difference or the API was not told",
      );
    },
  ),
  storeCase("G2", "the same id at another endpoint is another event", async ({ store }) => {
    await accept(store, "evt_1");
    await accept(store, "evt_1", {}, SECOND);
  }),
  storeCase(
    "G2",
    "a duplicate with another body is reported, and the first body is kept",
    async ({ store }) => {
      await accept(store, "evt_1", { body: Buffer.from("first") });
      const again = await commit(store, {
        accepts: [
          newEvent("evt_1", { body: Buffer.from("first") }),
          newEvent("evt_1", { body: Buffer.from("other") }),
        ],
      });
      const sameBodies = again.accepts.map((each) =>
        each.status === "duplicate" ? each.sameBody : each.status,
      );
      deepStrictEqual(sameBodies, [true, false], "sameBody was wrong");
      const kept = (await store.get(ENDPOINT, "evt_1"))?.rawBody ?? [];
      strictEqual(Buffer.from(kept).toString(), "first", "the first body was replaced");
    },
  ),
  storeCase(
    "G2",
    "an event with the content key of a stored one is its duplicate, whatever its id",
    async (context) => {
      const { store, sibling } = context;
      const alike = (eventId: string, content: string, over: Partial<NewEvent> = {}): NewEvent =>
        newEvent(eventId, {
          body: Buffer.from(content),
          contentKey: keyOf(content),
          state: "leased",
          ...over,
        });
      const statusesOf = ({ accepts }: BatchResult): string[] =>
        accepts.map(({ status }) => status);

      const first = await commit(store, { accepts: [alike("evt_1", "one")] });
      const again = await commit(sibling, {
        accepts: [alike("evt_2", "one"), alike("evt_1", "two")],
      });
      deepStrictEqual(
        statusesOf(again),
        ["duplicate", "duplicate"],
        "a stored id or content was accepted again",
      );
      const { seq } = first.accepts[0] as AcceptResult;
      const found = again.accepts.map((each) => [
        each.seq,
        each.status === "duplicate" && each.sameBody,
      ]);
      const wanted = [
        [seq, true],
        [seq, false],
      ];
      deepStrictEqual(
        found,
        wanted,
        "a duplicate has another seq than its original, or sameBody was wrong",
      );

      const inOneBatch = [
        alike("evt_3", "three"),
        alike("evt_4", "three"),
        alike("evt_4", "four"),
        alike("evt_1", "five"),
      ];
      const statuses = ["accepted", "duplicate", "accepted", "duplicate"];
      deepStrictEqual(
        statusesOf(await commit(store, { accepts: inOneBatch })),
        statuses,
        "a batch was not told apart",
      );
      const bodies = await Promise.all(["evt_3", "evt_4"].map((id) => store.get(ENDPOINT, id)));
      const texts = bodies.map((event) => Buffer.from(event?.rawBody ?? []).toString());
      deepStrictEqual(texts, ["three", "four"], "an event has the body of its duplicate");

      const commits = Array.from({ length: 20 }, (_, index) =>
        commit(index % 2 === 0 ? store : sibling, {
          accepts: [alike(`evt_at_once_${index}`, "six")],
        }),
      );
      const atOnce = (await Promise.all(commits)).flatMap(statusesOf);
      strictEqual(
        atOnce.filter((status) => status === "accepted").length,
        1,
        "one content was accepted more than once",
      );
      strictEqual((await store.list({ endpoint: ENDPOINT })).length, 4, "a duplicate was stored");

      const facts = [
        { eventId: "evt_5" },
        { subtype: "x" },
        { subject: "x" },
        { eventId: "evt_3", subject: "x" },
      ];
      const accepts = facts.map((over) => alike("evt_5", "three", over));
      const wantedFacts = [
        [null, true],
        ["content", true],
        ["content", true],
        ["id", true],
      ];
      const told = differences((await commit(sibling, { accepts })).accepts);
      deepStrictEqual(told, wantedFacts, "a duplicate by content was compared wrongly");
    },
  ),
  storeCase(
    "G2",
    "only events of one endpoint that have a content key are compared by it",
    async ({ store }) => {
      const over = { body: Buffer.from("one") };
      await accept(store, "evt_1", { ...over, contentKey: keyOf("one") });
      await accept(store, "evt_2", over);
      await accept(store, "evt_3", over);
      await accept(store, "evt_4", { ...over, contentKey: keyOf("one") }, SECOND);
    },
  ),
  storeCase(
    "G2",
    "a duplicate says whether the stored event is the same in everything",
    async ({ store, sibling }) => {
      const variants = (eventId: string, text: string): NewEvent[] => {
        const one = { type: "a", subtype: "b", subject: "c", body: Buffer.from(text) };
        const others = [
          { type: "x" },
          { subtype: null },
          { subject: "x" },
          { body: Buffer.from(`other than ${text}`) },
        ];
        return [one, ...others.map((over) => ({ ...one, ...over }))].map((facts) =>
          newEvent(eventId, facts),
        );
      };
      const wanted = [
        [null, true],
        ["id", true],
        ["id", true],
        ["id", true],
        ["id", false],
      ];
      const stored = variants("evt_1", "one");
      await accept(store, "evt_1", stored[0]);
      const apart = stored.map((event, index) =>
        commit(index % 2 === 0 ? store : sibling, { accepts: [event] }),
      );
      const compared = (await Promise.all(apart)).flatMap(({ accepts }) => differences(accepts));
      deepStrictEqual(compared, wanted, "a duplicate was compared wrongly");
      const together = await commit(sibling, { accepts: stored });
      deepStrictEqual(
        differences(together.accepts),
        wanted,
        "the duplicates of one batch were compared wrongly",
      );
      const fresh = await commit(store, { accepts: variants("evt_2", "two") });
      const [first, ...rest] = differences(fresh.accepts);
      deepStrictEqual(
        [first, rest],
        ["accepted", wanted.slice(1)],
        "the events of one batch were compared wrongly",
      );
    },
  ),
  storeCase(
    "G6",
    "an event whose bytes came before is stored and claimed so, with its sender",
    async ({ store }) => {
      await accept(store, "evt_1", { sender: "github", possiblyRepeated: true });
      await accept(store, "evt_2");
      const entries = await store.list({ endpoint: ENDPOINT });
      const marks = (found: readonly { possiblyRepeated: boolean }[]) =>
        found.map((each) => each.possiblyRepeated);
      deepStrictEqual(
        marks(entries),
        [true, false],
        "a mark was not stored, or was stored for another event",
      );
      const { events } = await claim(store);
      deepStrictEqual(marks(events), [true, false], "a claim lost a mark, or made one");
      deepStrictEqual(
        events.map(({ sender }) => sender),
        ["github", null],
        "a claim returned another sender",
      );
    },
  ),
  storeCase(
    "G3",
    "a duplicate waits until its original is on the medium",
    async ({ store, sibling, readBack }) => {
      const commits = Array.from({ length: 10 }, async (_, index) => {
        const { accepts } = await commit(index % 2 === 0 ? store : sibling, {
          accepts: [newEvent("evt_1")],
        });
        if (accepts[0]?.status !== "duplicate") return;
        const original = await readBack(ENDPOINT, "evt_1");
        ok(
          original !== undefined,
          "a duplicate was acknowledged before its original was on the medium",
        );
      });
      await Promise.all(commits);
    },
  ),
  storeCase(
    "G4",
    "settlements, accepts and claim of one batch are applied in this order",
    async ({ store }) => {
      const lease = await accept(store, "evt_1", { state: "leased" });
      const result = await commit(store, {
        settlements: [settlement(lease, { state: "ready", lastError: "Error: x" })],
        accepts: [newEvent("evt_2")],
        claim: claimRequest(),
      });
      deepStrictEqual(result.settlements, [true], "the settlement was not applied");
      deepStrictEqual(
        idsOf(result.claim?.events ?? []),
        ["evt_1", "evt_2"],
        "the claim missed events of its batch",
      );
      strictEqual(
        result.claim?.events[0]?.attempts,
        1,
        "the claim was applied before the settlement",
      );
    },
  ),
  storeCase("G6", "a claimed event has what was received with it", async ({ store }) => {
    const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const traced = { at: RECEIVED_AT, headers: { ...HEADERS, "x-name": "caf\u00e9" }, traceParent };
    await accept(store, "evt_1", { received: traced });
    await accept(store, "evt_2", { received: { at: RECEIVED_AT + 1, headers: {} } });
    const { events } = await claim(store);
    const found = events.map(({ received }) => received);
    deepStrictEqual(
      found,
      [traced, { at: RECEIVED_AT + 1, headers: {} }],
      "a claim returned something else",
    );
  }),
  storeCase("G6", "a body is returned byte for byte, whatever the bytes", async ({ store }) => {
    const bodies = [
      Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
      Buffer.from([0x00, 0xff, 0xfe, 0xc3, 0x28, 0x80, 0x0d, 0x0a]),
      Buffer.from('{"name":"caf\u00e9 \u{1F4C8}"}\r\n'),
      Buffer.alloc(0),
      Buffer.alloc(300_000, 7),
    ];
    for (const [index, body] of bodies.entries()) await accept(store, `evt_${index}`, { body });
    const { events } = await claim(store);
    for (const [index, body] of bodies.entries()) {
      const stored = await store.get(ENDPOINT, `evt_${index}`);
      ok(body.equals(Buffer.from(stored?.rawBody ?? "none")), `body ${index} changed in the store`);
      ok(
        body.equals(Buffer.from(events[index]?.body ?? "none")),
        `body ${index} changed in a claim`,
      );
    }
  }),
];
