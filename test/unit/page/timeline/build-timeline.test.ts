import { readFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import type { PastStep } from "../../../../src/kit/inbox/stored-events.js";
import {
  buildTimeline,
  type SentAttempt,
  type SentDelivery,
} from "../../../../src/page/timeline/build-timeline.js";
import type { TracedEvent } from "../../../../src/page/timeline/inbox-steps.js";
import { gapBefore } from "../../../../src/page/timeline/timeline-step.js";

const START = Date.UTC(2026, 10, 5, 12);
const dateTime = (after: number): string => new Date(START + after).toISOString();

const STORED: Omit<TracedEvent, "dueAt" | "receivedAt" | "history"> = {
  seq: 1,
  endpoint: "default",
  eventId: "sig_1",
  type: "signal.published",
  state: "done",
  attempts: 1,
  crashes: 0,
  possiblyRepeated: false,
  replayed: false,
  lastError: null,
  subtype: null,
  subject: null,
  sender: "signals",
  bytes: 420,
};

/** Times are in milliseconds after the start. */
interface Case {
  why: string;
  now: number;
  /** The service's time, when its clock differs. */
  serviceNow?: number;
  deliveries?: (Partial<Omit<SentDelivery, "attempts" | "next_attempt_at">> & {
    next?: number;
    attempts?: { at: number; sentAt?: number; status?: number; body?: string; failure?: string }[];
    faults?: SentAttempt["faults"];
  })[];
  /** null: the inbox does not know it. */
  event?: (Partial<Omit<TracedEvent, "history">> & { history?: PastStep[] }) | null;
  /** Written by `--update`. */
  told?: unknown;
}

function tell({ now: after, serviceNow = after, deliveries, event }: Case) {
  const now = START + after;
  const sent = deliveries?.map(({ next, attempts = [], faults = [], ...more }): SentDelivery => {
    const made = attempts.map(({ at, sentAt = at, status, body = "", failure = null }) => ({
      started_at: dateTime(at),
      sent_at: dateTime(sentAt),
      duration_ms: 12,
      answer: status === undefined ? null : { status, body },
      failure,
      faults,
    }));
    const next_attempt_at = next === undefined ? null : dateTime(next);
    const given = { delivery_id: 7, registration_id: "wh_1", created_at: dateTime(0) };
    const usual = { ...given, state: "delivered" as const, redelivery_of: null };
    return { ...usual, ...more, next_attempt_at, attempts: made };
  });
  const stored = event && {
    ...STORED,
    ...event,
    dueAt: START + (event.dueAt ?? 0),
    receivedAt: START + (event.receivedAt ?? 0),
    history: (event.history ?? []).map((past) => ({ ...past, at: START + past.at })),
  };
  const { steps, notes } = buildTimeline({
    now,
    sender: sent === undefined ? null : { deliveries: sent, serviceNow: START + serviceNow },
    inbox: stored === undefined ? null : { event: stored },
  });
  const lines = steps.map(({ at, lane, tone, text, detail, delivery, serviceAt }, index) => {
    const own = serviceAt === undefined ? "" : `, ${(serviceAt - START) / 1000} by the service`;
    const parts = [text, delivery, detail].filter((part) => part !== undefined);
    const gap = gapBefore(steps[index]!, steps[index - 1], now);
    return `${gap && `(${gap}) `}${(at - START) / 1000}${own} ${lane} ${tone}: ${parts.join(" | ")}`;
  });
  return { steps: lines, ...(notes.length > 0 && { notes }) };
}

test("the sides of an event on one axis", async () => {
  const file = join(import.meta.dirname, "golden/timelines.json");
  const cases = JSON.parse(readFileSync(file, "utf8")) as Case[];
  const told = cases.map((each) => ({ ...each, told: tell(each) }));
  const style = { ...(await resolveConfig(file)), parser: "json" };
  await expect(await format(JSON.stringify(told), style)).toMatchFileSnapshot(file);
});
