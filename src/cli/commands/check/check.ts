import type { Delivery } from "../../deliveries/delivery-schema.js";
import type { FixtureFolder } from "../../deliveries/fixture-folder.js";
import type { CaseSender, Exchange, Target } from "../../deliveries/send-cases.js";

/** `required`: the service's document demands it. `advised`: the document is silent, and this serves a receiver well. */
export type CheckKind = "required" | "advised";

export interface Check {
  /** Stable: a group, a dot, and a name. */
  id: string;
  kind: CheckKind;
  /** What a right receiver does, as one sentence. */
  title: string;
  /** How to fix a receiver that does something else. */
  hint: string;
  /** When one of these failed, this one can show nothing new and is skipped. */
  after?: readonly string[];
  /** The cases to send. What a case expects says what any receiver must answer. */
  cases?: readonly CaseName[];
  /** For a check that does more than sending cases. */
  run?: (context: CheckContext) => Promise<Observation>;
}

/** The name of a case of `deliveries.json` or of a fixture event; or a case that only `check` has. */
export type CaseName = string | Delivery;

/** One thing that was tried out. */
export interface Probe {
  name: string;
  /** What was sent, in words. */
  sent: string;
  expected: string;
  came: string;
  ok: boolean;
}

export interface Observation {
  probes: readonly Probe[];
  /** What the verdict does not say: a measured time, or what could not be seen. */
  note?: string;
  /** Why nothing could be concluded. A probe that failed counts all the same. */
  unseen?: string;
}

export interface CheckResult extends Pick<Check, "id" | "kind" | "title" | "hint"> {
  outcome: "passed" | "failed" | "skipped";
  probes: readonly Probe[];
  note?: string;
  /** Why it was skipped. */
  reason?: string;
  seconds: number;
}

export interface CheckSettings extends Omit<Target, "events"> {
  fixtures: FixtureFolder;
  concurrency: number;
  /** An acknowledgement that takes longer fails `answers.time`. */
  ackLimitMs: number;
  restartCommand: string | undefined;
  restartTimeoutMs: number;
  acceptedCommand: string | undefined;
  env: NodeJS.ProcessEnv;
}

/**
 * What the checks of one run share. If the receiver refused the signal type of a case before, `build` uses a type that it
 * accepted.
 */
export interface CheckContext extends CheckSettings, CaseSender<CaseName> {
  /** All exchanges so far. */
  exchanges: readonly Exchange[];
  /** Whether this receiver says `{"duplicate":true}` of what it has accepted before. */
  marksDuplicates(): Promise<boolean>;
}
