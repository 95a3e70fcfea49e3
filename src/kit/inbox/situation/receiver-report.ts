import { parseJson } from "../../../base/text/parse-json.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import { LONGEST_PROBE_MS } from "../dispatch/breaker.js";
import type { InboxStore } from "../store.js";
import {
  type Pause,
  type RefusedDelivery,
  type Refusals,
  REPORT_KEPT_MS,
  type StoredReport,
} from "./trouble.js";

/** What a receiver says of itself, as the store keeps it for tools in other processes. */
export interface ReceiverReport {
  /** Null: older reports of one are over. Absent: of a shared inbox, so they may not be. */
  pause?: Pause | null | undefined;
  /** How many deliveries were refused, by the first millisecond of the span, and by code. */
  refused: Record<string, Record<string, number>>;
  /** The newest first. */
  examples: RefusedDelivery[];
}

/** What the receivers of an endpoint have said. */
export interface ReceiverNews {
  /** Null also when no receiver has said so lately. */
  pause: Pause | null;
  refusals: Refusals;
  reports: ReceiverReport[];
}

/** A receiver saves its report at least so often while its hand-offs are paused. */
export const PAUSE_SAVED_EVERY_MS = 30_000;
/** So exact is the time of refused deliveries. */
export const REFUSED_SPAN_MS = 5 * MINUTE_MS;
export const MOST_EXAMPLES = 20;

/**
 * Reads what the receivers of an endpoint say of themselves. @throws SignalboxError `store_failed`
 */
export async function readNews(
  store: InboxStore,
  endpoint: string,
  now: number,
  since = now - REPORT_KEPT_MS,
): Promise<ReceiverNews> {
  const refusals: Refusals[] = [];
  const reports: ReceiverReport[] = [];
  let pause: ReceiverReport["pause"];
  for (const stored of await store.reports(endpoint)) {
    const report = reportIn(stored);
    if (report === null) continue;
    // The process may have died since then.
    if (now - stored.at < LONGEST_PROBE_MS + PAUSE_SAVED_EVERY_MS && pause === undefined)
      pause = report.pause;
    const byCode = countsSince(report.refused, since);
    reports.push(report);
    refusals.push({ byCode, examples: report.examples.filter(({ at }) => at > since) });
  }
  return { pause: pause ?? null, refusals: joinRefusals(refusals), reports };
}

/** The counts by code of all spans that end after `since`. */
export function countsSince(refused: ReceiverReport["refused"], since: number): Refusals["byCode"] {
  const spans = Object.entries(refused).filter(([at]) => Number(at) + REFUSED_SPAN_MS > since);
  return spans.flatMap(([, counts]) =>
    Object.entries(counts).map(([code, count]) => ({ code, count })),
  );
}

/** The refusals of several receivers. */
export function joinRefusals(all: readonly Refusals[]): Refusals {
  const counts = new Map<string, number>();
  for (const { code, count } of all.flatMap(({ byCode }) => byCode))
    counts.set(code, (counts.get(code) ?? 0) + count);
  const examples = all.flatMap((each) => each.examples).sort((a, b) => b.at - a.at);
  return {
    byCode: [...counts].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count),
    examples: examples.slice(0, MOST_EXAMPLES),
  };
}

/** @returns null for the report of another version */
function reportIn({ report }: StoredReport): ReceiverReport | null {
  const json = parseJson(Buffer.from(report));
  const found = json.ok ? (json.value as Partial<ReceiverReport> | null) : null;
  return Array.isArray(found?.examples) && typeof found.refused === "object"
    ? (found as ReceiverReport)
    : null;
}
