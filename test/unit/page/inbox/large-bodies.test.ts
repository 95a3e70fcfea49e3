import { expect, onTestFinished, test, vi } from "vitest";
import { exportedEvent } from "../../../../src/kit/inbox/exported-event.js";
import type { StoredEvent } from "../../../../src/kit/inbox/stored-events.js";
import { createTitles, eventAnswer } from "../../../../src/page/inbox/answers.js";
import { lineInPieces } from "../../../../src/page/inbox/page-handler.js";

function storedWith(rawBody: Uint8Array | null): StoredEvent {
  const received = { at: 0, headers: {} };
  return {
    eventId: "evt_1",
    endpoint: "default",
    sender: "signals",
    received,
    bodyHash: Buffer.alloc(32),
    rawBody,
  } as Partial<StoredEvent> as StoredEvent;
}

const signalOf = (bytes: number): Buffer =>
  Buffer.from(JSON.stringify({ data: { title: "A title", summary: "é".repeat(bytes / 2) } }));

function countParses(): () => number {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  return () => parse.mock.calls.length;
}

test("of a large event the page gets the beginning, and nothing is parsed", () => {
  const body = signalOf(25_000_000);
  const parses = countParses();
  const answer = eventAnswer(storedWith(body), 0);
  expect(answer).toMatchObject({ isCut: true, title: null, bytes: body.length });
  expect(answer.payload?.length).toBeGreaterThan(1000);
  expect(body.toString("utf8", 0, 20_000).startsWith(answer.payload ?? "-")).toBe(true);
  expect([JSON.stringify(answer).length < 100_000, parses()]).toEqual([true, 0]);
});

test("of an event that is not text the page gets its size alone", () => {
  for (const bytes of [200, 200_000])
    expect(eventAnswer(storedWith(Buffer.alloc(bytes, 0xff)), 0)).toMatchObject({
      payload: null,
      bytes,
    });
});

test("an event of an ordinary size is parsed once, and comes whole with its title", () => {
  const body = signalOf(100_000);
  const parses = countParses();
  const answer = eventAnswer(storedWith(body), 0);
  expect(answer).toMatchObject({ isCut: false, title: "A title" });
  expect(answer.payload).toBe(String(body));
  expect(parses()).toBe(1);
});

test("a list reads no large body for its title", async () => {
  const bodies = new Map([
    ["large", signalOf(5_000_000)],
    ["small", signalOf(1000)],
  ]);
  const titlesOf = createTitles({
    keyOf: ({ eventId }) => eventId,
    async get(id, mostBytes = Infinity) {
      const body = bodies.get(id);
      return storedWith(body === undefined || body.length > mostBytes ? null : body);
    },
  });
  const parses = countParses();
  const entries = [...bodies.keys()].map((eventId) => ({ ...storedWith(null), eventId }));
  expect([await titlesOf(entries), parses()]).toEqual([[null, "A title"], 1]);
});

test.each([0, 1, 786_432, 786_433, 5_000_000])(
  "the pieces of an exported event of %d bytes are its line",
  (bytes) => {
    const event = storedWith(Buffer.alloc(bytes, "signal"));
    const pieces = [...lineInPieces(event)];
    expect(pieces.join("")).toBe(`${JSON.stringify(exportedEvent(event))}\n`);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1_200_000);
  },
);

test("an exported event without a body is one line too", () => {
  const event = storedWith(null);
  expect([...lineInPieces(event)].join("")).toBe(`${JSON.stringify(exportedEvent(event))}\n`);
});
