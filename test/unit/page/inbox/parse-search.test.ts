import { expect, test } from "vitest";
import { parseSearch, type Wanted } from "../../../../src/page/inbox/parse-search.js";
import { Refusal } from "../../../../src/page/inbox/refusal.js";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const HOUR_MS = 3_600_000;
const at = (text: string) => ({ receivedBefore: Date.parse(text) });

test.for<[search: string, wanted: Wanted]>([
  ["", {}],
  ["   ", {}],
  ["state:dead", { state: "dead" }],
  ["STATE:Dead", { state: "dead" }],
  ["type:price_drop", { typeOrSubtype: "price_drop" }],
  ["subtype:opened", { subtype: "opened" }],
  ["type:webhook.test", { type: "webhook.test" }],
  ["product:acme-voice", { subject: "acme-voice" }],
  ["subject:octo/repo", { subject: "octo/repo" }],
  ["id:evt:1", { eventId: "evt:1" }],
  ["sig_8857", { eventId: "sig_8857" }],
  ["sha256:00ff", { eventId: "sha256:00ff" }],
  ["12:30", { eventId: "12:30" }],
  ["__proto__:x", { eventId: "__proto__:x" }],
  [":x", { eventId: ":x" }],
  ["before:2h", { receivedBefore: NOW - 2 * HOUR_MS }],
  ["before:30m", { receivedBefore: NOW - HOUR_MS / 2 }],
  ["before:1W", { receivedBefore: NOW - 7 * 24 * HOUR_MS }],
  ["before:0s", { receivedBefore: NOW }],
  ["after:2h", { receivedAfter: NOW - 2 * HOUR_MS }],
  [`error:"timed out" state:dead`, { error: "timed out", state: "dead" }],
  ["before:2026-11-01", at("2026-11-01T00:00:00Z")],
  ["before:2026-11-01T09:00", at("2026-11-01T09:00:00Z")],
  ["before:2026-11-01T09:00:01.5Z", at("2026-11-01T09:00:01.500Z")],
  ["before:2026-11-01T09:00+02:00", at("2026-11-01T07:00:00Z")],
  [
    " state:dead\ttype:price_drop  product:acme before:2026-11-01 sig_1 ",
    {
      state: "dead",
      typeOrSubtype: "price_drop",
      subject: "acme",
      eventId: "sig_1",
      ...at("2026-11-01T00:00:00Z"),
    },
  ],
  // What an event has both ways can be asked for both ways.
  [
    "type:signal.published type:price_drop",
    { type: "signal.published", typeOrSubtype: "price_drop" },
  ],
])("%o is read", ([search, wanted]) => {
  expect(parseSearch(search, NOW)).toEqual(wanted);
});

test.for<[search: string, message: string]>([
  ["state:", '"state:" has no value after it.'],
  ["state:broken", '"state:" needs one of ready, leased, done, dead, quarantined.'],
  ["state:constructor", '"state:" needs one of'],
  [
    "before:yesterday",
    '"before:" needs a day (2026-11-01), a time (2026-11-01T09:00Z), or how long ago (30m, 2h, 7d).',
  ],
  ["before:2026-13-01", '"before:" needs a day'],
  ["before:2026-02-31", '"before:" needs a day'],
  ["before:2026-11-01T25:00", '"before:" needs a day'],
  ["before:1e9h", '"before:" needs a day'],
  ["before:2y", '"before:" needs a day'],
  ["stat:dead", 'Did you mean "state:"?'],
  [
    "colour:red",
    "Known are type:, subtype:, state:, product:, subject:, endpoint:, id:, error:, before:, after:.",
  ],
  ["constructor:x", "Known are type:"],
  ["state:dead state:done", '"state:" is there twice.'],
  ["before:1h before:2h", '"before:" is there twice.'],
  ["product:acme subject:acme", '"subject:" is there twice.'],
  ["sig_1 sig_2", '"id:" is there twice.'],
  ["sig_1 id:sig_2", '"id:" is there twice.'],
  ["sig_\0", "NUL"],
  ["a".repeat(1001), "longer than 1000 characters"],
])("%o is refused, in words", ([search, message]) => {
  let refusal: unknown;
  try {
    parseSearch(search, NOW);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({ status: 400, code: "search_invalid" });
  expect((refusal as Refusal).message).toContain(message);
});
