import type { Check, CheckResult, Observation } from "./check.js";
import type { CheckContext } from "./check-context.js";
import { runCases } from "./run-cases.js";

/**
 * Runs the checks one after the other.
 *
 * @throws CliError when the receiver cannot be reached, or a command of the user's fails
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onResult: (result: CheckResult) => void,
): Promise<void> {
  const failed = new Set<string>();
  for (const check of checks) {
    const before = check.after?.find((id) => failed.has(id));
    const startedAt = performance.now();
    const observation: Observation =
      before === undefined
        ? await ("cases" in check ? runCases(check, context) : check.run(context))
        : { probes: [], unseen: `${before} failed, so this says nothing more` };
    const result = judge(check, observation, (performance.now() - startedAt) / 1000);
    if (result.outcome === "failed") failed.add(check.id);
    onResult(result);
  }
}

function judge(check: Check, { probes, note, unseen, mend }: Observation, seconds: number): CheckResult {
  const common = { check, probes, seconds, ...(note !== undefined && { note }), ...(mend !== undefined && { mend }) };
  if (probes.some(({ ok }) => !ok)) return { ...common, outcome: "failed" };
  if (unseen !== undefined) return { ...common, outcome: "skipped", reason: unseen };
  return { ...common, outcome: "passed" };
}
