import type { DoctorInput, Examination, Facts } from "./examination.js";
import { EXAMINATIONS } from "./examinations.js";
import type { Finding } from "./finding.js";
import { createProbes } from "./probe.js";
import { SURROUNDINGS, type Surroundings } from "./surroundings.js";

export type Outcome =
  | { examination: Examination; findings: readonly Finding[] }
  | { examination: Examination; /** Why it was not done. */ skipped: string };

/**
 * Does every examination that makes sense, in order.
 *
 * @returns all outcomes; each is told to `onOutcome` as it comes
 * @throws CliError when it was interrupted
 */
export async function runExaminations(
  input: DoctorInput,
  onOutcome: (outcome: Outcome) => void,
  surroundings: Surroundings = SURROUNDINGS,
  examinations: readonly Examination[] = EXAMINATIONS,
): Promise<Outcome[]> {
  const facts: Facts = { times: [] };
  const send = createProbes(input, surroundings, facts.times);
  const subject = { ...input, surroundings, send, facts };
  /** Those that found a blocker, or were skipped; and the first of them that is to blame. */
  const blocked = new Map<string, string>();
  const outcomes: Outcome[] = [];
  for (const examination of examinations) {
    const outcome = await examine(examination);
    outcomes.push(outcome);
    onOutcome(outcome);
  }
  return outcomes;

  async function examine(examination: Examination): Promise<Outcome> {
    const { name, needs, unless } = examination;
    const reason = unless?.(subject) ?? null;
    if (reason !== null) {
      blocked.set(name, name);
      return { examination, skipped: reason };
    }
    const culprit = needs.map((need) => blocked.get(need)).find((found) => found !== undefined);
    if (culprit !== undefined) {
      blocked.set(name, culprit);
      return { examination, skipped: `it makes no sense until ${culprit} is mended` };
    }
    const findings = await examination.run(subject);
    const blocker = findings.find(({ blocks }) => blocks === true);
    if (blocker !== undefined) blocked.set(name, blocker.id);
    return { examination, findings };
  }
}
