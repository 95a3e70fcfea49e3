import type { BuiltDelivery } from "../../deliveries/build-delivery.js";
import type { FixtureFolder } from "../../deliveries/fixture-folder.js";
import type { CaseSender, Exchange, Target } from "../../deliveries/send-cases.js";

/** `required`: the service's document requires it. `advised`: signalbox advises it, and the document does not define it. */
export type CheckKind = "required" | "advised";

export interface Check {
  /** A group, a dot and a name. It never changes, because scripts name checks by it. */
  id: string;
  kind: CheckKind;
  title: string;
  hint: string;
  /** Ids of checks. When one of them failed, this check is skipped, because it would fail for the same reason. */
  dependsOn?: readonly string[];
  /** Events of the fixtures that it sends, in addition to the cases of `deliveries.json` that name this check. */
  events?: readonly string[];
  /** For what cannot be judged by one answer. */
  run?: (context: CheckContext) => Promise<Observation>;
}

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
  /** Why the check proves nothing. It is reported as skipped with this reason, but as failed if one of its probes failed. */
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
  env: NodeJS.ProcessEnv;
}

export interface CheckContext extends CheckSettings {
  /** @param name of a case of `deliveries.json`, or of an event of the fixtures */
  build(name: string): BuiltDelivery;
  send: CaseSender["send"];
  exchanges: readonly Exchange[];
  /** Whether the receiver answers a repeated event with `{"duplicate":true}`. The first call sends an event twice to find out. */
  marksDuplicates(): Promise<boolean>;
}
