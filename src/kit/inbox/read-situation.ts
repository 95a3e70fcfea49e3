import { commonError, readFailures } from "./failure-groups.js";
import type { Failure, Refusals } from "./inbox-facts.js";
import { readNews } from "./receiver-report.js";
import type { SituationFacts } from "./situation.js";
import type { InboxStore } from "./store.js";
import type { EventState, StoreStats } from "./stored-events.js";

/** Everything that a person asks of an inbox first. */
export interface InboxState {
  stats: StoreStats;
  facts: SituationFacts;
  failures: Failure[];
  refusals: Refusals;
}

/**
 * Reads it from the store alone, so that it can be told in another process than the receiver's.
 *
 * @param since the facts have only what was given up, quarantined or refused since then. @default
 * refused: 24 hours ago
 * @throws SignalboxError `store_failed`
 */
export async function readInboxState(
  store: InboxStore,
  endpoint: string,
  now: number,
  since?: number,
): Promise<InboxState> {
  const stats = await store.stats(endpoint);
  const failures = await readFailures(store, endpoint);
  const { pause, refusals } = await readNews(store, endpoint, now, since);
  const hasReceiver = await store.hasReceiver(endpoint);
  const { ready, dead, quarantined, oldestReceivedAgeMs, total } = stats;
  // Of a process that has died.
  const current = hasReceiver === false ? null : pause;
  const facts: SituationFacts = {
    ready,
    dead: since === undefined ? dead : await countSince(store, endpoint, "dead", since),
    quarantined:
      since === undefined ? quarantined : await countSince(store, endpoint, "quarantined", since),
    oldestReceivedAgeMs,
    total,
    failing: failures.reduce((sum, { waiting }) => sum + waiting, 0),
    pause: current,
    pausedSubjects: subjectsOf(current?.error, failures),
    // A receiver of another endpoint may have an empty database open.
    hasReceiver: store.shared && total === 0 ? null : hasReceiver,
    refused: refusals.byCode,
    refusedForMs: since === undefined ? undefined : now - since,
    now,
  };
  return { stats, facts, failures, refusals };
}

/** How many events have had this state since then, and not longer. */
async function countSince(
  store: InboxStore,
  endpoint: string,
  state: EventState,
  since: number,
  afterSeq = 0,
): Promise<number> {
  const page = await store.list({ endpoint, state, afterSeq, limit: 500 });
  const last = page.at(-1);
  const count = page.filter(({ dueAt }) => dueAt >= since).length;
  return last === undefined
    ? 0
    : count + (await countSince(store, endpoint, state, since, last.seq));
}

function subjectsOf(error: string | undefined, failures: readonly Failure[]): number {
  if (error === undefined) return 0;
  const common = commonError({ lastError: error, subject: null });
  return failures.find((failure) => failure.error.startsWith(common))?.subjectCount ?? 0;
}
