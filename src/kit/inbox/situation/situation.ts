import { formatAge, formatCount, formatUtc } from "../../../base/text/format.js";
import { visible } from "../../../base/text/visible-text.js";
import { DAY_MS, HOUR_MS } from "../../../base/time/units.js";
import { unanswered } from "./alarm.js";
import { commonError, readFailures } from "./failure-groups.js";
import { readNews, REFUSED_SPAN_MS, type ReceiverReport } from "./receiver-report.js";
import type { InboxStore } from "../store.js";
import type { Pause, Refusals, Failure, StoredAlarm } from "./trouble.js";
import type { BlockingEvent, EventState, StoreStats } from "../stored-events.js";

/** What is known of an inbox. Null: not known. */
export interface SituationFacts {
  /** Events that wait for their hand-off. */
  ready: number | null;
  dead: number | null;
  quarantined: number | null;
  oldestReceivedAgeMs: number | null;
  /** For how long one has been due. */
  oldestReadyAgeMs: number | null;
  /** Events in any state. */
  total?: number | undefined;
  /** The oldest dead event that others wait behind. */
  blocking?: BlockingEvent | null | undefined;
  /** How many of the waiting events have failed before. */
  failing?: number | undefined;
  pause: Pause | null;
  /** How many different subjects fail with the error of the pause. */
  pausedSubjects?: number | undefined;
  hasReceiver: boolean | null;
  /** Why every delivery gets 503 now. */
  unavailable?: string | null | undefined;
  /** The refused deliveries, the most frequent code first. */
  refused?: Refusals["byCode"] | undefined;
  /** For how long they were counted. @default 24 hours */
  refusedForMs?: number | undefined;
  /** When the last new event came, if that is longer ago than `alarms.quietAfterMs` allows. */
  quietSince?: number | null | undefined;
  now: number;
}

/** What a person must act on, the worst first. */
const PROBLEM_IDS = [
  "inbox_not_storing",
  "inbox_behind",
  "inbox_paused",
  "inbox_not_owned",
  "inbox_refusing",
  "inbox_quiet",
  "inbox_dead",
  "inbox_quarantined",
] as const;

/** What somebody must act on. */
export interface SituationProblem {
  id: (typeof PROBLEM_IDS)[number];
  /** A sentence with its end. */
  text: string;
}

/** An inbox in words. */
interface Situation {
  /** `problem`: somebody must act. */
  level: "ok" | "problem";
  /** Sentences, each with its end. The problems come first. */
  text: string;
  /** The parts of the text that are problems; `doctor` prints each. */
  problems: SituationProblem[];
}

/** A receiver that works hands an event off within seconds; what still fails after an hour is late too. */
const BEHIND_MS = 60_000;

/**
 * Says whether an inbox is behind, why, and what a person must do: the same words on the page, in
 * the terminal and in `health()`.
 *
 * @param timeOf writes a time with its zone, as the reader has chosen it
 */
export function describeSituation(facts: SituationFacts, timeOf = formatUtc): Situation {
  const {
    ready,
    dead,
    quarantined,
    oldestReceivedAgeMs,
    oldestReadyAgeMs,
    total,
    failing = 0,
    pause,
    hasReceiver,
    unavailable,
    quietSince = null,
  } = facts;
  const hasWaiting = ready !== null && ready > 0 && oldestReceivedAgeMs !== null;
  const waiting = ready === null ? "events wait" : `${formatCount(ready)} waiting`;
  const failed = failing === 0 ? "" : ` (${formatCount(failing)} after a failed hand-off)`;
  const oldest = `${waiting}${failed}, the oldest received ${formatAge(oldestReceivedAgeMs ?? 0)} ago`;
  const isLate = (oldestReadyAgeMs ?? 0) >= BEHIND_MS || (oldestReceivedAgeMs ?? 0) >= HOUR_MS;
  const isBehind = isLate && ready !== 0;
  const refused = refusedText(facts);
  const texts: Partial<Record<SituationProblem["id"], string | false>> = {
    inbox_not_storing: typeof unavailable === "string" && `${unavailable}; deliveries get 503.`,
    inbox_behind: isBehind && `Behind: ${oldest}.`,
    inbox_paused: pause !== null && pauseText(pause, facts, timeOf),
    inbox_not_owned: hasReceiver === false && "No receiver has this inbox open.",
    inbox_refusing: isRefusing(facts) && refused,
    inbox_quiet: quietSince !== null && `Quiet: no new event since ${timeOf(quietSince)}.`,
    inbox_dead:
      dead !== null &&
      dead > 0 &&
      `${formatCount(dead)} dead: hand-offs were given up.${blockingText(facts, timeOf)}`,
    inbox_quarantined:
      quarantined !== null &&
      quarantined > 0 &&
      `${formatCount(quarantined)} quarantined: they could not be read.`,
  };
  const problems = PROBLEM_IDS.flatMap((id) => (texts[id] ? [{ id, text: texts[id] }] : []));
  const isOk = problems.length === 0;
  const sentences = problems.map(({ text }) => text);
  if (hasWaiting && !isBehind) {
    const isUpToDate = isOk && failing === 0 && refused === "";
    sentences.push(isUpToDate ? `Up to date: ${oldest}.` : `${oldest}.`);
  } else if (isOk)
    sentences.push(
      total === 0 ? "The inbox is empty." : refused === "" ? "Up to date." : "Nothing waits.",
    );
  if (isOk && refused !== "") sentences.push(refused);
  return { level: isOk ? "ok" : "problem", text: sentences.join(" "), problems };
}

/**
 * Several endpoints in words, the worst first. A line names the endpoints that it is about, if
 * there are others.
 */
export function describeEndpoints<State extends { endpoint: string; facts: SituationFacts }>(
  all: readonly State[],
) {
  const endpoints = all
    .map((state) => ({ ...state, ...describeSituation(state.facts) }))
    .sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  const names = new Map<string, string[]>();
  for (const { endpoint, text } of endpoints)
    names.set(text, [...(names.get(text) ?? []), visible(endpoint)]);
  const lines = [...names].map(([text, of]) =>
    all.length > 1 ? `${of.join(", ")}: ${text}` : text,
  );
  return { level: endpoints[0]?.level ?? "ok", lines, endpoints };
}

/** Of two with the same worst problem, the one with another problem too comes first. */
function rankOf({ problems, endpoint }: Situation & { endpoint: string }): string {
  return `${problems.map(({ id }) => PROBLEM_IDS.indexOf(id)).join("")}9${endpoint}`;
}

/**
 * Ten refusals with one of these codes are a problem; of other codes a single one is. Fewer come
 * from scanners, which sign nothing, and while a receiver starts. Checks of a server's health use
 * GET, and a closing receiver is asked again by the sender.
 */
const LEAST_OF = new Set([
  "signature_missing",
  "signature_malformed",
  "encoding_unsupported",
  "handshake_refused",
  "body_timeout",
  "store_unavailable",
]);
const NONE_OF = new Set(["method_not_allowed", "closing"]);

/** Whether neither scanners nor a start explain a single refusal with this code. */
export const isWeighty = (code: string): boolean => !NONE_OF.has(code) && !LEAST_OF.has(code);

function isRefusing({ refused = [] }: SituationFacts): boolean {
  return refused.some(
    ({ code, count }) => !NONE_OF.has(code) && count >= (LEAST_OF.has(code) ? 10 : 1),
  );
}

function refusedText({ refused = [], refusedForMs = DAY_MS }: SituationFacts): string {
  const [main, ...others] = refused;
  if (main === undefined) return "";
  const count = refused.reduce((sum, each) => sum + each.count, 0);
  const what = count === 1 ? "1 delivery was" : `${formatCount(count)} deliveries were`;
  const reason = `${others.length > 0 ? "mostly " : ""}${visible(main.code)}`;
  return `${what} refused in the last ${formatAge(refusedForMs)}: ${reason}.`;
}

function blockingText({ blocking }: SituationFacts, timeOf: (ms: number) => string): string {
  if (blocking == null) return "";
  const waits = blocking.count === 1 ? "1 waits" : `${formatCount(blocking.count)} wait`;
  return ` ${waits} behind ${visible(blocking.eventId)}, dead since ${timeOf(blocking.since)}.`;
}

function pauseText(
  { since, error, nextTryAt }: Pause,
  { now, pausedSubjects = 0 }: SituationFacts,
  timeOf: (ms: number) => string,
): string {
  const subjects = pausedSubjects > 1 ? ` (${formatCount(pausedSubjects)} subjects)` : "";
  const next = nextTryAt > now ? `in ${formatAge(nextTryAt - now)}` : "now";
  return `Hand-offs are paused since ${timeOf(since)} by \`${shortOf(visible(error))}\`${subjects}; one event is tried ${next}.`;
}

const LONGEST_ERROR = 100;

const shortOf = (text: string): string =>
  text.length > LONGEST_ERROR ? `${text.slice(0, LONGEST_ERROR)}…` : text;

/** Everything that a person asks of an inbox first. */
export interface InboxState {
  stats: StoreStats;
  facts: SituationFacts;
  failures: Failure[];
  refusals: Refusals;
  reports: ReceiverReport[];
  alarms: StoredAlarm[];
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
  const { pause, refusals, reports } = await readNews(store, endpoint, now, since);
  const alarms = await store.alarms(endpoint);
  const hasReceiver = await store.hasReceiver(endpoint);
  const { ready, dead, quarantined, oldestReceivedAgeMs, oldestReadyAgeMs, total, blocking } =
    stats;
  // Of a process that has died.
  const current = hasReceiver === false ? null : pause;
  const facts: SituationFacts = {
    ready,
    dead: since === undefined ? dead : await countSince(store, endpoint, "dead", since),
    quarantined:
      since === undefined ? quarantined : await countSince(store, endpoint, "quarantined", since),
    oldestReceivedAgeMs,
    oldestReadyAgeMs,
    total,
    blocking,
    failing: failures.reduce((sum, { waiting }) => sum + waiting, 0),
    pause: current,
    pausedSubjects: subjectsOf(current?.error, failures),
    // A receiver of another endpoint may have an empty database open.
    hasReceiver: store.shared && total === 0 ? null : hasReceiver,
    refused: refusals.byCode,
    refusedForMs: since === undefined ? undefined : now - since + (since % REFUSED_SPAN_MS),
    // Nobody says that it is over if no receiver listens for alarms any more.
    quietSince: unanswered(alarms, "quiet", stats.lastAcceptedAt)?.since,
    now,
  };
  return { stats, facts, failures, refusals, reports, alarms };
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
