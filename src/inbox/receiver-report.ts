import { parseJson } from "../events/parse-json.js";
import { LONGEST_PROBE_MS, type Pause } from "./dispatch/breaker.js";
import type { InboxStore } from "./store.js";
import { REPORT_KEPT_MS, type StoredReport } from "./stored-events.js";

/** A refused delivery. Nothing in it is proved. */
export interface RefusedDelivery {
  /** In milliseconds since 1970. */
  at: number;
  /** The code of the answer, such as `signature_mismatch`. */
  code: string;
  /** Where it came from; null when that is not known. */
  address: string | null;
  /** The id of the event that it claims to be; null when it cannot be read. */
  eventId: string | null;
}

/** What a receiver says of itself, as the store keeps it for tools in other processes. */
export interface ReceiverReport {
  pause: Pause | null;
  /** How many deliveries were refused, by the first millisecond of the hour, and by code. */
  refused: Record<string, Record<string, number>>;
  /** The newest first. */
  examples: RefusedDelivery[];
}

/** The deliveries that were refused in the last 24 hours. */
export interface Refusals {
  /** The most frequent code first. */
  byCode: { code: string; count: number }[];
  /** The newest first. */
  examples: RefusedDelivery[];
}

/** What the receivers of an endpoint have said. */
export interface ReceiverNews {
  /** Null also when no receiver has said so lately. */
  pause: Pause | null;
  refusals: Refusals;
}

/** A receiver saves its report at least so often while its hand-offs are paused. */
export const PAUSE_SAVED_EVERY_MS = 30_000;
export const MOST_EXAMPLES = 20;

/** Reads what the receivers of an endpoint say of themselves. @throws SignalboxError `store_failed` */
export async function readNews(store: InboxStore, endpoint: string, now: number): Promise<ReceiverNews> {
  const counts = new Map<string, number>();
  const examples: RefusedDelivery[] = [];
  let pause: Pause | null = null;
  for (const stored of await store.reports(endpoint)) {
    const report = reportIn(stored);
    if (report === null) continue;
    // The process may have died since then.
    if (now - stored.at < LONGEST_PROBE_MS + PAUSE_SAVED_EVERY_MS) pause ??= report.pause;
    examples.push(...report.examples);
    for (const [hour, byCode] of Object.entries(report.refused)) {
      if (Number(hour) <= now - REPORT_KEPT_MS) continue;
      for (const [code, count] of Object.entries(byCode)) counts.set(code, (counts.get(code) ?? 0) + count);
    }
  }
  const byCode = [...counts].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count);
  const newest = examples.filter(({ at }) => at > now - REPORT_KEPT_MS).sort((a, b) => b.at - a.at);
  return { pause, refusals: { byCode, examples: newest.slice(0, MOST_EXAMPLES) } };
}

/** @returns null for the report of another version */
function reportIn({ report }: StoredReport): ReceiverReport | null {
  const json = parseJson(Buffer.from(report));
  const found = json.ok ? (json.value as Partial<ReceiverReport> | null) : null;
  return Array.isArray(found?.examples) && typeof found.refused === "object" ? (found as ReceiverReport) : null;
}
