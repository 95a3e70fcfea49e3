import type { DoctorInput, Finding } from "../../../../src/cli/probe/doctor/examination.js";
import { SURROUNDINGS, type Surroundings } from "../../../../src/cli/probe/doctor/examination.js";
import { runExaminations, type Outcome } from "../../../../src/cli/probe/doctor/examinations.js";
import { SECRET } from "../../run-cli.js";

export interface Examined {
  outcomes: Outcome[];
  findings: Finding[];
  /** Their ids. */
  problems: string[];
  warnings: string[];
  /** Names of the examinations that were not done. */
  skipped: string[];
  /** The finding with this id. */
  find: (id: string) => Finding | undefined;
}

const INPUT = {
  secrets: [SECRET],
  timeoutMs: 20_000,
  sendsTestEvent: false,
  signal: new AbortController().signal,
} as const;

/** What the doctor says of a receiver, in surroundings that may be sick. */
export async function examine(
  url: string,
  input: Partial<Omit<DoctorInput, "url">> = {},
  surroundings: Partial<Surroundings> = {},
): Promise<Examined> {
  const all = { ...SURROUNDINGS, ...surroundings };
  return summaryOf(
    await runExaminations({ ...INPUT, ...input, url: new URL(url) }, () => undefined, all),
  );
}

/** What it says of this machine and of an inbox's file. Nothing is sent. */
export async function examineHere(
  db: string | undefined,
  surroundings: Partial<Surroundings> = {},
): Promise<Examined> {
  const input = { ...INPUT, url: null, ...(db !== undefined && { db }) };
  return summaryOf(
    await runExaminations(input, () => undefined, { ...SURROUNDINGS, ...surroundings }),
  );
}

function summaryOf(outcomes: Outcome[]): Examined {
  const findings = outcomes.flatMap((outcome) => ("findings" in outcome ? outcome.findings : []));
  const idsOf = (level: Finding["level"]): string[] =>
    findings.filter((finding) => finding.level === level).map(({ id }) => id);
  return {
    outcomes,
    findings,
    problems: idsOf("problem"),
    warnings: idsOf("warning"),
    skipped: outcomes.flatMap((outcome) => ("skipped" in outcome ? [outcome.examination.id] : [])),
    find: (id) => findings.find((finding) => finding.id === id),
  };
}
