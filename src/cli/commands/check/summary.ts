import type { CheckKind, CheckResult } from "./check.js";

export type Counts = Record<CheckResult["outcome"], number>;

/** The results so far, by kind and outcome. */
export interface Summary {
  required: Counts;
  advised: Counts;
  /** The ids of required checks that were skipped: nothing is known of them. */
  skipped: string[];
}

export function summarise(results: readonly CheckResult[]): Summary {
  const of = (kind: CheckKind): Counts => {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const { check, outcome } of results) if (check.kind === kind) counts[outcome] += 1;
    return counts;
  };
  const skipped = results.filter(({ check, outcome }) => check.kind === "required" && outcome === "skipped");
  return { required: of("required"), advised: of("advised"), skipped: skipped.map(({ check }) => check.id) };
}

/** Whether nothing failed that has to hold; with `strict` the advice has to hold too, and all that is required be seen. */
export function isGood({ required, advised, skipped }: Summary, strict: boolean): boolean {
  return required.failed === 0 && (!strict || (advised.failed === 0 && skipped.length === 0));
}
