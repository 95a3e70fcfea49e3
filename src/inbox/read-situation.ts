import { commonError, readFailures } from "./failure-groups.js";
import type { Failure, Refusals } from "./inbox-facts.js";
import { readNews } from "./receiver-report.js";
import type { SituationFacts } from "./situation.js";
import type { InboxStore } from "./store.js";
import type { StoreStats } from "./stored-events.js";

/** Everything that a person asks of an inbox first. */
export interface InboxState {
  stats: StoreStats;
  facts: SituationFacts;
  failures: Failure[];
  refusals: Refusals;
}

/** Reads it from the store alone, so that it can be told in another process than the receiver's. @throws SignalboxError `store_failed` */
export async function readInboxState(store: InboxStore, endpoint: string, now: number): Promise<InboxState> {
  const stats = await store.stats(endpoint);
  const failures = await readFailures(store, endpoint);
  const { pause, refusals } = await readNews(store, endpoint, now);
  const hasReceiver = await store.hasReceiver(endpoint);
  const { ready, dead, quarantined, oldestReceivedAgeMs } = stats;
  const counts = { ready, dead, quarantined, oldestReceivedAgeMs };
  // Of a process that has died.
  const current = hasReceiver === false ? null : pause;
  const pausedSubjects = subjectsOf(current?.error, failures);
  return { stats, facts: { ...counts, pause: current, pausedSubjects, hasReceiver, now }, failures, refusals };
}

function subjectsOf(error: string | undefined, failures: readonly Failure[]): number {
  if (error === undefined) return 0;
  const common = commonError({ lastError: error, subject: null });
  return failures.find((failure) => failure.error.startsWith(common))?.subjectCount ?? 0;
}
