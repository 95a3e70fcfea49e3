import type { Delivery } from "../../deliveries/delivery-schema.js";
import type { FixtureFolder } from "../../deliveries/fixture-folder.js";
import type { CaseSender, Exchange, Target } from "../../deliveries/send-cases.js";

/** `required` by the service's document; `advised` by signalbox, where the document does not define the behaviour. */
export type CheckKind = "required" | "advised";

export interface Check {
  /** Stable: a group, a dot, and a name. */
  id: string;
  kind: CheckKind;
  /** What a correct receiver does, as one sentence. */
  title: string;
  /** How to fix a receiver that fails the check. */
  hint: string;
  /** Ids of checks. When one of them failed, this check is skipped, because it would fail for the same reason. */
  dependsOn?: readonly string[];
  cases?: readonly CaseName[];
  run?: (context: CheckContext) => Promise<Observation>;
}

/** The name of a case of `deliveries.json` or of a fixture event; or a case that only `check` has. */
export type CaseName = string | Delivery;

/** A delivery or a group of deliveries, and how it was answered. The texts hold no secret and no signature. */
export interface Probe {
  name: string;
  sent: string;
  expected: string;
  actual: string;
  ok: boolean;
}

export interface Observation {
  probes: readonly Probe[];
  /** A remark on a check that passed: a measured time, or what was not checked. */
  note?: string;
  /** Why the check is skipped, unless a probe failed. */
  inconclusive?: string;
}

export interface CheckResult extends Pick<Check, "id" | "kind" | "title" | "hint"> {
  outcome: "passed" | "failed" | "skipped";
  probes: readonly Probe[];
  note?: string;
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

/** The state that the checks of one run share. */
export interface CheckContext extends CheckSettings, CaseSender<CaseName> {
  exchanges: readonly Exchange[];
  /** Whether this receiver answers a repeated event with `{"duplicate":true}`. Sends one event twice to find out. */
  marksDuplicates(): Promise<boolean>;
}
