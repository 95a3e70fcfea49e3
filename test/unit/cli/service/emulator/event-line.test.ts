import { expect, test } from "vitest";
import {
  createEventLine,
  type EventNamed,
} from "../../../../../src/cli/service/emulator/report-event.js";

const plain = (text: string): string => text;
const PAINT = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };
const ON = { registration_id: "wh_id_of_the_first", endpoint: "http://localhost:3000/hook" };

type Attempt = Omit<EventNamed<"sent">, "event">;

function attempt(more: Partial<Attempt> = {}): Attempt {
  const signal = { signal_type: "price_increased", slug: "union-tongue" };
  return {
    ...ON,
    delivery_id: 5,
    event_id: "sig_1_2",
    event_type: "signal.published",
    redelivery_of: null,
    ...(more.event_type === undefined && signal),
    at: "2026-11-05T12:00:00.000Z",
    attempt: 1,
    result: 200,
    duration_ms: 3,
    ...more,
  };
}

const VERIFICATION = { event_type: "webhook.verification" } as const;
const SIGNAL = {
  signal_id: 1,
  event_id: "sig_1_2",
  slug: "union-tongue",
  signal_type: "price_increased",
  tool_id: 2,
};
const MOVE: EventNamed<"clock_moved"> = {
  event: "clock_moved",
  now: "2026-12-02T08:00:00.000Z",
  signals_published: 143,
  deliveries: { created: 143, delivered: 141, failed: 2, expired: 0, waiting: 0 },
  registrations_paused: [],
};

test("each event is one line, and a registration has a short name, which its first line explains", () => {
  const line = createEventLine(PAINT);
  const lines = [
    line({ event: "registered", account_id: 1, signal_types: 30, ...ON }),
    line({ event: "verified", ...attempt(VERIFICATION) }),
    line({ event: "published", ...SIGNAL, registrations: 1, accounts_over_limit: 0 }),
    line({ event: "sent", ...attempt() }),
    line({
      event: "refused",
      next_attempt_at: "2026-11-05T12:00:10.000Z",
      ...attempt({ result: 401, answer_code: "signature_mismatch" }),
    }),
    line({ event: "retried", ...attempt({ attempt: 2, duplicate: true }) }),
    line({ event: "sent", ...attempt({ redelivery_of: 5, registration_id: "wh_other" }) }),
    line({ event: "refused", next_attempt_at: null, ...attempt({ result: "connection_refused" }) }),
    line({ event: "refused", next_attempt_at: null, ...attempt(VERIFICATION) }),
    line({
      event: "published",
      ...SIGNAL,
      registrations: 0,
      accounts_over_limit: 0,
      hint: "nobody follows it",
    }),
  ];
  expect(lines).toEqual([
    "registered wh_1 (wh_id_of_the_first) http://localhost:3000/hook for 30 signal types",
    "verified wh_1 200 in 3 ms",
    null,
    "published price_increased union-tongue → wh_1 200 in 3 ms",
    "refused price_increased union-tongue → wh_1 401 signature_mismatch in 3 ms, again in 10 s",
    "retried price_increased union-tongue → wh_1 200 duplicate in 3 ms",
    "redelivered price_increased union-tongue → wh_2 (wh_other) 200 in 3 ms",
    "refused price_increased union-tongue → wh_1 connection refused, not sent again",
    "refused webhook.verification → wh_1 200 without the challenge in 3 ms, not sent again",
    "published price_increased union-tongue: nobody follows it",
  ]);
});

test("of an advance with many deliveries some lines are shown, and the last one says how many are not", () => {
  const line = createEventLine(PAINT);
  for (const many of [42, 3]) {
    const shown = Array.from({ length: many }, () =>
      line({ event: "sent", ...attempt(), during_advance: true }),
    );
    expect(shown.filter((text) => text !== null)).toHaveLength(Math.min(many, 40));
    const hidden = many > 40 ? " (2 more lines are not shown)" : "";
    expect(line(MOVE)).toBe(
      `advanced to 2026-12-02 08:00 UTC: 143 signals published, 141 delivered, 2 failed, 0 waiting${hidden}`,
    );
  }
});
