import type { DoctorInput } from "../../../../src/cli/probe/doctor/examination.js";
import { SURROUNDINGS, type Surroundings } from "../../../../src/cli/probe/doctor/examination.js";
import { runExaminations } from "../../../../src/cli/probe/doctor/examinations.js";
import { SECRET } from "../../run-cli.js";

export type Input = Partial<Omit<DoctorInput, "url">> & { surroundings?: Partial<Surroundings> };

const INPUT = {
  secrets: [SECRET],
  timeoutMs: 20_000,
  sendsTestEvent: false,
  signal: new AbortController().signal,
} as const;

/** What doctor says of a receiver and of this machine, in surroundings that may be sick. */
export async function examine(url: string | null, { surroundings, ...input }: Input = {}) {
  const outcomes = await runExaminations(
    { ...INPUT, ...input, url: url === null ? null : new URL(url) },
    () => undefined,
    { ...SURROUNDINGS, ...surroundings },
  );
  return {
    findings: outcomes.flatMap(({ findings }) => findings),
    /** Names of the examinations that were not done. */
    skipped: outcomes.flatMap(({ examination, skipped }) => (skipped ? [examination.id] : [])),
  };
}

type Examined = Awaited<ReturnType<typeof examine>>;

/** The findings of a case as a paragraph of a golden file. */
export function paragraphOf(title: string, { findings, skipped }: Examined): string {
  const lines = findings.map(({ level, id, found, fix, commands = [] }) => {
    const advice = fix === null ? [] : [fix, ...commands];
    return [`${level} ${id}: ${found}`, ...advice].join("\n  → ");
  });
  return [`\n# ${title}`, ...lines, `skipped: ${skipped.join(", ") || "-"}`, ""].join("\n");
}
