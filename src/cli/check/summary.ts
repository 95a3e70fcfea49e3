import type { CheckKind, CheckResult } from "./check.js";

export type Counts = Record<CheckResult["outcome"], number>;

/** The results so far, by kind and outcome. */
export interface Summary {
  required: Counts;
  advised: Counts;
}

export function summarise(results: readonly CheckResult[]): Summary {
  const of = (kind: CheckKind): Counts => {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const { check, outcome } of results) if (check.kind === kind) counts[outcome] += 1;
    return counts;
  };
  return { required: of("required"), advised: of("advised") };
}

/** Whether nothing failed that has to hold; with `strict` the advice has to hold too. */
export function isGood({ required, advised }: Summary, strict: boolean): boolean {
  return required.failed === 0 && (!strict || advised.failed === 0);
}
