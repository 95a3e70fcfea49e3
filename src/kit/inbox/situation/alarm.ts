import type { StoredAlarm } from "./trouble.js";

/** What an alarm can be about. */
export type AlarmKind = "store" | "behind" | "paused" | "refusing" | "dead" | "quiet";

/** What the listeners of `receiver.on("alarm")` get. */
export interface Alarm {
  kind: AlarmKind;
  phase: "begins" | "over";
  /** The receiver's option. */
  endpoint: string;
  /** Since when it goes on, or went on. */
  since: Date;
  /** For people: the sentence of `signalbox inbox stats`. */
  text: string;
  /** Names this alarm: the same when it begins, when it is over, and when it is told again. */
  key: string;
}

/** The last alarm of a kind. */
export interface KeptAlarm extends Pick<Alarm, "phase" | "text"> {
  since: number;
  /** When a process began to tell it; null once the listeners have taken it. */
  untoldAt: number | null;
}

export function keptAlarm(alarms: readonly StoredAlarm[], kind: AlarmKind): KeptAlarm | undefined {
  const stored = alarms.find((each) => each.kind === kind);
  return stored && (JSON.parse(stored.state) as KeptAlarm);
}

/** The alarm of a kind if it goes on, and nothing was accepted since. */
export function unanswered(
  alarms: readonly StoredAlarm[],
  kind: AlarmKind,
  acceptedAt: number | null,
): KeptAlarm | undefined {
  const kept = keptAlarm(alarms, kind);
  return kept?.phase === "begins" && kept.since >= (acceptedAt ?? 0) ? kept : undefined;
}
