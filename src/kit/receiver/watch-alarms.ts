import { ignore } from "../../base/errors.js";
import { type ClockTimer, systemClock } from "../../base/time/clock.js";
import { withDeadline } from "../../base/time/timers.js";
import { MINUTE_MS } from "../../base/time/units.js";
import { type AlarmKind, type KeptAlarm, keptAlarm, unanswered } from "../inbox/situation/alarm.js";
import {
  describeSituation,
  isWeighty,
  readInboxState,
  type SituationProblem,
} from "../inbox/situation/situation.js";
import type { StoredAlarm } from "../inbox/situation/trouble.js";
import type { ReceiverHealth } from "./health.js";
import type { ReceiverConfig } from "./options.js";
import type { ReceiverEvents } from "./receiver-events.js";
import { errorCode } from "./receiver-log.js";

/**
 * An alarm begins when so many looks in a row have found it, and is over when so many have not. A
 * sender first repeats what it could not deliver before a start, so `quiet` waits for long.
 */
const LOOKS = { store: 2, behind: 5, paused: 2, refusing: 1, dead: 1, quiet: 10 };
const LOOKS_AFTER = 5;

/**
 * It is `refusing` after refusals in so many spans of 5 minutes, with nothing accepted since the
 * first: a forger who comes once while the sender sleeps wakes nobody.
 */
const LEAST_SPANS = 4;

/** What is not noted as told is told again, by any process. */
const TOLD_AGAIN_MS = 2 * MINUTE_MS;

/**
 * Looks once a minute which alarms begin and which are over, in what the store keeps anyway. The
 * store's row of a kind is changed before it is told, so that one of several processes tells it, and
 * again when the listeners have taken it. That of `store` is in memory, for each process alone.
 */
export function watchAlarms(
  { clock, endpoint, store, alarms: options }: ReceiverConfig,
  events: ReceiverEvents,
  health: () => ReceiverHealth,
) {
  const goingOn: ReceiverHealth["alarms"] = {};
  const looks: Partial<Record<AlarmKind, number>> = {};
  let own: StoredAlarm[] = [];
  /** What this process has told last. */
  const last: Partial<Record<AlarmKind, KeptAlarm>> = {};
  let timer: ClockTimer | null = null;
  let isOpen = false;

  function schedule(): void {
    const isWanted = options !== undefined || events.has("alarm");
    if (isOpen && isWanted) timer ??= clock.setTimeout(() => void look(), MINUTE_MS);
  }

  async function look(): Promise<void> {
    let failure: string | undefined;
    try {
      const { ok, summary } = health();
      if (!ok) failure = summary;
      // A disk or a database that hangs is what the alarm `store` is about. It hangs in real time,
      // whatever the receiver's clock says.
      const looked = lookInStore(clock.now()).then(() => true);
      if (!(await withDeadline(looked, systemClock, MINUTE_MS, false)))
        failure ??= "The inbox does not answer.";
    } catch (error) {
      failure ??= `The inbox cannot be used: ${errorCode(error)}.`;
    }
    await step("store", own, failure);
    timer = null;
    schedule();
    if (timer === null) for (const kind of Object.keys(goingOn)) goingOn[kind as AlarmKind] = false;
  }

  async function lookInStore(now: number): Promise<void> {
    const { stats, facts, alarms, reports } = await readInboxState(store, endpoint, now);
    const acceptedAt = stats.lastAcceptedAt ?? Infinity;
    const isQuiet = now - acceptedAt >= (options?.quietAfterMs ?? Infinity);
    const quietSince = facts.quietSince ?? (isQuiet ? acceptedAt : null);
    const { problems } = describeSituation({ ...facts, quietSince });
    const textOf = (id: SituationProblem["id"]) => problems.find((each) => each.id === id)?.text;

    const refused = reports
      .flatMap((report) => Object.entries(report.refused))
      .filter(([at, codes]) => Number(at) > acceptedAt && Object.keys(codes).some(isWeighty));
    const isRefusing = new Set(refused.map(([at]) => at)).size >= LEAST_SPANS;
    // A sender that gives up is not refused any more: that does not end it.
    const before = unanswered(alarms, "refusing", stats.lastAcceptedAt)?.text;
    const refusing = before ?? (isRefusing ? textOf("inbox_refusing") : undefined);

    await step("behind", alarms, textOf("inbox_behind"));
    await step("paused", alarms, textOf("inbox_paused"), facts.pause?.since);
    await step("refusing", alarms, refusing, acceptedAt);
    await step("dead", alarms, textOf("inbox_dead"));
    await step("quiet", alarms, textOf("inbox_quiet"), acceptedAt);
  }

  /** @param text says why there is an alarm of this kind; undefined: there is none */
  async function step(
    kind: AlarmKind,
    alarms: readonly StoredAlarm[],
    text: string | undefined,
    since = clock.now(),
  ): Promise<void> {
    const kept = keptAlarm(alarms, kind);
    const isOn = kept?.phase === "begins";
    goingOn[kind] = isOn;
    const untoldAt = clock.now();
    let next: KeptAlarm;
    if (kept?.untoldAt != null) {
      if (Math.abs(untoldAt - kept.untoldAt) < TOLD_AGAIN_MS) return;
      next = { ...kept, untoldAt };
    } else {
      const count = (text !== undefined) === isOn ? 0 : (looks[kind] ?? 0) + 1;
      const enough = isOn ? LOOKS_AFTER : LOOKS[kind];
      looks[kind] = count % enough;
      if (count < enough) return;
      next = isOn
        ? { ...kept, phase: "over", text: `Over: ${kept.text}`, untoldAt }
        : { phase: "begins", since, text: text ?? "", untoldAt };
    }
    if (!isOpen || !(await change(kind, kept, next))) return;
    goingOn[kind] = next.phase === "begins";
    last[kind] = next;
    const { untoldAt: _untoldAt, ...told } = next;
    const key = `${endpoint}/${kind}/${next.since}`;
    // Not awaited: the next look comes, however long a listener takes.
    events
      .tell({ ...told, kind, endpoint, since: new Date(next.since), key })
      .then((isTold) => {
        // It may have been told again meanwhile.
        const now = last[kind] ?? next;
        const isSame = now.since === next.since && now.phase === next.phase;
        return isTold && isSame && change(kind, now, { ...now, untoldAt: null });
      })
      .catch(ignore);
  }

  /** @returns false when another process has changed it */
  async function change(
    kind: AlarmKind,
    before: KeptAlarm | undefined,
    after: KeptAlarm,
  ): Promise<boolean> {
    const state = JSON.stringify(after);
    if (kind !== "store")
      return store.setAlarm(endpoint, kind, before ? JSON.stringify(before) : null, state);
    own = [{ kind, state }];
    return true;
  }

  return {
    /** Of each kind, whether one goes on, as the last look has found it. */
    goingOn,
    start(): void {
      isOpen = true;
      schedule();
    },
    /** To be called for each new listener. */
    schedule,
    close(): void {
      isOpen = false;
      timer?.cancel();
    },
  };
}
