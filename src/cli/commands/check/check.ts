import type { CheckContext } from "./check-context.js";
import type { Wanted } from "./judge-answer.js";

/** `required`: the service's document demands it. `advised`: it is silent, and this is what serves a receiver well. */
export type CheckKind = "required" | "advised";

interface CheckBase {
  /** Stable: a group, a dot, and a name. */
  id: string;
  kind: CheckKind;
  /** What a right receiver does, as one sentence. */
  title: string;
  /** How to mend a receiver that does otherwise. */
  hint: string;
  /** When one of these failed, this one can say nothing that they did not. */
  after?: readonly string[];
}

/** Cases of `deliveries.json`, or of `own-cases.ts`, by what their answers must be. */
export interface CaseCheck extends CheckBase {
  cases: readonly (readonly [wanted: Wanted, ...names: string[]])[];
}

/** A check that takes more than sending cases. */
export interface OwnCheck extends CheckBase {
  run(context: CheckContext): Promise<Observation>;
}

export type Check = CaseCheck | OwnCheck;

/** One thing that was looked at. */
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
  /** How to mend what failed, where the check's own hint is beside the point. */
  mend?: string;
}

export interface CheckResult {
  check: Check;
  outcome: "passed" | "failed" | "skipped";
  probes: readonly Probe[];
  note?: string;
  /** In place of the check's hint. */
  mend?: string;
  /** Why it was skipped. */
  reason?: string;
  seconds: number;
}
